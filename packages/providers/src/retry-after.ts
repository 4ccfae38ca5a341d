/** A day; nobody means to be asked again after a longer time. */
const LONGEST_S = 86_400

/** `retry-after-ms` of OpenAI, else `retry-after` in seconds or as a date; whole seconds, rounded up, at most a day. */
export function retryAfter(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const ms = Number(header('retry-after-ms'))
  if (ms >= 0) return Math.min(Math.ceil(ms / 1000), LONGEST_S)
  const text = header('retry-after')
  if (text === undefined) return undefined
  const seconds = isNaN(Number(text)) ? (Date.parse(text) - now) / 1000 : Number(text)
  return seconds >= 0 && seconds < Infinity ? Math.min(Math.ceil(seconds), LONGEST_S) : undefined
}
