import type { MailText } from '../layout.js'

/** By which an invited person makes an account. @param place such as `ai.example` @param by who invites */
export const invitation = ({
  place,
  url,
  days,
  by,
}: {
  place: string
  url: string
  days: number
  by: string
}): MailText => ({
  subject: 'You are invited to Turnpike',
  before: [`${by} has invited you to Turnpike at ${place}.`],
  link: { name: 'Accept the invitation', url },
  after: [
    `The link works once, for ${days} days. It asks for your name and a password.`,
    'If you do not know what this is about, do nothing: there is no account until the invitation is accepted.',
  ],
})
