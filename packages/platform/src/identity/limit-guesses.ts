import { addressOf } from '@turnpike/core/helpers'
import type { KV, RateLimiter } from '@turnpike/core'
import { memoryRateLimiter } from '@turnpike/core'
import type { Exchange } from '@turnpike/http'
import { FAILURES_PER_ADDRESS } from '../conventions.js'
import { bearer } from './identity.js'
import { signInLog } from './sign-in-log.js'
import { throttle } from './throttle.js'

/** Finds out who sends a request; null where nobody is known by its credential. */
type Authenticate<T, Rest extends unknown[]> = (exchange: Exchange, ...rest: Rest) => Promise<T | null> | T | null

/**
 * Limits guesses of a token that administrators share, such as that of the gateway's `tokenAdmin`: 30 wrong bearer tokens a minute from one
 * address, of IPv6 one network of 64 bits, and what comes from there in the rest of the minute is refused, a right one too. The first
 * of each minute is in the audit log, as `admin-token.fail`.
 * @param options.rateLimiter counts them; default {@link memoryRateLimiter}, which is exact within one process
 * @returns what is given, which throws ApiError 429 then
 * @example const authenticate = limitGuesses(byPassword, { kv })
 */
export function limitGuesses<T, Rest extends unknown[]>(
  authenticate: Authenticate<T, Rest>,
  { kv, now = Date.now, ...options }: { kv: KV; rateLimiter?: RateLimiter; now?: () => number },
): (exchange: Exchange, ...rest: Rest) => Promise<T | null> {
  const { rateLimiter = memoryRateLimiter({ now }) } = options
  const blocks = throttle(kv, rateLimiter, now)
  const log = signInLog(kv, rateLimiter, now)

  return async (exchange, ...rest) => {
    if (bearer(exchange) === undefined) return authenticate(exchange, ...rest)
    const subjects = [{ name: `admin-token from ${addressOf(exchange.ip())}`, perMinute: FAILURES_PER_ADDRESS }]
    await blocks.check(subjects)
    const found = await authenticate(exchange, ...rest)
    if (found) return found
    await log.guessed(exchange.ip())
    await blocks.failed(subjects)
    return null
  }
}
