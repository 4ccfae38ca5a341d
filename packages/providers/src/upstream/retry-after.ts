/** Longer times are treated as one day, because they are hardly intended. */
const LONGEST_S = 86_400

/**
 * Parses a `retry-after` header (seconds or a date).
 * @returns whole seconds, rounded up, at most a day; undefined if invalid
 * @example retryAfter('20') // 20
 */
export function retryAfter(text = 'never', now: number = Date.now()): number | undefined {
  const given = Number(text)
  const seconds = isNaN(given) ? (Date.parse(text) - now) / 1000 : given
  return seconds >= 0 && seconds < Infinity ? Math.min(Math.ceil(seconds), LONGEST_S) : undefined
}
