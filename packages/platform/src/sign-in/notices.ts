import type { User } from '@turnpike/core'
import { emailId } from '@turnpike/core/internal'
import type { MailText } from '../mail/layout.js'
import type { Mailing } from '../mail/noted.js'
import { sendNoted } from '../mail/noted.js'
import { newEmail, newPassword } from '../mail/texts/notices.js'
import type { Parts } from '../parts.js'

/** Tells users by mail what was changed of what they sign in with. Nobody waits for it. */
export function notices(parts: Pick<Parts, 'links'> & Mailing) {
  const { post, links } = parts
  const { place, address: url } = links
  const tell = ({ id, email }: User, text: MailText): void => {
    if (email && post.isThere) post.later(() => sendNoted(parts, email, text, id))
  }
  return {
    newPassword: (user: User) => tell(user, newPassword({ place, url })),
    /** Told to the e-mail of before. */
    newEmail(before: User, after: User): void {
      if (emailId(before.email ?? '') !== emailId(after.email ?? '')) tell(before, newEmail({ place }))
    },
  }
}

export type Notices = ReturnType<typeof notices>
