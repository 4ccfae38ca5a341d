import type { KV, Role, User } from '@turnpike/core'
import { createUser, getUser } from '@turnpike/core'
import type { Call, Exchange } from '@turnpike/http'
import { requireSameOrigin } from './csrf.js'
import { forbidden, unauthenticated } from './errors.js'
import type { Identified, Identity } from './identity/identity.js'
import type { Access } from './operation.js'

/** Who calls the platform; null on open routes. */
export type Caller = { user: User; who: Identified } | null

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
