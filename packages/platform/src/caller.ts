import type { KV, RateLimiter, Role, User } from '@turnpike/core'
import { createUser, getUser } from '@turnpike/core'
import { Email, ID_LENGTH, ONE_LINE, sha256 } from '@turnpike/core/internal'
import type { Call, Exchange } from '@turnpike/http'
import * as v from 'valibot'
import { requireSameOrigin } from './csrf.js'
import { forbidden, tooMany, unauthenticated } from './errors.js'
import type { Identified, Identity } from './identity/identity.js'
import { addressOf } from './identity/networks.js'
import type { Access } from './operation.js'
import { UserName } from './schemas.js'

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

/** A profile without the e-mail and the names that no body could have: they are what somebody typed elsewhere. */
function storable(profile: NonNullable<Identified['profile']>): NonNullable<Identified['profile']> {
  const kept = { ...profile }
  if (!v.is(Email, kept.email)) kept.email = null
  for (const field of ['name', 'first_name', 'last_name', 'username'] as const)
    if (!v.is(UserName, kept[field])) delete kept[field]
  return kept
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
  const userOf = async ({ userId, issuedAt, profile }: Identified): Promise<User | null> => {
    const find = async (): Promise<User | null> => {
      const user = await getUser(kv, userId)
      // Two providers may use the same id, and one of them that of a user with a password.
      if (user && profile && user.provider !== (profile.provider ?? ''))
        throw unauthenticated('The user with this id signs in another way')
      const isEnded = user?.signed_out_at && issuedAt !== undefined && issuedAt <= Date.parse(user.signed_out_at)
      return isEnded ? null : user
    }
    // Stores do not tell halves of surrogate pairs apart.
    if (!ONE_LINE.test(userId)) return null
    const found = await find()
    if (found || !profile || userId.length > ID_LENGTH) return found
    const act = { now: now(), by: userId }
    const input = { ...storable(profile), id: userId }
    // An e-mail that somebody else has is left out: it proves nothing here. For a user who was deleted, both fail.
    return (await createUser(kv, input, act)) ?? (await createUser(kv, { ...input, email: null }, act)) ?? find()
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
