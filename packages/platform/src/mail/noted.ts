import { audit } from '@turnpike/core/internal'
import { logEnd } from '../identity/sign-in-log.js'
import type { Parts } from '../parts.js'
import type { MailText } from './layout.js'

/** Sends a message that nobody waits for: where it fails, the audit log says so. @param target whom it concerns: the id of a user, or `unknown` */
export async function sendNoted(
  { kv, post, now }: Pick<Parts, 'kv' | 'post' | 'now'>,
  to: string,
  text: MailText,
  target: string,
): Promise<void> {
  const { mail_error: detail } = await post.send(to, text)
  if (detail === undefined) return
  const time = now()
  await kv.commit({ set: audit('mail.fail', target, { by: 'mail', now: time, detail, expiresAt: logEnd(time) }) })
}
