/** A day; nobody means to be asked again after a longer time. */
const LONGEST_S = 86_400

const whole = (seconds: number): number => Math.min(Math.ceil(seconds), LONGEST_S)

/** `retry-after-ms` of OpenAI, else `retry-after` in seconds or as a date; whole seconds, rounded up, at most a day. */
export function retryAfter(header: (name: string) => string | undefined, now: number = Date.now()): number | undefined {
  const ms = Number(header('retry-after-ms'))
  if (ms >= 0) return whole(ms / 1000)
  const text = header('retry-after')
  if (text === undefined) return undefined
  const seconds = isNaN(Number(text)) ? (Date.parse(text) - now) / 1000 : Number(text)
  return seconds >= 0 && seconds < Infinity ? whole(seconds) : undefined
}
