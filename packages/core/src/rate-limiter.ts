/** The result of {@link RateLimiter.consume}. */
export interface RateLimit {
  ok: boolean
  /** Seconds until the window ends: a whole number, at least 1. */
  retryAfter: number
  /** Requests that are left in the window; absent where the limiter does not tell. */
  remaining?: number
}

/** Counts requests, or other units, per key and minute. */
export interface RateLimiter {
  /**
   * Counts `count` units (default 1) against `perMinute`: all of them, or none where there is no room. A negative number gives back what was
   * counted, whatever the limit.
   */
  consume(key: string, perMinute: number, count?: number): RateLimit | Promise<RateLimit>
}

const WINDOW_MS = 60_000

/**
 * Counts the calls of a request beyond its first one, which was counted as the request. None where there are more than a minute has, so that
 * a request which can never be admitted takes nothing from others.
 */
export async function consumeMore(
  limiter: RateLimiter,
  key: string,
  perMinute: number,
  calls: number,
): Promise<RateLimit> {
  if (calls > perMinute) return { ok: false, retryAfter: WINDOW_MS / 1_000 }
  const all = await Promise.all(Array.from({ length: calls - 1 }, async () => limiter.consume(key, perMinute)))
  return all.find(({ ok }) => !ok) ?? all.at(-1) ?? { ok: true, retryAfter: 1 }
}

/** A rate limiter in memory, exact within one process: a fixed window per key, which begins with the key's first request. */
export function memoryRateLimiter(options: { now?: () => number } = {}): RateLimiter {
  const { now = Date.now } = options
  const windows = new Map<string, { end: number; used: number }>()
  let sweepAt = 0

  return {
    consume(key, perMinute, count = 1) {
      const time = now()
      if (time >= sweepAt) {
        for (const [k, { end }] of windows) if (end <= time) windows.delete(k)
        sweepAt = time + WINDOW_MS
      }
      let window = windows.get(key)
      if (!window || window.end <= time) windows.set(key, (window = { end: time + WINDOW_MS, used: 0 }))
      const ok = count < 0 || window.used + count <= perMinute
      if (ok) window.used += count
      const retryAfter = Math.max(1, Math.ceil((window.end - time) / 1000))
      return { ok, retryAfter, remaining: Math.max(0, perMinute - window.used) }
    },
  }
}
