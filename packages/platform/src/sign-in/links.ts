import type { Act } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import { forbidden, linkIsOver } from '../errors.js'
import { linkRequests } from '../identity/link-requests.js'
import type { Parts } from '../parts.js'
import type { SentLink } from './password-links.js'
import { passwordLinks } from './password-links.js'
import type { NewAccount } from './sign-up.js'
import { accountLinks } from './sign-up.js'
import { findLink } from './stored-links.js'

/** What can be done with links that are sent to people, without HTTP. */
export function linkOperations(parts: Parts) {
  const { kv, post, sessions, rateLimiter, signUp, now } = parts
  const count = linkRequests(kv, rateLimiter, now)
  const passwords = sessions && passwordLinks(parts, sessions)
  const accounts = sessions && accountLinks(parts, sessions)

  /** The link with a token. @throws ApiError 404 where it is not good, or not any more */
  const found = async (token: string) => {
    const link = await findLink(kv, token, now())
    if (!link || !passwords || !accounts) throw linkIsOver()
    const { value } = link
    if (value.kind !== 'password') await accounts.check(value)
    else if (!(await passwords.goodLink(token))) throw linkIsOver()
    return { link, passwords, accounts }
  }

  return {
    /** Who may sign up, whether e-mail is sent, and whether people sign in by password. */
    options: () => ({
      sign_up: signUp.mode,
      sign_up_domains: signUp.domains,
      mail: post.isThere,
      passwords: parts.passwords,
    }),
    /**
     * Sends a link to whoever has this e-mail and signs in by password. Nothing tells whether there is somebody.
     * @throws ApiError 403 without mail, 429 where too many are asked for
     */
    async forgotten(email: string, head: Head): Promise<void> {
      if (!post.isThere) throw forbidden('No e-mail is sent from here: ask an administrator for a link')
      await count('password', email, head)
      post.later(async () => passwords?.sendForgotten(email, head))
    },
    /** Sends a link to whoever signs up with an e-mail. Nothing tells whether it has an account. @throws ApiError 403 where it may not, 429 as above */
    async signUp(email: string, head: Head): Promise<void> {
      signUp.check(email)
      if (!post.isThere) throw forbidden('No e-mail is sent from here')
      await count('sign-up', email, head)
      post.later(async () => accounts?.sendSignUp(email))
    },
    /** Sends a link by which a user sets a password. Null if there is no such user. @throws ApiError 400 for a user without an e-mail */
    async sendPasswordLink(userId: string, act: Act = {}): Promise<SentLink | null> {
      if (!passwords) throw invalid('Users are signed in elsewhere: they have no password here')
      return passwords.send(userId, act)
    },
    /** What a link is for. @throws ApiError 404 */
    async look(token: string) {
      const { value, expiresAt } = (await found(token)).link
      return { kind: value.kind, email: value.email, expires_at: new Date(expiresAt).toISOString() }
    },
    /**
     * Uses a link, once: sets the password of its user, or makes the account.
     * @returns the e-mail to sign in with
     * @param head who uses it
     * @throws ApiError 404, 400 as for a new user, 429 and 503 where too many passwords wait
     */
    async use(token: string, choice: NewAccount, head: Head): Promise<{ email: string }> {
      const { link, passwords, accounts } = await found(token)
      const { value } = link
      if (value.kind === 'password') await passwords.use(token, value, choice.password, head)
      else await accounts.use(token, value, choice, head)
      return { email: value.email }
    },
  }
}

export type LinkOperations = ReturnType<typeof linkOperations>
