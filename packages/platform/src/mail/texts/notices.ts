import type { MailText } from '../layout.js'

/** To a user whose password was set. @param place such as `ai.example` @param url where to sign in */
export const newPassword = ({ place, url }: { place: string; url: string }): MailText => ({
  subject: 'Your password was changed',
  before: [`The password of your account at ${place} was changed. Other sign-ins have ended.`],
  link: { name: 'Sign in', url },
  after: ['If it was not you, ask for a new password there at once, and tell an administrator.'],
})

/** To the e-mail that a user had. */
export const newEmail = ({ place }: { place: string }): MailText => ({
  subject: 'Your e-mail was changed',
  before: [
    `Your account at ${place} has another e-mail address now. You sign in with that one, and get messages there.`,
  ],
  after: ['If you do not expect this, tell an administrator.'],
})
