import type { RateLimit, RateLimiter } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import type { Call } from '@turnpike/http'
import { tellLimit } from './caller.js'

/** A limit of tokens a minute. */
export interface TokenLimit {
  /** What it is counted under. */
  name: string
  perMinute: number
  /** The beginning of a sentence about whose it is, such as `This key is`. */
  whose: string
}

/** Corrects what was held of the limits by what was used. */
export type SettleTokens = (used: number) => void

/**
 * Takes the tokens that a request is expected to use from the minute of each limit, and tells what is left of the one with the least, in
 * OpenAI's headers (docs/decisions/055).
 * @throws ApiError 429 where one of them has no room; then nothing is taken
 */
export async function holdTokens(
  limiter: RateLimiter,
  limits: TokenLimit[],
  expected: number,
  setHeader: Call['setHeader'],
  now: () => number,
): Promise<SettleTokens> {
  const count = Math.max(1, expected)
  const held: { limit: TokenLimit; until: number }[] = []
  const settle: SettleTokens = (used) => {
    for (const { limit, until } of held) {
      const difference = used - count
      // What a window gets back that has ended would be missing in the next one. Its end is known to the second.
      if (difference === 0 || (difference < 0 && now() >= until)) continue
      // An error leaves what was expected until the window ends.
      void (async () => limiter.adjust(limit.name, limit.perMinute, difference))().catch(() => undefined)
    }
  }
  let least: { limit: TokenLimit; state: RateLimit } | undefined
  for (const limit of limits) {
    const { name, perMinute, whose } = limit
    const state = await limiter.consume(name, perMinute, count)
    const { ok, retryAfter, remaining = Infinity } = state
    if (!ok) {
      settle(0)
      tellLimit(setHeader, 'tokens', perMinute, state)
      const message = `${whose} limited to ${perMinute} tokens per minute, and this request is expected to use ${count}`
      throw new ApiError(429, 'rate_limit_error', message, {
        code: 'rate_limit_exceeded',
        retryAfter,
        shouldRetry: count > perMinute ? false : undefined,
      })
    }
    held.push({ limit, until: now() + (retryAfter - 1) * 1_000 })
    if (!least || remaining < (least.state.remaining ?? Infinity)) least = { limit, state }
  }
  if (least) tellLimit(setHeader, 'tokens', least.limit.perMinute, least.state)
  return settle
}
