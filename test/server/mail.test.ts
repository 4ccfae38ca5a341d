import { createClient } from '@turnpike/client'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import type { Smtp } from '../support/smtp.js'
import { linkIn, startSmtp, tokenOf } from '../support/smtp.js'

const [BASE_URL, MAIL_FROM] = ['https://ai.example', 'Turnpike <no-reply@ai.example>']
const PASSWORD = 'the password of the tests'

describe('mail of the server', () => {
  const opened: { smtp?: Smtp; server?: Server } = {}
  afterEach(async () => {
    await opened.server?.stop()
    await opened.smtp?.close()
    delete opened.server
    delete opened.smtp
  })

  /** Starts a server, whose administrator sends a link to somebody with an e-mail. */
  async function sendLink(SMTP_URL: string, email = 'ada@example.org') {
    const server = (opened.server = await startServer({ BASE_URL, SMTP_URL, MAIL_FROM }))
    const client = createClient({ baseUrl: server.url })
    await client.signIn({ email: 'admin@localhost', password: PASSWORD })
    const { id } = await client.post('/api/users', { body: { email } })
    return { server, client, sent: await client.post('/api/users/{id}/password-link', { params: { id } }) }
  }

  const startSecured = async (): Promise<Smtp> =>
    (opened.smtp = await startSmtp({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        username === 'turnpike@ai.example' && password === 'p@ss'
          ? done(null, { user: username })
          : done(new Error('Wrong name or password')),
    }))
  const withUser = ({ url }: Smtp, user: string): string => url.replace('//', `//${user}@`)

  it('is sent by SMTP, with a name and a password', async () => {
    const smtp = await startSecured()
    const { sent, client } = await sendLink(withUser(smtp, 'turnpike%40ai.example:p%40ss'))
    expect(sent).toEqual({ mail: 'sent', expires_at: sent.expires_at })
    expect(await client.get('/api/auth/options')).toMatchObject({ mail: true })
    const message = await smtp.next('ada@example.org')
    expect(message).toMatchObject({
      from: { name: 'Turnpike', address: 'no-reply@ai.example' },
      to: [{ name: '', address: 'ada@example.org' }],
      subject: 'Set a new password',
    })
    expect(message.headers).toContainEqual(expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }))
    const body = { token: tokenOf(linkIn(message)), password: 'battery staple' }
    expect(await client.put('/api/auth/link', { body })).toEqual({ email: 'ada@example.org' })
  })

  it('goes to one address, whatever characters that has', async () => {
    const smtp = (opened.smtp = await startSmtp())
    for (const email of ["o'hara+x@example.org", 'ada=eve/{x}|~#$&*@example.org']) {
      const { sent, server } = await sendLink(smtp.url, email)
      await server.stop()
      const to = smtp.received.splice(0).flatMap(({ envelope }) => envelope.to)
      // What the server of mail does not take is said to be so.
      expect([email, sent.mail === 'sent' ? 1 : 0]).toEqual([email, to.length])
      expect(to.filter((address) => address.replaceAll(/["\\]/g, '') !== email)).toEqual([])
    }
  })

  it('that is not accepted is told to the administrator, with the link to hand on', async () => {
    const smtp = await startSecured()
    const { sent, server } = await sendLink(withUser(smtp, 'turnpike%40ai.example:another-password'))
    expect(sent).toMatchObject({
      mail: 'failed',
      url: expect.stringMatching(/^https:\/\/ai\.example\/console#\/link/) as unknown,
    })
    expect(sent.mail_error).toContain('Wrong name or password')
    await expect.poll(server.output).toContain('"mail":"Set a new password"')
    expect(server.output()).not.toContain('another-password')
    await server.stop()
    const away = await sendLink(`smtp://127.0.0.1:${await freePort()}`)
    expect(away.sent).toMatchObject({ mail: 'failed', mail_error: expect.stringContaining('ECONNREFUSED') as unknown })
  })

  it('goes to no server without TLS where the URL says so', async () => {
    const smtp = (opened.smtp = await startSmtp())
    const { sent } = await sendLink(`${smtp.url}?requireTLS=true`)
    expect(sent).toMatchObject({ mail: 'failed' })
    expect(smtp.received).toEqual([])
  })

  it.each([
    [{ BASE_URL, SMTP_URL: 'smtp://localhost' }, 'mail.url (SMTP_URL) needs mail.from (MAIL_FROM)'],
    [{ SMTP_URL: 'smtp://localhost', MAIL_FROM }, 'mail needs server.baseUrl (BASE_URL)'],
    [{ BASE_URL, SMTP_URL: 'localhost', MAIL_FROM }, 'SMTP_URL must be smtps://USER:PASSWORD@HOST'],
    [{ BASE_URL, SMTP_URL: 'smtp://a:secret@[b', MAIL_FROM }, 'SMTP_URL must be smtps://USER:PASSWORD@HOST'],
    [{ BASE_URL, SMTP_URL: 'smtp://localhost', MAIL_FROM: 'Turnpike' }, 'MAIL_FROM must be an e-mail address'],
  ])('of %j is refused at the start', async (env, why) => {
    const failed = await startServer(env).catch((error: Error) => error)
    expect(failed).toBeInstanceOf(Error)
    expect((failed as Error).message).toContain(why)
    expect((failed as Error).message).not.toContain('secret')
  })
})
