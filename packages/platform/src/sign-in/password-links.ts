import type { Act, User } from '@turnpike/core'
import { findUserByEmail, getUser } from '@turnpike/core'
import { addressOf } from '@turnpike/core/helpers'
import { audit, emailId, invalid, isAdmin, userEntry } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import { LINK_MINUTES } from '../conventions.js'
import { linkIsOver } from '../errors.js'
import type { SessionIssuer } from '../identity/identity.js'
import { logEnd } from '../identity/sign-in-log.js'
import { passwordKey } from '../identity/stored-passwords.js'
import type { MailText } from '../mail/layout.js'
import { sendNoted } from '../mail/noted.js'
import type { Delivery } from '../mail/post.js'
import { passwordLink } from '../mail/texts/password-link.js'
import type { Parts } from '../parts.js'
import type { PasswordLink } from './stored-links.js'
import { findLink, newLink } from './stored-links.js'

/** A link that was sent or, where it was not, is to be handed on. */
export interface SentLink extends Delivery {
  /** Absent where the message was sent. */
  url?: string
  expires_at: string
}

type Reachable = User & { email: string }

/** Links by which users set their password. @param sessions where they sign in by it */
export function passwordLinks(parts: Parts, sessions: SessionIssuer) {
  const { kv, post, links, told, now } = parts
  /** The version of a user's password; null where there is none. */
  const proofOf = async (userId: string): Promise<string | null> => (await kv.get(passwordKey(userId)))?.version ?? null

  /** Stores a link. @param act with the administrator who makes it, when its entry in the audit log expires, and what else that has */
  const store = async (
    { id, email }: Reachable,
    proof: string | null,
    { admin, ...act }: Act & { expiresAt?: number; detail?: string; admin?: string },
  ): Promise<{ url: string; expiresAt: number }> => {
    const expiresAt = now() + LINK_MINUTES * 60_000
    const link: PasswordLink = { kind: 'password', user_id: id, email, proof, ...(admin && { by: admin }) }
    const { token, entry } = await newLink(link, expiresAt)
    await kv.commit({ set: [entry, ...audit('user.password-link', id, { now: now(), ...act })] })
    return { url: links.urlOf(token), expiresAt }
  }

  const textOf = (url: string, isAsked: boolean): MailText =>
    passwordLink({ place: links.place, url, minutes: LINK_MINUTES, isAsked })

  /**
   * The link with a token, with what it depends on; null where it is over: another e-mail, another password or a deletion ends it, and so does the end
   * of the administrator who made it.
   */
  const goodLink = async (token: string) => {
    const link = await findLink(kv, token, now())
    if (link?.value.kind !== 'password') return null
    const { user_id, email, proof, by } = link.value
    const [user, admin] = await Promise.all([userEntry(kv, user_id), by === undefined ? null : userEntry(kv, by)])
    if (by !== undefined && !isAdmin(admin?.value)) return null
    if (!user || user.value.deleted_at !== null || emailId(user.value.email ?? '') !== emailId(email)) return null
    const madeAt = link.expiresAt - LINK_MINUTES * 60_000
    if (user.value.signed_out_at && madeAt <= Date.parse(user.value.signed_out_at)) return null
    return (await proofOf(user_id)) === proof
      ? { user, check: [link, user, ...(admin && by !== user_id ? [admin] : [])] }
      : null
  }

  return {
    goodLink,

    /** Sends a link to the user with an e-mail, if there is one who signs in by password. A failure is in the audit log. */
    async sendForgotten(email: string, head: Pick<Head, 'ip'>): Promise<void> {
      const user = await findUserByEmail(kv, email)
      const proof = user && (await proofOf(user.id))
      // Without a password, somebody signs in elsewhere, or is meant not to.
      if (!user?.email || proof === null) return
      const act = { by: 'unknown', detail: addressOf(head.ip()), expiresAt: logEnd(now()) }
      const { url } = await store({ ...user, email: user.email }, proof, act)
      await sendNoted(parts, user.email, textOf(url, true), user.id)
    },

    /** Sends a link as administrators do. Null if there is no such user. @throws ApiError 400 for a user without an e-mail */
    async send(userId: string, act: Act = {}): Promise<SentLink | null> {
      const user = await getUser(kv, userId)
      if (!user) return null
      const { email } = user
      if (!email) throw invalid('A user who signs in by password needs an e-mail')
      const proof = await proofOf(userId)
      const admin = act.by === undefined ? null : await getUser(kv, act.by)
      const { url, expiresAt } = await store({ ...user, email }, proof, { ...act, ...(admin && { admin: admin.id }) })
      const delivery = await post.send(email, textOf(url, false))
      return {
        ...delivery,
        ...(delivery.mail !== 'sent' && { url }),
        expires_at: new Date(expiresAt).toISOString(),
      }
    },

    /** Sets the password of the user of a link, once, and ends the sign-ins. @throws ApiError 404 for a link that is over, 400 as for a new user */
    async use(token: string, { user_id: id, proof }: PasswordLink, password: string, head: Head): Promise<void> {
      const entry = await sessions.passwordEntry(id, password, (await getUser(kv, id)) ?? {}, head)
      for (;;) {
        const good = await goodLink(token)
        if (!good) throw linkIsOver()
        const { user, check } = good
        const isSet = await kv.commit({
          check: [...check, { key: entry.key, version: proof }].map(({ key, version }) => ({ key, version })),
          del: [check[0]!.key],
          set: [entry, ...audit('user.password', id, { by: id, now: now(), detail: 'by a link' })],
        })
        if (!isSet) continue
        await sessions.signOutUser(id)
        return told.newPassword(user.value)
      }
    },
  }
}
