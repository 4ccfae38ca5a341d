import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Smtp } from '../support/smtp.js'
import { linkIn, startSmtp, tokenOf } from '../support/smtp.js'
import type { SignedIn } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

const NEW = 'battery staple'
const OVER = { status: 404, body: { error: 'This link is not valid, or not any more' } }

let smtp: Smtp
const env: Record<string, string> = { BASE_URL: 'https://ai.example', SIGN_UP: 'open', TRUSTED_HOPS: '1' }
beforeAll(async () => {
  smtp = await startSmtp({
    onRcptTo: ({ address }, _, done) => done(address.startsWith('full-') ? new Error(`<${address}> is full`) : null),
  })
  env['SMTP_URL'] = smtp.url
})
afterAll(() => smtp.close())

let people = 0
/** An e-mail that nobody has. */
const newEmail = (): string => `guest-${++people}-${crypto.randomUUID().slice(0, 8)}@example.org`
let addresses = 0

worldSuite(
  'what a link stands on',
  (world) => {
    const ask = (method: string, path: string, as: SignedIn | undefined, body?: object) =>
      world().ask<{ id?: string; error?: string }>(method, path, { ...(as && { as }), ...(body && { body }) })
    /** From an address of its own. */
    const send = (kind: 'forgotten' | 'sign-up', email: string) =>
      world().ask('POST', `/api/auth/${kind}`, {
        body: { email },
        headers: { 'x-forwarded-for': `198.51.100.${(addresses++ % 250) + 1}` },
      })
    const use = (token: string) => ask('PUT', '/api/auth/link', undefined, { token, password: NEW })
    const look = (token: string) => ask('POST', '/api/auth/link', undefined, { token })
    const tokenFor = async (email: string): Promise<string> => tokenOf(linkIn(await smtp.next(email)))

    it.each([
      ['is deleted', (id: string, as: SignedIn) => ask('DELETE', `/api/users/${id}`, as)],
      ['is none any more', (id: string, as: SignedIn) => ask('PATCH', `/api/users/${id}`, as, { role: 'developer' })],
    ])('threat 146: invitations and links of an administrator who %s are over', async (_, end) => {
      const [root, other] = [await world().signedIn('admin'), await world().signedIn('admin')]
      const guest = newEmail()
      await ask('POST', '/api/invitations', other, { email: guest, role: 'admin' })
      await ask('POST', `/api/users/${root.id}/password-link`, other)
      const tokens = [await tokenFor(guest), await tokenFor(root.email)]
      for (const token of tokens) expect((await look(token)).status).toBe(200)
      await end(other.id, root)
      for (const token of tokens) expect([await look(token), await use(token)]).toMatchObject([OVER, OVER])
      // What the ones who are there have made is as good as before.
      await ask('POST', `/api/users/${root.id}/password-link`, root)
      expect((await use(await tokenFor(root.email))).status).toBe(200)
    })

    it('threat 147: links of one kind that others ask for keep nobody from those of another', async () => {
      const ada = await world().person()
      for (let i = 0; i < 5; i++) await send('sign-up', ada.email)
      for (let i = 0; i < 5; i++) expect((await smtp.next(ada.email)).subject).toContain('account')
      expect((await send('sign-up', ada.email)).status).toBe(429)
      expect((await send('forgotten', ada.email)).status).toBe(204)
      expect((await use(await tokenFor(ada.email))).status).toBe(200)

      const guest = newEmail()
      for (let i = 0; i < 5; i++) await send('forgotten', guest)
      expect((await send('forgotten', guest)).status).toBe(429)
      expect((await send('sign-up', guest)).status).toBe(204)
      expect((await use(await tokenFor(guest))).status).toBe(200)
    })

    it('threat 148: a link whose e-mail is taken is over once that is told', async () => {
      const guest = newEmail()
      await send('sign-up', guest)
      await send('sign-up', guest)
      const [first, second] = [await tokenFor(guest), await tokenFor(guest)]
      expect((await use(first)).status).toBe(200)
      expect(await use(second)).toMatchObject({ status: 400, body: { error: 'The e-mail is taken' } })
      expect([await use(second), await look(second)]).toMatchObject([OVER, OVER])
    })

    it('an invitation ends where its e-mail gets an account in another way', async () => {
      const root = await world().signedIn('admin')
      const [made, moved] = [newEmail(), newEmail()]
      const invited: string[] = []
      for (const email of [made, moved]) {
        invited.push((await ask('POST', '/api/invitations', root, { email, role: 'admin' })).body.id!)
        await smtp.next(email)
      }
      const ada = await world().person()
      await ask('POST', '/api/users', root, { email: made, password: PASSWORD })
      await ask('PATCH', `/api/users/${ada.id}`, root, { email: moved })
      const { body } = await world().ask<{ id: string }[]>('GET', '/api/invitations', { as: root })
      expect(body.filter(({ id }) => invited.includes(id))).toEqual([])
    })

    it('threat 149: messages that are not accepted fill no log, and tell it no e-mail', async () => {
      const root = await world().signedIn('admin')
      for (let i = 0; i < 14; i++) expect((await send('sign-up', `full-${newEmail()}`)).status).toBe(204)
      const failures = async () => {
        const path = '/admin/audit?limit=100'
        const { body } = await world().ask<{ data: { action: string; detail: string }[] }>('GET', path, { as: root })
        return body.data.filter(({ action }) => action === 'mail.fail').map(({ detail }) => detail)
      }
      await expect.poll(async () => (await failures()).length).toBe(10)
      expect((await failures()).filter((detail) => detail.includes('@'))).toEqual([])
    })
  },
  env,
)
