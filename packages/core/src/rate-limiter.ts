/** The result of {@link RateLimiter.consume}. */
export interface RateLimit {
  ok: boolean
  /** Seconds until the window ends: a whole number, at least 1. */
  retryAfter: number
}

/** Counts requests per key and minute. */
export interface RateLimiter {
  /** Counts one request against `perMinute`. */
  consume(key: string, perMinute: number): RateLimit | Promise<RateLimit>
}

const WINDOW_MS = 60_000

/** A rate limiter in memory, exact within one process: a fixed window per key, which begins with the key's first request. */
export function memoryRateLimiter(options: { now?: () => number } = {}): RateLimiter {
  const { now = Date.now } = options
  const windows = new Map<string, { end: number; used: number }>()
  let sweepAt = 0

  return {
    consume(key, perMinute) {
      const time = now()
      if (time >= sweepAt) {
        for (const [k, { end }] of windows) if (end <= time) windows.delete(k)
        sweepAt = time + WINDOW_MS
      }
      let window = windows.get(key)
      if (!window || window.end <= time) windows.set(key, (window = { end: time + WINDOW_MS, used: 0 }))
      const ok = window.used < perMinute
      if (ok) window.used++
      return { ok, retryAfter: Math.max(1, Math.ceil((window.end - time) / 1000)) }
    },
  }
}
