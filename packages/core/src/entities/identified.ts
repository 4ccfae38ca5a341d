import * as v from 'valibot'
import { ID_LENGTH } from '../conventions.js'
import { unauthenticated } from '../errors.js'
import type { KV } from '../kv/kv.js'
import { Email, UserName } from '../schemas/user-fields.js'
import type { User, UserFields } from './users.js'
import { getUser, newUser, ONE_LINE } from './users.js'

/** Whom a credential belongs to. */
export interface Identified {
  userId: string
  /**
   * How the credential is sent. Where a browser may send it by itself (`cookie`, the default), requests of pages of other sites are refused;
   * not with a `bearer` token or another credential that only a program adds (`custom`).
   */
  via?: 'bearer' | 'cookie' | 'custom'
  /** When the credential was issued, in milliseconds: it is not good for a user who was deleted and restored since. Absent = not known. */
  issuedAt?: number
  /** What the credential is good for, such as `tasks:read`; absent = for all that its user may do. */
  scopes?: readonly string[]
  /** The sign-in that the credential is from; absent where the identity keeps none. */
  signInId?: string
  /** Tells the credential from others that the same sign-in had or has; absent where it has only this one. */
  credentialId?: string
  /**
   * What the identity provider knows of the user: the first request of somebody new makes a user of it, with its budget. An e-mail must be verified:
   * what others share is for whoever has it. E-mails and names that no
   * body could have are left out, and so is an e-mail that another user has. Later it is only good for this user if the `provider` is the same, which
   * is '' where it is absent. Without a profile, the user must exist, and may be anybody.
   */
  profile?: Partial<UserFields>
}

/** A profile without the e-mail and the names that no body could have: they are what somebody typed elsewhere. */
function storable(profile: Partial<UserFields>): Partial<UserFields> {
  const kept = { ...profile }
  if (!v.is(Email, kept.email)) kept.email = null
  for (const field of ['name', 'first_name', 'last_name', 'username'] as const)
    if (!v.is(UserName, kept[field])) delete kept[field]
  return kept
}

/**
 * The user of a credential; the first request of somebody that the identity provider knows makes one.
 * @param options.log has `email_taken` where the user was made without the e-mail, because another one has it
 * @returns null where there is no such user, or not any more
 * @throws ApiError 401 where the user signs in another way
 * @throws TypeError for a budget in the profile that is none
 */
export async function userOf(
  kv: KV,
  { userId, issuedAt, profile }: Identified,
  { now, log }: { now: number; log?: ((fields: { email_taken: true }) => void) | undefined },
): Promise<User | null> {
  const find = async (): Promise<User | null> => {
    const stored = await getUser(kv, userId)
    // Two providers may use the same id, and one of them that of a user with a password.
    if (stored && profile && stored.provider !== (profile.provider ?? ''))
      throw unauthenticated('The user with this id signs in another way')
    const isEnded = stored?.signed_out_at && issuedAt !== undefined && issuedAt <= Date.parse(stored.signed_out_at)
    return isEnded ? null : stored
  }
  // Proxies send an empty header for who is not signed in. Stores do not tell halves of surrogate pairs apart.
  if (userId.trim() === '' || !ONE_LINE.test(userId)) return null
  const found = await find()
  if (found || !profile || userId.length > ID_LENGTH) return found
  const act = { now, by: userId }
  const input = { ...storable(profile), id: userId }
  const created = await newUser(kv, input, act)
  if (created) return created
  // The id is that of a user whom a request beside this one made, or who was deleted; or somebody has the e-mail, which proves nothing here.
  const withoutEmail = await newUser(kv, { ...input, email: null }, act)
  if (withoutEmail) log?.({ email_taken: true })
  return withoutEmail ?? find()
}
