import type { RateLimit, RateLimiter } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import type { Call } from '@turnpike/http'
import { tellLimit } from '../caller.js'

/** A limit of tokens a minute. */
export interface TokenLimit {
  /** What it is counted under. */
  name: string
  perMinute: number
  /** The beginning of a sentence about whose it is, such as `This key is`. */
  whose: string
}

/** Minutes for which a limit is closed at most, because earlier requests have used more than it. */
const MOST_OWED = 10

/**
 * Tokens that were used beyond a minute, and are still to be taken from those that come, by the name of the limit. Each process owes what its own
 * requests have used.
 */
const owed = new WeakMap<RateLimiter, Map<string, number>>()

/** Counts tokens that were used already: what the minute has no room for is owed. */
async function count(limiter: RateLimiter, { name, perMinute }: TokenLimit, tokens: number): Promise<void> {
  const counted = await limiter.adjust(name, perMinute, tokens)
  if (typeof counted !== 'number' || counted >= tokens) return
  const all = owed.get(limiter) ?? new Map<string, number>()
  owed.set(limiter, all)
  all.set(name, Math.min((all.get(name) ?? 0) + tokens - counted, MOST_OWED * perMinute))
}

/** Takes what is owed from the minute of a limit, as far as there is room. */
async function pay(limiter: RateLimiter, limit: TokenLimit): Promise<void> {
  const debts = owed.get(limiter)
  const debt = debts?.get(limit.name)
  if (!debts || debt === undefined) return
  debts.delete(limit.name)
  await count(limiter, limit, debt)
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
  const held = Math.max(1, expected)
  const taken: { limit: TokenLimit; until: number }[] = []
  const settle: SettleTokens = (used) => {
    for (const { limit, until } of taken) {
      const difference = used - held
      // What a window gets back that has ended would be missing in the next one. Its end is known to the second.
      if (difference === 0 || (difference < 0 && now() >= until)) continue
      // An error leaves what was expected until the window ends.
      void count(limiter, limit, difference).catch(() => undefined)
    }
  }
  let least: { limit: TokenLimit; state: RateLimit } | undefined
  for (const limit of limits) {
    const { name, perMinute, whose } = limit
    if (owed.get(limiter)?.has(name)) await pay(limiter, limit)
    const state = await limiter.consume(name, perMinute, held)
    const { ok, retryAfter, remaining = Infinity } = state
    if (!ok) {
      settle(0)
      tellLimit(setHeader, 'tokens', perMinute, state)
      const message = `${whose} limited to ${perMinute} tokens per minute, and this request is expected to use ${held}`
      throw new ApiError(429, 'rate_limit_error', message, {
        code: 'rate_limit_exceeded',
        retryAfter,
        shouldRetry: held > perMinute ? false : undefined,
      })
    }
    taken.push({ limit, until: now() + (retryAfter - 1) * 1_000 })
    if (!least || remaining < (least.state.remaining ?? Infinity)) least = { limit, state }
  }
  if (least) tellLimit(setHeader, 'tokens', least.limit.perMinute, least.state)
  return settle
}
