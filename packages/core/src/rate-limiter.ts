/** The result of {@link RateLimiter.consume}. */
export interface RateLimit {
  ok: boolean
  /** Seconds until the window ends: a whole number, at least 1. */
  retryAfter: number
  /** What is left in the window; absent where the limiter does not tell. */
  remaining?: number
}

/** Counts requests or tokens per key and minute. */
export interface RateLimiter {
  /** Counts one request, or `count` tokens, against `perMinute`: all of them or, where there is no room, none. */
  consume(key: string, perMinute: number, count?: number): RateLimit | Promise<RateLimit>
  /**
   * Corrects what was counted in the window that runs. More than 0 is counted as far as there is room, as it was used already; less is given back,
   * at most what the window has.
   * @returns how much of it was counted; anything else than a number is taken for all of it
   */
  adjust(key: string, perMinute: number, difference: number): unknown
}

/** How much of `count` a window takes that has used `used` of `perMinute`, as far as there is room; of less than 0, how much it gives back. */
export const granted = (count: number, used: number, perMinute: number): number =>
  Math.max(Math.min(count, 0), 0 - used, Math.min(count, perMinute - used))

const WINDOW_MS = 60_000

/** Whether a window runs that ends at a time: one that ends later than windows do was begun by a clock that has been set back. */
const runs = (end: number, time: number): boolean => end > time && end <= time + WINDOW_MS

/** Counts the calls of a request beyond its first one, which was counted as the request. None where there are more than a minute has. */
export const consumeMore = (
  limiter: Pick<RateLimiter, 'consume'>,
  key: string,
  perMinute: number,
  calls: number,
): RateLimit | Promise<RateLimit> =>
  calls > perMinute ? { ok: false, retryAfter: WINDOW_MS / 1_000 } : limiter.consume(key, perMinute, calls - 1)

/**
 * A rate limiter in memory, exact within one process: a fixed window per key, which begins with the key's first request.
 * @example const { ok, retryAfter } = await memoryRateLimiter().consume('ada', 60)
 */
export function memoryRateLimiter(options: { now?: () => number } = {}): RateLimiter {
  const { now = Date.now } = options
  const windows = new Map<string, { end: number; used: number }>()
  let sweepAt = 0

  const consume = (key: string, perMinute: number, count = 1): RateLimit => {
    const time = now()
    if (!runs(sweepAt, time)) {
      for (const [k, { end }] of windows) if (!runs(end, time)) windows.delete(k)
      sweepAt = time + WINDOW_MS
    }
    let window = windows.get(key)
    if (!window || !runs(window.end, time)) windows.set(key, (window = { end: time + WINDOW_MS, used: 0 }))
    const ok = window.used + count <= perMinute
    if (ok) window.used += count
    const retryAfter = Math.max(1, Math.ceil((window.end - time) / 1000))
    return { ok, retryAfter, remaining: Math.max(0, perMinute - window.used) }
  }

  return {
    consume,
    adjust(key, perMinute, difference) {
      const window = windows.get(key)
      const isRunning = window !== undefined && runs(window.end, now())
      const counted = granted(difference, isRunning ? window.used : 0, perMinute)
      if (isRunning) window.used += counted
      else if (counted > 0) consume(key, perMinute, counted)
      return counted
    },
  }
}
