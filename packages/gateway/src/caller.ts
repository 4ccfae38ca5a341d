import type { GatewayKeys, KeyHolder, RateLimiter, User } from '@turnpike/core'
import { ApiError, KEY_PREFIX } from '@turnpike/core'
import { consumeMore, sha256 } from '@turnpike/core/internal'
import type { Call, Exchange } from '@turnpike/http'
import { forbidden } from './errors.js'
import type { Access } from './operation.js'

/** An administrator who was authenticated by another credential than a gateway key. */
export interface Administrator {
  /** The name for the audit log. */
  admin: string
}

/** A user who was authenticated without a gateway key: see `as` of a gateway. */
export interface SignedIn {
  user: User
  key?: undefined
  countCalls?: CountCalls | undefined
}

/** Counts the calls of a user's request beyond its first, such as those for `n` answers. @throws ApiError 429 where a minute has no room for them */
export type CountCalls = (user: User, calls: number) => Promise<void>

/** Callers on whose account requests are made: those of routes with the access `key`. */
export type UserCaller = KeyHolder | SignedIn

/** Who calls the gateway; null on open routes. */
export type Caller = UserCaller | Administrator | null

/** Authenticates an administrator by another credential than a gateway key; null where there is none or it is not valid. */
export type AuthenticateAdmin = (exchange: Exchange) => Promise<Administrator | null> | Administrator | null

/** Authenticates a user by another credential than a gateway key. @throws ApiError 401, 403 or 429 */
export type AuthenticateUser = (exchange: Exchange) => Promise<User> | User

/** The caller's name for the audit log. */
export const actorOf = (caller: Caller): string => (hasUser(caller) ? caller.user.id : caller!.admin)

/** Whether the caller is an administrator. */
export const isAdmin = (caller: Caller): boolean => (hasUser(caller) ? caller.user.role === 'admin' : caller !== null)

export const hasUser = (caller: Caller): caller is UserCaller => caller !== null && 'user' in caller

const bearer = (exchange: Exchange): string | undefined =>
  /^bearer +(\S+)$/i.exec(exchange.header('authorization') ?? '')?.[1]

/** Authenticates administrators by a fixed token: `Authorization: Bearer TOKEN`. */
export function tokenAdmin(token: string): AuthenticateAdmin {
  const expected = sha256(token)
  return async (exchange) => {
    const given = bearer(exchange)
    // Hashes are compared, so that the time of the comparison reveals nothing about the token.
    return given !== undefined && (await sha256(given)) === (await expected) ? { admin: 'admin-token' } : null
  }
}

/**
 * Finds the caller of a request and counts the request against the key (ruling 17: authenticate, limit, parse).
 * @param authenticateAdmin called on routes that administrators may call, if the request has no valid gateway key
 */
export function callerOf(
  keys: GatewayKeys,
  limiter: RateLimiter,
  authenticateAdmin?: AuthenticateAdmin,
): (exchange: Exchange, access: Access, log: Call['log']) => Promise<Caller> {
  return async (exchange, access, log) => {
    if (access === 'open') return null
    const given = bearer(exchange)
    const found = given === undefined ? null : keys.verify(given)
    // Not awaited where it is synchronous: each `await` costs a turn of the event loop.
    const holder = found instanceof Promise ? await found : found
    if (!holder) {
      const admin = access !== 'key' && (await authenticateAdmin?.(exchange))
      if (admin) return admin
      throw new ApiError(
        401,
        'authentication_error',
        `A valid gateway key is needed: Authorization: Bearer ${KEY_PREFIX}…`,
        {
          code: 'invalid_api_key',
          headers: { 'www-authenticate': 'Bearer' },
        },
      )
    }
    const { id, rate_limit } = holder.key
    log({ key_id: id, user_id: holder.user.id })
    const counted = limiter.consume(id, rate_limit)
    const { ok, retryAfter } = counted instanceof Promise ? await counted : counted
    if (!ok)
      throw new ApiError(429, 'rate_limit_error', `This key is limited to ${rate_limit} requests per minute`, {
        code: 'rate_limit_exceeded',
        retryAfter,
      })
    if (access === 'admin' && holder.user.role !== 'admin') throw forbidden('This is for administrators')
    return holder
  }
}

/** Counts the calls of a request beyond its first, which {@link callerOf} counted, where one request needs several. */
export const callCounter =
  (limiter: RateLimiter) =>
  async ({ key, user, ...caller }: UserCaller, calls: number): Promise<void> => {
    if (!key) return (caller as SignedIn).countCalls?.(user, calls)
    const { id, rate_limit } = key
    const { ok, retryAfter } = await consumeMore(limiter, id, rate_limit, calls)
    if (ok) return
    const message = `This key is limited to ${rate_limit} requests per minute, and this one counts as ${calls}: one for each of the n answers`
    throw new ApiError(429, 'rate_limit_error', message, {
      code: 'rate_limit_exceeded',
      retryAfter,
      shouldRetry: calls > rate_limit ? false : undefined,
    })
  }

/** Finds the user of a request by `authenticate`. */
export function signedInBy(
  authenticate: AuthenticateUser,
  countCalls: CountCalls | undefined,
): (exchange: Exchange, access: Access, log: Call['log']) => Promise<Caller> {
  return async (exchange, _, log) => {
    const user = await authenticate(exchange)
    log({ user_id: user.id })
    return { user, countCalls }
  }
}
