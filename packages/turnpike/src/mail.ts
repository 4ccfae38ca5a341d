/** Messages to people: by SMTP, or as a program sends them. @module */
import type { Mailer } from '@turnpike/platform'
import { ConfigError } from './config/faults.js'
import type { Config } from './config/schema.js'
import { openByPrefix } from './open-by-prefix.js'

/** Milliseconds for a connection, its greeting, and each answer: an administrator waits for them. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 }

/**
 * Sends messages by SMTP, by the package nodemailer, over a connection of its own for each.
 * @param options.url such as `smtps://user:password@smtp.example`
 * @param options.from the sender, such as `Turnpike <no-reply@ai.example>`
 * @example const mail = await smtpMailer({ url: 'smtps://user:password@mail.example', from: 'no-reply@ai.example' })
 */
export async function smtpMailer({ url, from }: { url: string; from: string }): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(
    { ...TIMEOUTS, url, disableFileAccess: true, disableUrlAccess: true },
    { from, headers: { 'Auto-Submitted': 'auto-generated' } },
  )
  return {
    async send({ to, subject, text, html }) {
      // As an object it is one address, whatever characters it has.
      await transport.sendMail({ to: { name: '', address: to }, subject, text, html })
    },
  }
}

/**
 * Opens what messages are sent by; undefined where they are not sent.
 * @throws ConfigError where a setting is missing, or the package nodemailer
 */
export async function openMail({ mail = {}, server, platform }: Config): Promise<Mailer | undefined> {
  if (!('send' in mail) && mail.url === undefined) {
    if (platform.signUp !== 'open' || platform.signInProviders?.length) return undefined
    throw new ConfigError(['platform.signUp (SIGN_UP) as open needs mail (SMTP_URL), by which e-mails are verified'])
  }
  if (server.baseUrl === undefined && platform.linkPage === undefined)
    throw new ConfigError(['mail needs server.baseUrl (BASE_URL), which links in messages begin with'])
  if ('send' in mail) return mail
  const { url = '', from } = mail
  if (from === undefined) throw new ConfigError(['mail.url (SMTP_URL) needs mail.from (MAIL_FROM)'])
  const open = (): Promise<Mailer> => smtpMailer({ url, from })
  return openByPrefix('SMTP_URL', url, { 'smtp://': open, 'smtps://': open })
}
