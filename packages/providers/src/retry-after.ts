/** A day; nobody means to be asked again after a longer time. */
const LONGEST_S = 86_400

/** A `retry-after` header, in seconds or as a date, in whole seconds, rounded up, at most a day. */
export function retryAfter(text = 'never', now: number = Date.now()): number | undefined {
  const given = Number(text)
  const seconds = isNaN(given) ? (Date.parse(text) - now) / 1000 : given
  return seconds >= 0 && seconds < Infinity ? Math.min(Math.ceil(seconds), LONGEST_S) : undefined
}
