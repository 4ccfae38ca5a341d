import type { MailText } from '../layout.js'

/** By which somebody who signs up shows that the e-mail is theirs. @param place such as `ai.example` */
export const signUp = ({ place, url, hours }: { place: string; url: string; hours: number }): MailText => ({
  subject: 'Finish signing up at Turnpike',
  before: [`Somebody, probably you, signs up at ${place} with this e-mail address.`],
  link: { name: 'Finish signing up', url },
  after: [
    `The link works once, for ${hours} hours. It asks for your name and a password.`,
    'If it was not you, do nothing: there is no account until the link is used.',
  ],
})

/** To somebody who signs up, and has an account. @param url where to sign in */
export const hasAccount = ({ place, url }: { place: string; url: string }): MailText => ({
  subject: 'You have an account at Turnpike',
  before: [`Somebody, probably you, signs up at ${place} with this e-mail address, which has an account already.`],
  link: { name: 'Sign in', url },
  after: ['If you have forgotten the password, ask for a new one there. If it was not you, do nothing.'],
})
