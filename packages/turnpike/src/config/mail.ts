/** Settings of messages to people. @module */
import { parseUrl } from '@turnpike/core/helpers'
import type { Mailer } from '@turnpike/platform'
import * as v from 'valibot'
import { matching, section, setting } from './values.js'

const expected = 'smtps://USER:PASSWORD@HOST or smtp://…, with special characters of the password as %40'
const SmtpUrl = v.pipe(
  matching(/^smtps?:\/\/[^/]/, expected),
  v.check((url) => parseUrl(url) !== undefined, expected),
)

const Smtp = section({
  url: setting('The SMTP server; smtps:// begins with TLS, smtp:// takes it where the server has it.', SmtpUrl),
  from: setting(
    'The sender, such as Turnpike <no-reply@ai.example>.',
    matching(/^[^\p{Cc}]*[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u, 'an e-mail address, or NAME <ADDRESS>'),
  ),
})

const isMailer = (value: unknown): value is Mailer =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Mailer>).send === 'function'
const Made = v.custom<Mailer>(isMailer)

export const Mail = v.lazy((given): typeof Smtp | typeof Made => (isMailer(given) ? Made : Smtp))
