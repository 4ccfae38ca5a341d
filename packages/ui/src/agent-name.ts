/** What browsers call themselves in `User-Agent`. Those that also call themselves another come first. */
const browsers: [mark: RegExp, name: string][] = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, 'Edge'],
  [/\b(?:OPR|OPiOS)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
]
const systems: [mark: RegExp, name: string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const nameIn = (names: [RegExp, string][], agent: string): string | undefined =>
  names.find(([mark]) => mark.test(agent))?.[1]

/** What people call a `User-Agent`, such as `Firefox on Linux`; of programs its first word, such as `curl/8.5.0`. It is what the client says, and proves nothing. */
export function agentName(agent: string | null): string {
  if (!agent) return 'Unknown'
  const [browser, system] = [nameIn(browsers, agent), nameIn(systems, agent)]
  if (browser === undefined) return agent.split(' ', 1)[0]!
  return system === undefined ? browser : `${browser} on ${system}`
}
