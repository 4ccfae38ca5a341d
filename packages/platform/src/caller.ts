import type { KV, Role, User } from '@turnpike/core'
import { createUser, getUser } from '@turnpike/core'
import { Email, ID_LENGTH } from '@turnpike/core/internal'
import type { Call, Exchange } from '@turnpike/http'
import * as v from 'valibot'
import { requireSameOrigin } from './csrf.js'
import { forbidden, unauthenticated } from './errors.js'
import type { Identified, Identity } from './identity/identity.js'
import type { Access } from './operation.js'
import { UserName } from './schemas.js'

/** Who calls the platform; null on open routes. */
export type Caller = { user: User; who: Identified } | null

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
 * @throws ApiError 401 without a valid credential, 403 for another role or a request of another site
 */
export function callerOf(
  kv: KV,
  {
    identity,
    baseUrl,
    trustedOrigins,
    now,
  }: { identity: Identity; baseUrl: string | undefined; trustedOrigins: readonly string[]; now: () => number },
): (exchange: Exchange, access: Access, log?: Call['log']) => Promise<Caller> {
  /** The user of a credential; the first request of somebody that the identity provider knows makes one. */
  const userOf = async ({ userId, profile }: Identified): Promise<User | null> => {
    const find = async (): Promise<User | null> => {
      const user = await getUser(kv, userId)
      // Two providers may use the same id, and one of them that of a user with a password.
      if (user && profile && user.provider !== (profile.provider ?? ''))
        throw unauthenticated('The user with this id signs in another way')
      return user
    }
    const found = await find()
    if (found || !profile || userId.length > ID_LENGTH) return found
    const act = { now: now(), by: userId }
    const input = { ...storable(profile), id: userId }
    // An e-mail that somebody else has is left out: it proves nothing here. For a user who was deleted, both fail.
    return (await createUser(kv, input, act)) ?? (await createUser(kv, { ...input, email: null }, act)) ?? find()
  }

  return async (exchange, access, log) => {
    if (access === 'open') return null
    const who = await identity.authenticate(exchange)
    const user = who && (await userOf(who))
    if (!user) throw unauthenticated()
    log?.({ user_id: user.id })
    if (who.via === 'cookie') requireSameOrigin(exchange, { baseUrl, trustedOrigins })
    if (access !== 'user' && !needed[access].roles.includes(user.role)) throw forbidden(needed[access].message)
    return { user, who }
  }
}
