import * as v from 'valibot'
import { MAIL_STATES } from './mail/post.js'
import { count, id, Role, time } from './schemas.js'

/** Who may sign up: nobody, whoever is invited, or everybody. */
export const SIGN_UPS = ['closed', 'invited', 'open'] as const

/** How people sign in. */
export const SignInOptions = v.object({
  sign_up: v.picklist(SIGN_UPS),
  /** The domains of those who sign up; empty = any. */
  sign_up_domains: v.array(v.string()),
  /** Whether links can be sent to people who have forgotten their password. */
  mail: v.boolean(),
  /** Whether people sign in by password. */
  passwords: v.boolean(),
  /** The identity providers at which people sign in. */
  providers: v.array(v.object({ id: v.string(), name: v.string() })),
})

/** What a link that was sent to somebody is for. */
export const Link = v.object({
  kind: v.picklist(['password', 'invitation', 'sign-up']),
  email: v.string(),
  expires_at: time,
})

const delivery = {
  /** Whether it was sent; `none` where no mail is set up. */
  mail: v.picklist(MAIL_STATES),
  /** Why it was not sent. */
  mail_error: v.optional(v.string()),
}

/** A link that was sent or, where it was not, is to be handed on. */
export const SentLink = v.object({
  ...delivery,
  /** Absent where it was sent. */
  url: v.optional(v.string()),
  expires_at: time,
})

/** An invitation that is open. */
export const Invitation = v.object({
  id,
  email: v.string(),
  role: Role,
  /** Of the balance that the person begins with. */
  credit_coins: count,
  extra_projects: count,
  /** The id of an administrator. */
  invited_by: v.string(),
  ...delivery,
  /** The link to hand on, in the answer that makes it and where it was not sent. */
  url: v.optional(v.string()),
  created_at: time,
  expires_at: time,
})
