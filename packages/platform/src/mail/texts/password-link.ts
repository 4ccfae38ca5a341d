import type { MailText } from '../layout.js'

/** By which a password is set. @param place such as `ai.example` @param isAsked whether by the e-mail; otherwise an administrator sends it */
export const passwordLink = ({
  place,
  url,
  minutes,
  isAsked,
}: {
  place: string
  url: string
  minutes: number
  isAsked: boolean
}): MailText => ({
  subject: 'Set a new password',
  before: [
    isAsked
      ? `Somebody, probably you, has forgotten the password of this e-mail address at ${place}.`
      : `An administrator of ${place} has sent you this link, to set your password.`,
  ],
  link: { name: 'Set a new password', url },
  after: [
    `The link works once, for ${minutes} minutes. You are signed out everywhere when the new password is set.`,
    'If you do not want a new password, do nothing: the one that you have stays.',
  ],
})
