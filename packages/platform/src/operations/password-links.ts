import type { Act, User } from '@turnpike/core'
import { findUserByEmail, getUser } from '@turnpike/core'
import { addressOf, audit, emailId, invalid, userEntry } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import { LINK_MINUTES } from '../conventions.js'
import type { PasswordLink } from '../entities/links.js'
import { findLink, newLink } from '../entities/links.js'
import { linkIsOver } from '../errors.js'
import type { SessionIssuer } from '../identity/identity.js'
import { logEnd } from '../identity/sign-in-log.js'
import { passwordKey } from '../identity/stored-passwords.js'
import type { MailText } from '../mail/layout.js'
import { sendNoted } from '../mail/noted.js'
import type { Delivery } from '../mail/post.js'
import { passwordLink } from '../mail/texts/password-link.js'
import type { Parts } from '../parts.js'

/** A link that was sent or, where it was not, is to be handed on. */
export interface SentLink extends Delivery {
  /** Absent where the message was sent. */
  url?: string
  expires_at: string
}

type Reachable = User & { email: string }

/** Links by which users set their password. @param sessions where they sign in by it */
export function passwordLinks({ kv, post, links, told, now }: Parts, sessions: SessionIssuer) {
  /** The version of a user's password; null where there is none. */
  const proofOf = async (userId: string): Promise<string | null> => (await kv.get(passwordKey(userId)))?.version ?? null

  /** Stores a link. @param act with when its entry in the audit log expires, and what else that has */
  const store = async (
    { id, email }: Reachable,
    proof: string | null,
    act: Act & { expiresAt?: number; detail?: string },
  ): Promise<{ url: string; expiresAt: number }> => {
    const expiresAt = now() + LINK_MINUTES * 60_000
    const { token, entry } = await newLink({ kind: 'password', user_id: id, email, proof }, expiresAt)
    await kv.commit({ set: [entry, ...audit('user.password-link', id, { now: now(), ...act })] })
    return { url: links.urlOf(token), expiresAt }
  }

  const textOf = (url: string, isAsked: boolean): MailText =>
    passwordLink({ place: links.place, url, minutes: LINK_MINUTES, isAsked })

  /** Whether the link is for what the user has: another e-mail, or another password since, ends it. */
  const isGood = async ({ user_id, email, proof }: PasswordLink): Promise<boolean> => {
    const user = await getUser(kv, user_id)
    return emailId(user?.email ?? '') === emailId(email) && (await proofOf(user_id)) === proof
  }

  return {
    isGood,

    /** Sends a link to the user with an e-mail, if there is one who signs in by password. A failure is in the audit log. */
    async sendForgotten(email: string, head: Pick<Head, 'ip'>): Promise<void> {
      const user = await findUserByEmail(kv, email)
      const proof = user && (await proofOf(user.id))
      // Without a password, somebody signs in elsewhere, or is meant not to.
      if (!user?.email || proof === null) return
      const act = { by: 'unknown', detail: addressOf(head.ip()), expiresAt: logEnd(now()) }
      const { url } = await store({ ...user, email: user.email }, proof, act)
      await sendNoted({ kv, post, now }, user.email, textOf(url, true), user.id)
    },

    /** Sends a link as administrators do. Null if there is no such user. @throws ApiError 400 for a user without an e-mail */
    async send(userId: string, act: Act = {}): Promise<SentLink | null> {
      const user = await getUser(kv, userId)
      if (!user) return null
      const { email } = user
      if (!email) throw invalid('A user who signs in by password needs an e-mail')
      const { url, expiresAt } = await store({ ...user, email }, await proofOf(userId), act)
      const delivery = await post.send(email, textOf(url, false))
      return {
        ...delivery,
        ...(delivery.mail !== 'sent' && { url }),
        expires_at: new Date(expiresAt).toISOString(),
      }
    },

    /** Sets the password of the user of a link, once, and ends the sign-ins. @throws ApiError 404 for a link that is over, 400 as for a new user */
    async use(token: string, { user_id: id, proof }: PasswordLink, password: string): Promise<void> {
      const entry = await sessions.passwordEntry(id, password, (await getUser(kv, id)) ?? {})
      for (;;) {
        const [link, user] = await Promise.all([findLink(kv, token, now()), userEntry(kv, id)])
        if (link?.value.kind !== 'password' || !user || !(await isGood(link.value))) throw linkIsOver()
        const isSet = await kv.commit({
          check: [link, user, { key: entry.key, version: proof }].map(({ key, version }) => ({ key, version })),
          del: [link.key],
          set: [entry, ...audit('user.password', id, { by: id, now: now(), detail: 'by a link' })],
        })
        if (!isSet) continue
        await sessions.signOutUser(id)
        return told.newPassword(user.value)
      }
    },
  }
}
