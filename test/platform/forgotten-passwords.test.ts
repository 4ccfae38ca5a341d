import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Smtp } from '../support/smtp.js'
import { linkIn, startSmtp, tokenOf } from '../support/smtp.js'
import type { World } from './world.js'
import { pairSuite, PASSWORD, unknownId, worldSuite } from './world.js'

const NEW = 'battery staple'
const BASE_URL = 'https://ai.example'

let smtp: Smtp
/** Set while the server of mail takes nothing. */
let held: Promise<void> | undefined
const env: Record<string, string> = { BASE_URL, TRUSTED_HOPS: '1' }
beforeAll(async () => {
  smtp = await startSmtp({
    async onConnect(_, done) {
      await held
      done()
    },
    onRcptTo: ({ address }, _, done) => done(address.startsWith('full-') ? new Error('The mailbox is full') : null),
  })
  env['SMTP_URL'] = smtp.url
})
afterAll(() => smtp.close())

let addresses = 0
/** Asks for a link, from an address of its own unless one is given. */
const forgotten = (world: World, email: string, from = `198.51.100.${++addresses}`) =>
  world.ask<{ error?: string }>('POST', '/api/auth/forgotten', {
    body: { email },
    headers: { 'x-forwarded-for': from },
  })
const use = (world: World, token: string, password = NEW) =>
  world.ask<{ email?: string; error?: string }>('PUT', '/api/auth/link', { body: { token, password } })
const look = (world: World, token: string) =>
  world.ask<{ kind?: string; email?: string }>('POST', '/api/auth/link', { body: { token } })
const signIn = async (world: World, email: string, password: string): Promise<number> =>
  (await world.ask('POST', '/api/auth', { body: { email, password } })).status
/** The audit log of a target. */
const logOf = async (world: World, target: string) => {
  const { body } = await world.ask<{ data: { action: string; actor: string; target: string; detail?: string }[] }>(
    'GET',
    '/admin/audit?limit=100',
    { as: await world.signedIn('admin') },
  )
  return body.data.filter((entry) => entry.target === target)
}
/** Asks for a link, and takes it from the mail. */
async function linkOf(world: World, email: string): Promise<string> {
  expect((await forgotten(world, email)).status).toBe(204)
  return linkIn(await smtp.next(email))
}
const newToken = async (world: World, email: string): Promise<string> => tokenOf(await linkOf(world, email))

worldSuite(
  'forgotten passwords',
  (world) => {
    it('are replaced by a link that is sent by mail', async () => {
      const ada = await world().signedIn('user', true)
      expect((await forgotten(world(), ada.email.toUpperCase())).status).toBe(204)
      const link = linkIn(await smtp.next(ada.email))
      expect(link).toMatch(/^https:\/\/ai\.example\/console#\/link\?token=[\w-]{43}$/)
      const message = smtp.received.find(({ to }) => to?.[0]?.address === ada.email)!
      expect(message).toMatchObject({
        subject: 'Set a new password',
        from: { name: 'Turnpike', address: 'no-reply@ai.example' },
        envelope: { from: 'no-reply@ai.example', to: [ada.email] },
      })
      expect(message.text).toContain('at ai.example.')
      const token = tokenOf(link)
      expect((await look(world(), token)).body).toMatchObject({ kind: 'password', email: ada.email })
      expect(await use(world(), token)).toMatchObject({ status: 200, body: { email: ada.email } })
      expect((await world().ask('GET', '/api/account', { as: ada })).status).toBe(401)
      expect((await world().ask('GET', '/api/account', { headers: { cookie: ada.cookie! } })).status).toBe(401)
      expect([await signIn(world(), ada.email, PASSWORD), await signIn(world(), ada.email, NEW)]).toEqual([401, 200])
      expect((await logOf(world(), ada.id)).slice(1)).toMatchObject([
        { action: 'user.password', actor: ada.id, detail: 'by a link' },
        { action: 'user.password-link', actor: 'unknown', detail: expect.stringMatching(/^198/) as unknown },
      ])
    })

    it('are replaced only by a password that could be one, and the link stays', async () => {
      const ada = await world().person()
      const token = await newToken(world(), ada.email)
      expect((await use(world(), token, 'short')).body.error).toContain('8 to 256 characters')
      expect((await use(world(), token)).status).toBe(200)
    })

    it('threat 120: a link that is used again, or kept, is over', async () => {
      const ada = await world().person()
      const [first, second, third] = [
        await newToken(world(), ada.email),
        await newToken(world(), ada.email),
        await newToken(world(), ada.email),
      ]
      const over = { status: 404, body: { error: 'This link is not valid, or not any more' } }
      expect((await use(world(), first)).status).toBe(200)
      expect(await use(world(), first, 'another one')).toMatchObject(over)
      expect(await look(world(), first)).toMatchObject(over)
      // The others were for the password of before.
      expect(await use(world(), second, 'another one')).toMatchObject(over)
      expect(await look(world(), third)).toMatchObject(over)
      expect(await signIn(world(), ada.email, NEW)).toBe(200)

      const grace = await world().person()
      const [moved, gone] = [await newToken(world(), grace.email), await newToken(world(), grace.email)]
      const admin = await world().signedIn('admin')
      const patch = (email: string) => world().ask('PATCH', `/api/users/${grace.id}`, { as: admin, body: { email } })
      await patch(`moved-${grace.email}`)
      expect(await use(world(), moved)).toMatchObject(over)
      await patch(grace.email)
      expect((await smtp.next(grace.email)).subject).toContain('e-mail')
      await world().ask('DELETE', `/api/users/${grace.id}`, { as: admin })
      expect(await use(world(), gone)).toMatchObject(over)
      await world().call('restore', grace.id)
      expect(await use(world(), gone)).toMatchObject(over)
      await world().advance(1)
      const late = await newToken(world(), grace.email)
      await world().advance(30 * 60_000 - 5_000)
      expect((await look(world(), late)).status).toBe(200)
      await world().advance(5_000)
      expect([await look(world(), late), await use(world(), late)]).toMatchObject([over, over])
      expect(await signIn(world(), grace.email, PASSWORD)).toBe(200)
    })

    it('threat 121: of several uses of a link at a time, one wins', async () => {
      const ada = await world().person()
      const token = await newToken(world(), ada.email)
      const passwords = ['the first one', 'the second one', 'the third one']
      await world().call('gather', 'password', 3)
      const statuses = (await Promise.all(passwords.map((one) => use(world(), token, one)))).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, 404, 404])
      const signedIn: number[] = []
      for (const one of passwords) signedIn.push(await signIn(world(), ada.email, one))
      expect(signedIn).toEqual(statuses.map((status) => (status === 200 ? 200 : 401)))
    })

    it('threat 122: links lead to the address that the operator gave, whatever host a request names', async () => {
      const ada = await world().person()
      const sent = request(`${world().url}/api/auth/forgotten`, {
        method: 'POST',
        agent: false,
        headers: {
          host: 'evil.example',
          'x-forwarded-host': 'evil.example',
          forwarded: 'host=evil.example',
          'content-type': 'application/json',
        },
      })
      sent.end(JSON.stringify({ email: ada.email }))
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.resume()
      expect(response.statusCode).toBe(204)
      const { text, html } = await smtp.next(ada.email)
      expect(`${text}${html}`).not.toContain('evil')
      expect(text).toContain('https://ai.example/console#/link?token=')
    })

    describe('threat 123: enumeration of e-mails', () => {
      it('answers the same to all e-mails', async () => {
        const [ada, gone] = [await world().person(), await world().person()]
        const admin = await world().signedIn('admin')
        await world().ask('DELETE', `/api/users/${gone.id}`, { as: admin })
        const keyless = `keyless-${ada.email}`
        await world().ask('POST', '/api/users', { as: admin, body: { email: keyless } })
        const answers: object[] = []
        for (const email of [ada.email, gone.email, keyless, `nobody-${ada.email}`, 'no e-mail']) {
          const { status, body, headers } = await forgotten(world(), email)
          const kept = [...headers.keys()].filter((name) => name !== 'x-request-id' && name !== 'date').toSorted()
          answers.push({ status, body, kept })
        }
        expect(answers.every((one) => JSON.stringify(one) === JSON.stringify(answers[0]))).toBe(true)
        expect(answers[0]).toMatchObject({ status: 204, body: '' })
        await smtp.next(ada.email)
        expect(smtp.received.flatMap(({ envelope }) => envelope.to)).not.toContain(gone.email)
        expect(smtp.received.flatMap(({ envelope }) => envelope.to)).not.toContain(keyless)
      })

      it('answers before it looks for the user, and before the mail is sent', async () => {
        const ada = await world().person()
        let release!: () => void
        held = new Promise((resolve) => (release = resolve))
        const before = smtp.received.length
        try {
          expect((await forgotten(world(), ada.email)).status).toBe(204)
          expect(smtp.received).toHaveLength(before)
        } finally {
          release()
          held = undefined
        }
        await smtp.next(ada.email)
      })

      it('refuses a network from which too many links are asked for', async () => {
        const ask = async (from: string): Promise<number> =>
          (await forgotten(world(), `nobody-${crypto.randomUUID()}@example.org`, from)).status
        const statuses: number[] = []
        for (let i = 0; i < 31; i++) statuses.push(await ask(`2001:db8:1:1::${i}`))
        expect(statuses).toEqual([...Array<number>(30).fill(204), 429])
        expect([await ask('2001:db8:9:1::1'), await ask('192.0.2.7')]).toEqual([204, 204])
        await world().advance(60_000)
        expect(await ask('2001:db8:1:1::1')).toBe(204)
      })

      it('refuses known and unknown e-mails alike where too many links are asked for', async () => {
        const [ada, nobody] = [(await world().person()).email, `nobody-${crypto.randomUUID()}@example.org`]
        for (const email of [ada, nobody]) {
          const statuses: number[] = []
          for (let i = 0; i < 6; i++) statuses.push((await forgotten(world(), email)).status)
          expect(statuses).toEqual([204, 204, 204, 204, 204, 429])
          // In whatever case.
          expect((await forgotten(world(), email.toUpperCase())).headers.get('retry-after')).toMatch(/^1[78]\d\d$/)
        }
        await world().advance(30 * 60_000)
        expect((await forgotten(world(), ada)).status).toBe(204)
      })
    })

    it('threat 124: a session that somebody planted is not the one of who sets a password and signs in', async () => {
      const [eve, ada] = [await world().signedIn('user', true), await world().person()]
      const token = await newToken(world(), ada.email)
      const headers = { cookie: eve.cookie!, 'sec-fetch-site': 'same-origin' }
      const used = await world().ask('PUT', '/api/auth/link', { body: { token, password: NEW }, headers })
      expect([used.status, used.headers.getSetCookie()]).toEqual([200, []])
      const entered = await world().ask('POST', '/api/auth', {
        body: { email: ada.email, password: NEW, cookie: true },
        headers,
      })
      const own = entered.headers.getSetCookie().find((one) => one.startsWith('__Host-session='))!
      expect(own.split(';')[0]).not.toBe(eve.cookie)
      const account = await world().ask<{ email: string }>('GET', '/api/account', { headers: { cookie: eve.cookie! } })
      expect(account.body.email).toBe(eve.email)
    })

    it('have no token in the store', async () => {
      const ada = await world().person()
      const token = await newToken(world(), ada.email)
      expect(JSON.stringify(await world().call('dump'))).not.toContain(token)
    })

    it('are told to administrators where the mail could not be sent', async () => {
      const email = `full-${crypto.randomUUID()}@example.org`
      const { id } = await world().call<{ id: string }>('createUser', { email, password: PASSWORD })
      expect((await forgotten(world(), email)).status).toBe(204)
      await expect
        .poll(async () => (await logOf(world(), id)).find(({ action }) => action === 'mail.fail'))
        .toMatchObject({ actor: 'mail', detail: expect.stringContaining('The mailbox is full') as unknown })
    })

    it('are replaced by a link that an administrator sends', async () => {
      const [admin, ada] = [await world().signedIn('admin'), await world().signedIn()]
      const send = (id: string) =>
        world().ask<{ mail?: string; url?: string; mail_error?: string }>('POST', `/api/users/${id}/password-link`, {
          as: admin,
        })
      const sent = await send(ada.id)
      expect(sent).toMatchObject({ status: 200, body: { mail: 'sent' } })
      expect(sent.body.url).toBeUndefined()
      const message = await smtp.next(ada.email)
      expect(message.text).toContain('An administrator of ai.example has sent you this link')
      expect((await use(world(), tokenOf(linkIn(message)))).status).toBe(200)
      expect((await logOf(world(), ada.id)).map(({ action, actor }) => [action, actor])).toEqual([
        ['user.password', ada.id],
        ['user.password-link', admin.id],
      ])
      // Also to somebody who has none yet.
      const email = `full-${crypto.randomUUID()}@example.org`
      const keyless = await world().ask<{ id: string }>('POST', '/api/users', { as: admin, body: { email } })
      const failed = await send(keyless.body.id)
      expect(failed.body).toMatchObject({ mail: 'failed' })
      expect(failed.body.mail_error).toContain('The mailbox is full')
      expect((await use(world(), tokenOf(failed.body.url!))).status).toBe(200)
      expect(await signIn(world(), email, NEW)).toBe(200)
      expect((await send(unknownId)).status).toBe(404)
    })
  },
  env,
)

pairSuite(
  'forgotten passwords',
  (pair) => {
    it('threat 121: of several uses of a link at a time, one at each process, one wins', async () => {
      const [one, other] = pair()
      const ada = await one.signedIn()
      const token = await newToken(one, ada.email)
      await one.call('gather', 'password', 2)
      const first = use(one, token, 'the first one')
      await expect.poll(() => one.call('gathered')).toBe(1)
      expect((await use(other, token, 'the second one')).status).toBe(200)
      await one.call('gather')
      expect((await first).status).toBe(404)
      expect([await signIn(one, ada.email, 'the first one'), await signIn(one, ada.email, 'the second one')]).toEqual([
        401, 200,
      ])
    })
  },
  env,
)

worldSuite(
  'forgotten passwords without mail',
  (world) => {
    it('are not asked for, and administrators hand a link on', async () => {
      expect((await world().ask('GET', '/api/auth/options')).body).toMatchObject({ mail: false })
      expect((await forgotten(world(), 'ada@example.org')).status).toBe(403)
      const [admin, ada] = [await world().signedIn('admin'), await world().signedIn()]
      const { body } = await world().ask<{ mail: string; url: string }>('POST', `/api/users/${ada.id}/password-link`, {
        as: admin,
        headers: { 'x-forwarded-host': 'evil.example' },
      })
      expect(body).toMatchObject({
        mail: 'none',
        url: expect.stringMatching(/^https:\/\/ai\.example\/console#\/link\?token=/) as unknown,
      })
      expect((await use(world(), tokenOf(body.url))).status).toBe(200)
      expect(await signIn(world(), ada.email, NEW)).toBe(200)
    })
  },
  { MAIL: 'off' },
)
