import type { Budget, Commit, Entry, KV, Role, User } from '@turnpike/core'
import { audit, newBalance, newUser } from '@turnpike/core/internal'
import type { Invited } from '../sign-in/stored-invitations.js'
import { entriesOfInvited } from '../sign-in/stored-invitations.js'
import type { StoredLink } from '../sign-in/stored-links.js'

/** An account that somebody makes for themselves. */
export interface NewUser {
  id: string
  email: string
  /** What the person signs in with. */
  provider: string
  names: Partial<Pick<User, 'first_name' | 'last_name'>>
  /** Default that of the invitation, or `user`. */
  role?: Role | undefined
  /** What is used up by it; null = nothing. */
  link: Entry<StoredLink> | null
  invitation: Invited | null
  /** What is checked and written in the same commit, such as the password. */
  check?: NonNullable<Commit['check']>
  also: NonNullable<Commit['set']>
}

/** Makes an account, with what its invitation gives. @param budget of one without an invitation; default none. @returns false where the e-mail is taken, or what is used up has changed */
export async function makeAccount(kv: KV, account: NewUser, now: number, budget?: Budget): Promise<boolean> {
  const { id, email, provider, names, link, check = [] } = account
  const { invitation, admin = null } = account.invitation ?? { invitation: null }
  const { role = 'user', credit_coins: credits = 0, extra_projects = 0 } = invitation?.value ?? {}
  const act = { by: id, now }
  const also = [
    ...account.also,
    ...(credits || extra_projects ? [newBalance(id, { credits, extra_projects }, now)] : []),
    ...(invitation ? audit('invitation.accept', invitation.value.id, act) : []),
  ]
  const used = [link, invitation, admin].filter((one) => one !== null)
  const user = await newUser(
    kv,
    { ...names, id, email, provider, role: account.role ?? role, ...(!invitation && budget && { budget }) },
    {
      ...act,
      also,
      check: [...used.map(({ key, version }) => ({ key, version })), ...check],
      del: [...(link ? [link.key] : []), ...(await entriesOfInvited(kv, email))],
    },
  )
  return user !== null
}
