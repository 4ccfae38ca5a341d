import * as v from 'valibot'
import { MAIL_STATES } from './mail/post.js'
import { time } from './schemas.js'

/** Not in spec.md: how people sign in. */
export const SignInOptions = v.object({
  /** Whether links can be sent to people who have forgotten their password. */
  mail: v.boolean(),
})

/** Not in spec.md: what a link that was sent to somebody is for. */
export const Link = v.object({
  kind: v.picklist(['password']),
  email: v.string(),
  expires_at: time,
})

const delivery = {
  /** Whether it was sent; `none` where no mail is set up. */
  mail: v.picklist(MAIL_STATES),
  /** Why it was not sent. */
  mail_error: v.optional(v.string()),
}

/** Not in spec.md: a link that was sent or, where it was not, is to be handed on. */
export const SentLink = v.object({
  ...delivery,
  /** Absent where it was sent. */
  url: v.optional(v.string()),
  expires_at: time,
})
