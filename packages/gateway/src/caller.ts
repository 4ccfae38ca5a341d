import type {
  GatewayKey,
  GatewayKeys,
  KeyHolder,
  KeyLimits,
  KV,
  RateLimit,
  RateLimiter,
  Role,
  User,
} from '@turnpike/core'
import { ApiError, KEY_PREFIX } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { consumeMore, unauthenticated, userOf } from '@turnpike/core/internal'
import type { Authenticator, Call, Exchange, HandlerOptions, SameOriginOptions } from '@turnpike/http'
import { identify } from '@turnpike/http'
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
  count?: CountCalls | undefined
}

/**
 * Counts the requests of a user: called with 1 when a request begins, and with the number of its upstream calls where it needs several, such as
 * one for each of `n` answers. @throws ApiError 429 where a minute has no room for them
 */
export type CountCalls = (user: User, calls: number) => Promise<void>

/** The holder of a key whose request was counted. */
interface Counted extends KeyHolder {
  /** Until when it may be given back, in milliseconds: where the minute ends. Absent for keys without end users. */
  until?: number
}

/** Callers on whose account requests are made: those of routes with the access `key`. */
export type UserCaller = Counted | SignedIn

/** Whoever has `ADMIN_TOKEN`, in the audit log. */
const TOKEN_ADMIN = 'admin-token'

/** Who calls the gateway; null on open routes. */
export type Caller = UserCaller | Administrator | null

/** Finds the caller of a request. */
type Authenticate = HandlerOptions<Caller, Access>['authenticate']

/**
 * Authenticates an administrator by another credential than a gateway key; null where there is none or it is not valid for the access of the
 * route: on routes of `monitor`, it may be one of something that is no administrator.
 */
export type AuthenticateAdmin = (
  exchange: Exchange,
  access: Exclude<Access, 'open' | 'key'>,
) => Promise<Administrator | null> | Administrator | null

/**
 * The caller's name for the audit log.
 * @example const by = actorOf(caller)
 */
export const actorOf = (caller: Caller): string => (hasUser(caller) ? caller.user.id : caller!.admin)

/** Whether the caller has a gateway key or `ADMIN_TOKEN`, which open no platform, and is not signed in. */
export const isOfGateway = (caller: Caller): boolean =>
  hasUser(caller) ? caller.key !== undefined : caller?.admin === TOKEN_ADMIN

/** Whether a key has a limit on models or money, or is for the end users of an application. */
export const hasLimits = (key: GatewayKey | undefined): boolean =>
  key?.models !== undefined || key?.budget !== undefined || key?.end_users !== undefined

/** Whether the caller is an administrator. A key of one that has limits of its own was made for less: it is none. */
export const isAdmin = (caller: Caller): boolean =>
  hasUser(caller)
    ? caller.user.role === 'admin' && !hasLimits(caller.key) && caller.key?.token_limit === undefined
    : caller !== null

export const hasUser = (caller: Caller): caller is UserCaller => caller !== null && 'user' in caller

const bearerToken = /^bearer +(\S+)$/i

const bearer = (exchange: Exchange): string | undefined => bearerToken.exec(exchange.header('authorization') ?? '')?.[1]

/**
 * The credential of a request: the bearer token or, where no `Authorization` is sent, what clients of Azure (`api-key`) and Claude (`x-api-key`)
 * send in its place.
 */
const credential = (exchange: Exchange): string | undefined =>
  exchange.header('authorization') === undefined
    ? (exchange.header('api-key') ?? exchange.header('x-api-key'))
    : bearer(exchange)

/**
 * Authenticates administrators by a fixed token: `Authorization: Bearer TOKEN`.
 * @param options.only the only access that the token gives, such as `monitor` for one that reads `/metrics` and `/health/providers`; default
 *   everything that administrators may
 * @example const gateway = createGateway({ router, kv, authenticateAdmin: tokenAdmin(token) })
 */
export function tokenAdmin(token: string, { only }: { only?: 'monitor' } = {}): AuthenticateAdmin {
  const expected = sha256(token)
  return async (exchange, access) => {
    const given = only === undefined || only === access ? bearer(exchange) : undefined
    // Hashes are compared, so that the time of the comparison reveals nothing about the token.
    return given !== undefined && (await sha256(given)) === (await expected) ? { admin: TOKEN_ADMIN } : null
  }
}

/** A time as OpenAI's headers have it: `12s`, `1m0s`. */
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`

/** The names of OpenAI's headers. Made once, as they are set for each request. */
const limitHeaders = (of: 'requests' | 'tokens') => ({
  limit: `x-ratelimit-limit-${of}`,
  remaining: `x-ratelimit-remaining-${of}`,
  reset: `x-ratelimit-reset-${of}`,
})
const headersOf = { requests: limitHeaders('requests'), tokens: limitHeaders('tokens') }

/** Says what is left of requests or tokens per minute, in OpenAI's headers (its reference, "Rate limits": "Rate limits in headers"). */
export function tellLimit(
  setHeader: Call['setHeader'],
  of: keyof typeof headersOf,
  perMinute: number,
  { remaining, retryAfter }: RateLimit,
): void {
  const names = headersOf[of]
  setHeader(names.limit, String(perMinute))
  if (remaining !== undefined) setHeader(names.remaining, String(remaining))
  setHeader(names.reset, duration(retryAfter))
}

/** @throws ApiError 429 where a rate limit is exceeded */
export function refuseOver({ ok, retryAfter }: RateLimit, message: string): void {
  if (!ok) throw new ApiError(429, 'rate_limit_error', message, { code: 'rate_limit_exceeded', retryAfter })
}

/**
 * Finds the caller of a request and counts the request against the key, and against all keys of its owner together, so that more keys are
 * no more requests (authenticate, limit, parse).
 * @param options.authenticateAdmin called on routes that administrators may call, if the request has no valid gateway key
 */
export function callerOf(
  keys: GatewayKeys,
  limiter: RateLimiter,
  {
    keyLimits,
    authenticateAdmin,
    now,
  }: { keyLimits: KeyLimits; authenticateAdmin: AuthenticateAdmin | undefined; now: () => number },
): Authenticate {
  return async (exchange, { access }, log, setHeader, before) => {
    if (access === 'open') return null
    const given = credential(exchange)
    const found = given === undefined ? null : keys.verify(given)
    // Not awaited where it is synchronous: each `await` costs a turn of the event loop.
    const holder = found instanceof Promise ? await found : found
    if (!holder) {
      const admin = access !== 'key' && (await authenticateAdmin?.(exchange, access))
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
    let until = (before?.actor as Counted | undefined)?.until
    if (!isCounted(before)) {
      const own = limiter.consume(id, rate_limit)
      const limit = own instanceof Promise ? await own : own
      tellLimit(setHeader, 'requests', rate_limit, limit)
      refuseOver(limit, `This key is limited to ${rate_limit} requests per minute`)
      let left = limit.retryAfter
      const together = allKeysOf(keyLimits, holder.user)
      if (together !== undefined) {
        // After the key's own limit: what that refuses uses up nothing of the other keys.
        const all = limiter.consume(`keys of ${holder.user.id}`, together)
        const message = `Your keys are limited to ${together} requests per minute together`
        const limitOfAll = all instanceof Promise ? await all : all
        refuseOver(limitOfAll, message)
        left = Math.min(left, limitOfAll.retryAfter)
      }
      // The end of a window is known to a second.
      if (holder.key.end_users) until = now() + (left - 1) * 1_000
    }
    if ((access === 'admin' || access === 'monitor') && !isAdmin(holder))
      throw forbidden('This is for administrators, and their keys without a budget or a list of models')
    return until === undefined ? holder : { ...holder, until }
  }
}

/** Whether a request is looked at again that was counted less than a minute ago. */
const isCounted = (before: Parameters<Authenticate>[4]): boolean => before !== undefined && before.waitedMs < 60_000

/** The requests a minute of all keys of a user; undefined = any number. */
const allKeysOf = (limits: Partial<Record<Role, { rateLimit: number }>>, { role }: User): number | undefined =>
  limits[role]?.rateLimit

/**
 * Counts a request as several: those beyond its first, which {@link callerOf} counted.
 * @param why what makes it several, in words
 */
export const callCounter =
  (limiter: RateLimiter, keyLimits: KeyLimits) =>
  async (
    { key, user, ...caller }: UserCaller,
    calls: number,
    setHeader: Call['setHeader'],
    why = 'one for each of the n answers',
  ): Promise<void> => {
    if (!key) return (caller as SignedIn).count?.(user, calls)
    const together = allKeysOf(keyLimits, user)
    const limits = [{ name: key.id, perMinute: key.rate_limit }]
    if (together !== undefined) limits.push({ name: `keys of ${user.id}`, perMinute: together })
    for (const { name, perMinute } of limits) {
      const limit = await consumeMore(limiter, name, perMinute, calls)
      const { ok, retryAfter } = limit
      if (name === key.id) tellLimit(setHeader, 'requests', perMinute, limit)
      if (ok) continue
      const message = `This key is limited to ${perMinute} requests per minute, and this one counts as ${calls}: ${why}`
      throw new ApiError(429, 'rate_limit_error', message, {
        code: 'rate_limit_exceeded',
        retryAfter,
        shouldRetry: calls > perMinute ? false : undefined,
      })
    }
  }

/**
 * Gives a request back to the minutes of its key and of all keys of the owner, because it was refused for what its end user may. As many as a minute
 * has: what is refused keeps the process busy as well.
 */
export const giverBack =
  (limiter: RateLimiter, keyLimits: KeyLimits, now: () => number) =>
  async ({ key, user, ...caller }: UserCaller, calls: number): Promise<void> => {
    const { until = 0 } = caller as Counted
    if (!key || now() >= until) return
    const together = allKeysOf(keyLimits, user)
    if (!(await limiter.consume(`refused to ${user.id}`, together ?? key.rate_limit, calls)).ok) return
    await limiter.adjust(key.id, key.rate_limit, -calls)
    if (together !== undefined) await limiter.adjust(`keys of ${user.id}`, together, -calls)
  }

/** Finds the user of a request by the identity of a host, and makes one of somebody new whom it knows. */
export function signedInBy(
  authenticator: Authenticator,
  { kv, now, count, ...sameOrigin }: SameOriginOptions & { kv: KV; now: () => number; count: CountCalls | undefined },
): Authenticate {
  return async (exchange, _, log, __, before) => {
    const who = await identify(authenticator, exchange, { ...sameOrigin, part: 'gateway', waited: before?.waitedMs })
    const user = who && (await userOf(kv, who, { now: now(), log }))
    if (!user) throw unauthenticated()
    log({ user_id: user.id })
    if (!isCounted(before)) await count?.(user, 1)
    return { user, count }
  }
}
