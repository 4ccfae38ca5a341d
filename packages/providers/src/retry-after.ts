/** A day; nobody means to be asked again after a longer time. */
const LONGEST_S = 86_400

/** `retry-after-ms` of OpenAI, else `retry-after` in seconds or as a date; whole seconds, rounded up, at most a day. */
export function retryAfter(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const ms = Number(header('retry-after-ms'))
  const text = header('retry-after') ?? 'never'
  const seconds = Number(text)
  const after = ms >= 0 ? ms / 1000 : isNaN(seconds) ? (Date.parse(text) - now) / 1000 : seconds
  return after >= 0 && after < Infinity ? Math.min(Math.ceil(after), LONGEST_S) : undefined
}
