import type { KV, RateLimiter, Role, User } from '@turnpike/core'
import { createUser, getUser } from '@turnpike/core'
import { sha256 } from '@turnpike/core/internal'
import type { Call, Exchange } from '@turnpike/http'
import { requireSameOrigin } from './csrf.js'
import { forbidden, tooMany, unauthenticated } from './errors.js'
import type { Identified, Identity } from './identity/identity.js'
import { addressOf } from './identity/networks.js'
import type { Access } from './operation.js'

/** Who calls the platform; null on open routes. */
export type Caller = { user: User; who: Identified } | null

/** Counts the requests of a user, or of an address where there is none. Both throw ApiError 429 where there are too many. */
export interface RequestCount {
  user(id: string): Promise<void>
  address(ip: string): Promise<void>
}

/** Counts requests for {@link callerOf}, by hashes of addresses (ruling 47). Those of unknown address are not counted. */
export function requestCount(limiter: RateLimiter, { user, address }: { user: number; address: number }): RequestCount {
  const count = async (key: string, perMinute: number): Promise<void> => {
    const { ok, retryAfter } = await limiter.consume(key, perMinute)
    if (!ok) throw tooMany(`You are limited to ${perMinute} requests per minute`, retryAfter)
  }
  return {
    user: (id) => count(`api ${id}`, user),
    address: async (ip) => {
      if (ip !== '') await count(`api-address ${await sha256(addressOf(ip))}`, address)
    },
  }
}

const needed: Record<'developer' | 'admin', { roles: Role[]; message: string }> = {
  developer: { roles: ['developer', 'admin'], message: 'This is for developers and administrators' },
  admin: { roles: ['admin'], message: 'This is for administrators' },
}

/**
 * Finds the caller of a request by the platform's identity. The user is read from the store each time, so that a deletion or another role
 * counts at once in all processes.
 * @param options.count counts the requests; absent = they are not counted
 * @throws ApiError 401 without a valid credential, 403 for another role or a request of another site, 429 where there are too many
 */
export function callerOf(
  kv: KV,
  {
    identity,
    baseUrl,
    trustedOrigins,
    count,
    now,
  }: {
    identity: Identity
    baseUrl: string | undefined
    trustedOrigins: readonly string[]
    count?: RequestCount
    now: () => number
  },
): (exchange: Exchange, access: Access, log?: Call['log']) => Promise<Caller> {
  /** The user of a credential; the first request of somebody that the identity provider knows makes one. */
  const userOf = async ({ userId, profile }: Identified): Promise<User | null> => {
    const found = await getUser(kv, userId)
    if (found || !profile) return found
    const act = { now: now() }
    // An e-mail that somebody else has is left out: it proves nothing here. For a user who was deleted, both fail.
    const made =
      (await createUser(kv, { ...profile, id: userId }, act)) ??
      (await createUser(kv, { ...profile, email: null, id: userId }, act))
    return made ?? getUser(kv, userId)
  }

  return async (exchange, access, log) => {
    if (access === 'open') {
      await count?.address(exchange.ip())
      return null
    }
    const who = await identity.authenticate(exchange)
    const [user] = who ? await Promise.all([userOf(who), count?.user(who.userId)]) : [null]
    if (!who || !user) {
      await count?.address(exchange.ip())
      throw unauthenticated()
    }
    log?.({ user_id: user.id })
    if (who.via === 'cookie') requireSameOrigin(exchange, { baseUrl, trustedOrigins })
    if (access !== 'user' && !needed[access].roles.includes(user.role)) throw forbidden(needed[access].message)
    return { user, who }
  }
}
