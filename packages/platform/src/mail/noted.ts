import { scrub } from '@turnpike/core/helpers'
import { audit } from '@turnpike/core/internal'
import { AUDIT_LOG } from '../conventions.js'
import { logEnd } from '../identity/sign-in-log.js'
import type { Parts } from '../parts.js'
import type { MailText } from './layout.js'

/** Whom a message concerns that anybody can make, with an e-mail of nobody here. */
export const STRANGER = 'unknown'

/** What messages are sent by, and noted in. */
export type Mailing = Pick<Parts, 'kv' | 'post' | 'rateLimiter' | 'now'>

/**
 * Sends a message that nobody waits for: where it fails, the audit log says so, so many times a minute. Servers of mail repeat e-mails in what they
 * answer: the log names nobody but by the id.
 * @param target whom it concerns: the id of a user, or {@link STRANGER}
 */
export async function sendNoted(
  { kv, post, rateLimiter, now }: Mailing,
  to: string,
  text: MailText,
  target: string,
): Promise<void> {
  const { mail_error: reason } = await post.send(to, text)
  if (reason === undefined) return
  const [whose, perMinute] =
    target === STRANGER ? (['nobody', AUDIT_LOG.ofUnknown] as const) : (['users', AUDIT_LOG.ofUsers] as const)
  if (!(await rateLimiter.consume(`audit mail.fail: ${whose}`, perMinute)).ok) return
  const time = now()
  const entry = { by: 'mail', now: time, detail: scrub(reason), expiresAt: logEnd(time) }
  await kv.commit({ set: audit('mail.fail', target, entry) })
}
