import type { Budget } from '@turnpike/core'
import { getUser } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { emailId, invalid, userIdOf } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import { makeAccount } from '../accounts/new-account.js'
import { SIGN_UP_HOURS } from '../conventions.js'
import { forbidden, linkIsOver } from '../errors.js'
import type { SessionIssuer } from '../identity/identity.js'
import { sendNoted, STRANGER } from '../mail/noted.js'
import { hasAccount, signUp } from '../mail/texts/sign-up.js'
import type { Parts } from '../parts.js'
import type { SIGN_UPS } from '../schemas-people.js'
import { entriesOfInvited, openInvitation } from './stored-invitations.js'
import type { AccountLink } from './stored-links.js'
import { findLink, newLink } from './stored-links.js'

/** Who may sign up: nobody, whoever is invited, or everybody. */
export type SignUp = (typeof SIGN_UPS)[number]

/** Who may sign up, and with which e-mails. */
export interface SignUpPolicy {
  mode: SignUp
  /** In their one spelling; empty = any. */
  domains: readonly string[]
  /** Of those who sign up without an invitation; absent = none. */
  budget?: Budget
  /** @throws ApiError 403 for an e-mail that does not sign up without an invitation */
  check(email: string): void
}

/** The domain of an e-mail, in its one spelling. */
export const domainOf = (email: string): string => emailId(email).split('@').at(-1)!

/** @throws TypeError for a sign-up of everybody whose e-mails cannot be verified */
export function signUpPolicy(
  mode: SignUp,
  given: readonly string[] = [],
  isVerifying: boolean,
  budget?: Budget,
): SignUpPolicy {
  if (mode === 'open' && !isVerifying)
    throw new TypeError(
      'createPlatform: the option "signUp": "open" needs "mail" or "signInProviders", by which e-mails are verified',
    )
  const domains = given.map((domain) => domainOf(`@${domain}`))
  return {
    mode,
    domains,
    ...(budget && { budget }),
    check(email) {
      if (mode !== 'open') throw forbidden('Only those who are invited sign up here')
      if (domains.length > 0 && !domains.includes(domainOf(email)))
        throw forbidden(`Those who sign up here have an e-mail of ${domains.join(' or ')}`)
    },
  }
}

/** What somebody with a new account chooses. */
export interface NewAccount {
  password: string
  first_name?: string
  last_name?: string
}

/** Links by which people make their account. @param sessions where they sign in by it */
export function accountLinks(parts: Parts, sessions: SessionIssuer) {
  const { kv, links, signUp: policy, now } = parts
  const { place, address, urlOf } = links

  return {
    /** @throws ApiError 403 for a link that the policy does not allow any more, 404 for an invitation that is over */
    async check(link: AccountLink): Promise<void> {
      if (link.kind === 'sign-up') return policy.check(link.email)
      if (policy.mode === 'closed') throw forbidden('Nobody signs up here')
      if (!(await openInvitation(kv, link.invitation_id, now()))) throw linkIsOver()
    },

    /** Sends a link to an e-mail, or that it has an account. A failure is in the audit log. */
    async sendSignUp(email: string): Promise<void> {
      const userId = await userIdOf(kv, email)
      if (userId !== null && !(await getUser(kv, userId))) return
      let text = hasAccount({ place, url: address })
      if (userId === null) {
        const { token, entry } = await newLink({ kind: 'sign-up', email }, now() + SIGN_UP_HOURS * 3_600_000)
        await kv.commit({ set: [entry] })
        text = signUp({ place, url: urlOf(token), hours: SIGN_UP_HOURS })
      }
      await sendNoted(parts, email, text, userId ?? STRANGER)
    },

    /**
     * Makes the account of a link, once.
     * @throws ApiError 404 for a link that is over, 400 where the e-mail is taken, which ends the link, or as for a new user
     */
    async use(token: string, value: AccountLink, { password, ...names }: NewAccount, head: Head): Promise<void> {
      const id = uuidv7(now())
      const { email } = value
      let proof: Awaited<ReturnType<SessionIssuer['passwordEntry']>> | undefined
      for (;;) {
        const [link, invitation] = await Promise.all([
          findLink(kv, token, now()),
          value.kind === 'invitation' ? openInvitation(kv, value.invitation_id, now()) : null,
        ])
        if (!link || (value.kind === 'invitation' && !invitation)) throw linkIsOver()
        if ((await userIdOf(kv, email)) !== null) {
          await kv.commit({ del: [link.key, ...(await entriesOfInvited(kv, email))] })
          throw invalid('The e-mail is taken')
        }
        proof ??= await sessions.passwordEntry(id, password, { ...names, email }, head)
        const account = { id, email, provider: 'password', names, link, invitation, also: [proof] }
        if (await makeAccount(kv, account, now(), policy.budget)) return
      }
    },
  }
}
