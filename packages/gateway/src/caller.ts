import type { GatewayKeys, KeyHolder, RateLimiter } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import type { Access, Exchange } from '@turnpike/http'

/** Who calls the gateway; null on open routes. */
export type Caller = KeyHolder | null

/** Finds the caller of a request and counts the request against the key (ruling 17: authenticate, limit, parse). */
export function callerOf(
  keys: GatewayKeys,
  limiter: RateLimiter,
): (exchange: Exchange, access: Access) => Promise<Caller> {
  return async (exchange, access) => {
    if (access === 'open') return null
    const given = /^bearer +(\S+)$/i.exec(exchange.header('authorization') ?? '')?.[1]
    const found = given === undefined ? null : keys.verify(given)
    // Known keys are found at once; each wait that is left out is one turn less.
    const holder = found instanceof Promise ? await found : found
    if (!holder)
      throw new ApiError(401, 'authentication_error', 'A valid gateway key is needed: Authorization: Bearer gw-…', {
        code: 'invalid_api_key',
        headers: { 'www-authenticate': 'Bearer' },
      })
    const { id, rate_limit } = holder.key
    const counted = limiter.consume(id, rate_limit)
    const { ok, retryAfter } = counted instanceof Promise ? await counted : counted
    if (!ok)
      throw new ApiError(429, 'rate_limit_error', `This key is limited to ${rate_limit} requests per minute`, {
        code: 'rate_limit_exceeded',
        retryAfter,
      })
    if (access === 'admin' && holder.user.role !== 'admin')
      throw new ApiError(403, 'permission_error', 'This is for keys of administrators', { code: 'forbidden' })
    return holder
  }
}
