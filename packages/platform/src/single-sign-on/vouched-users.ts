import type { Entry, User } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { audit, emailId, UserName, userEntry, userIdOf } from '@turnpike/core/internal'
import * as v from 'valibot'
import type { NewUser } from '../accounts/new-account.js'
import { makeAccount } from '../accounts/new-account.js'
import type { UserOperations } from '../accounts/users.js'
import { passwordKey } from '../identity/stored-passwords.js'
import type { Parts } from '../parts.js'
import { domainOf } from '../sign-in/sign-up.js'
import { invitationOf, openInvitation } from '../sign-in/stored-invitations.js'
import { linkByHash } from '../sign-in/stored-links.js'
import type { StoredIdentity } from './identities.js'
import { findIdentity, hasIdentityOf, linking } from './identities.js'
import type { SignInProvider, Vouched } from './provider.js'

/** Why a sign-in at a provider has failed, as pages are told. */
export const SIGN_IN_PROBLEMS = ['cancelled', 'over', 'provider', 'unverified', 'other-email', 'not-allowed'] as const
/** One of {@link SIGN_IN_PROBLEMS}. */
export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number]

/** Thrown where somebody whom a provider vouches for is not let in. */
export class SignInRefused extends Error {
  constructor(readonly problem: SignInProblem) {
    super(problem)
  }
}

const nameIn = (text: string | undefined): string => (v.is(UserName, text) ? text : '')

/** Finds the users whom providers vouch for, or makes them. */
export function vouchedUsers({ kv, signUp, now }: Parts, { update }: Pick<UserOperations, 'update'>) {
  const mayAlways = (email: string): boolean => {
    try {
      signUp.check(email)
      return true
    } catch (error) {
      if (ApiError.is(error)) return false
      throw error
    }
  }

  /** What an account is made of: the link that the browser has opened, or an e-mail that the provider has verified. @throws SignInRefused */
  const accountOf = async (
    { domains = [] }: SignInProvider,
    { email }: Vouched,
    hash: string | undefined,
  ): Promise<Pick<NewUser, 'email' | 'link' | 'invitation'>> => {
    const link = hash === undefined ? null : await linkByHash(kv, hash, now())
    if (link && link.value.kind !== 'password') {
      const invitation =
        link.value.kind === 'invitation' ? await openInvitation(kv, link.value.invitation_id, now()) : null
      const isGood =
        link.value.kind === 'invitation' ? invitation && signUp.mode !== 'closed' : mayAlways(link.value.email)
      // Else a link could be given to somebody else, and their account be opened by its e-mail.
      const isOther = email !== undefined && emailId(email) !== emailId(link.value.email)
      if (isGood && isOther) throw new SignInRefused('other-email')
      if (isGood) return { email: link.value.email, link, invitation }
    }
    if (email === undefined) throw new SignInRefused('unverified')
    if (signUp.mode === 'closed') throw new SignInRefused('not-allowed')
    const invitation = await invitationOf(kv, email, now())
    const isOfDomain = domains.some((domain) => domainOf(`@${domain}`) === domainOf(email))
    if (!invitation && !isOfDomain && !mayAlways(email)) throw new SignInRefused('not-allowed')
    return { email, link: null, invitation }
  }

  /** Links a user who has the e-mail. @returns false where something has changed meanwhile */
  const link = async (id: string, identity: StoredIdentity): Promise<boolean> => {
    const [user, password] = await Promise.all([userEntry(kv, id), kv.get(passwordKey(id))])
    if (!user || user.value.deleted_at !== null) throw new SignInRefused('not-allowed')
    // Else whoever has a key of an administrator could make an account for themselves, and keep it.
    if (user.value.of_gateway && !password) throw new SignInRefused('not-allowed')
    // An e-mail that somebody else has got at the issuer since, such as one that was given up.
    if (await hasIdentityOf(kv, id, identity.issuer)) throw new SignInRefused('not-allowed')
    const { check, set } = await linking(identity)
    const { key, version, value } = user
    const provider = password ? value.provider : identity.provider
    return kv.commit({
      check: [{ key, version }, ...check],
      set: [
        { key, value: { ...value, provider } },
        ...audit('user.link', id, { by: id, now: now(), detail: identity.provider }),
        ...set,
      ],
    })
  }

  /** Makes a user. @returns false as above */
  const make = async (
    provider: SignInProvider,
    person: Vouched,
    identity: StoredIdentity,
    hash: string | undefined,
  ) => {
    const account = await accountOf(provider, person, hash)
    if ((await userIdOf(kv, account.email)) !== null) {
      // Another tab was faster, or the e-mail is a deleted user's, or that of the link is somebody else's.
      if (await findIdentity(kv, identity)) return false
      throw new SignInRefused('not-allowed')
    }
    const { check, set: also } = await linking(identity)
    const names = { first_name: nameIn(person.firstName), last_name: nameIn(person.lastName) }
    const { user_id: id } = identity
    const made = { ...account, id, provider: provider.id, names, role: person.role, check, also }
    return makeAccount(kv, made, now(), signUp.budget)
  }

  /** The identity of a person, which is made where there is none. @throws SignInRefused */
  const identityOf = async (
    provider: SignInProvider,
    person: Vouched,
    hash: string | undefined,
  ): Promise<Entry<StoredIdentity>> => {
    const { issuer, subject, email } = person
    for (;;) {
      const found = await findIdentity(kv, person)
      if (found) return found
      const userId = email === undefined ? null : await userIdOf(kv, email)
      const linked_at = new Date(now()).toISOString()
      const identity = { user_id: userId ?? uuidv7(now()), provider: provider.id, issuer, subject, linked_at }
      // Whoever was faster has made it, or it is tried again.
      await (userId === null ? make(provider, person, identity, hash) : link(userId, identity))
    }
  }

  /** Grants the role that the provider tells. */
  const grant = async ({ id, role, granted_role = role }: User, wanted: Vouched['role']): Promise<void> => {
    if (wanted === undefined || wanted === granted_role) return
    try {
      await update(id, { role: wanted }, { by: 'single-sign-on' })
    } catch (error) {
      // The last administrator stays one: nobody could make another.
      if (!ApiError.is(error) || error.status !== 400) throw error
    }
  }

  return {
    /**
     * The user whom a provider vouches for: by the identity, else by the verified e-mail, else a new one, where that is allowed.
     * @param hash SHA-256 of the token of a link that the browser has opened
     * @throws SignInRefused
     */
    async find(provider: SignInProvider, person: Vouched, hash: string | undefined) {
      const identity = await identityOf(provider, person, hash)
      const read = () => userEntry(kv, identity.value.user_id)
      const before = await read()
      if (before) await grant(before.value, person.role)
      const user = await read()
      if (!user) throw new SignInRefused('not-allowed')
      return { user, identity }
    },
  }
}
