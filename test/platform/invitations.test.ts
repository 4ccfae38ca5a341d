import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Smtp } from '../support/smtp.js'
import { linkIn, startSmtp, tokenOf } from '../support/smtp.js'
import type { World } from './world.js'
import { aTime, pairSuite, unknownId, uuid, worldSuite } from './world.js'

interface Invitation {
  id: string
  email: string
  role: string
  mail: string
  mail_error?: string
  url?: string
}

const NEW = 'battery staple'
const OVER = { status: 404, body: { error: 'This link is not valid, or not any more' } }

let smtp: Smtp
const env: Record<string, string> = { BASE_URL: 'https://ai.example', SIGN_UP: 'invited', TRUSTED_HOPS: '1' }
beforeAll(async () => {
  smtp = await startSmtp({
    onRcptTo: ({ address }, _, done) => done(address.startsWith('full-') ? new Error('The mailbox is full') : null),
  })
  env['SMTP_URL'] = smtp.url
})
afterAll(() => smtp.close())

let people = 0
/** An e-mail that nobody has. */
const newEmail = (): string => `new-${++people}-${crypto.randomUUID().slice(0, 8)}@example.org`

const admins = new WeakMap<World, Awaited<ReturnType<World['signedIn']>>>()
async function adminOf(world: World) {
  const admin = admins.get(world) ?? (await world.signedIn('admin'))
  admins.set(world, admin)
  return admin
}
const invite = async (world: World, body: object) =>
  world.ask<Invitation & { error?: string }>('POST', '/api/invitations', { as: await adminOf(world), body })
const list = async (world: World) =>
  (await world.ask<Invitation[]>('GET', '/api/invitations', { as: await adminOf(world) })).body
const revoke = async (world: World, id: string) =>
  world.ask('DELETE', `/api/invitations/${id}`, { as: await adminOf(world) })
const look = (world: World, token: string) =>
  world.ask<{ kind?: string; email?: string; error?: string }>('POST', '/api/auth/link', { body: { token } })
const use = (world: World, token: string, more: object = {}) =>
  world.ask<{ email?: string; error?: string }>('PUT', '/api/auth/link', { body: { token, password: NEW, ...more } })
const signIn = (world: World, email: string) =>
  world.ask<{ access_token: string; user: { id: string } }>('POST', '/api/auth', { body: { email, password: NEW } })
const usersOf = async (world: World, email: string) =>
  (await world.ask<object[]>('GET', `/api/users?email=${email}`, { as: await adminOf(world) })).body

worldSuite(
  'invitations',
  (world) => {
    it('are sent by mail, and accepted with a name and a password', async () => {
      const email = newEmail()
      const given = { email, role: 'developer', creditCoins: 70, extraProjects: 2 }
      const made = await invite(world(), given)
      const admin = await adminOf(world())
      expect(made).toMatchObject({
        status: 200,
        body: { id: uuid, email, role: 'developer', credit_coins: 70, extra_projects: 2, invited_by: admin.id },
      })
      expect(made.body).toMatchObject({ mail: 'sent', created_at: aTime, expires_at: aTime })
      expect(made.body.url).toBeUndefined()
      expect((await list(world()))[0]).toEqual(made.body)
      const message = await smtp.next(email)
      expect(message.subject).toBe('You are invited to Turnpike')
      expect(message.text).toContain(`${admin.email} has invited you to Turnpike at ai.example.`)
      const token = tokenOf(linkIn(message))
      expect((await look(world(), token)).body).toMatchObject({ kind: 'invitation', email })
      expect((await use(world(), token, { password: 'short' })).status).toBe(400)
      const used = await use(world(), token, { firstName: 'Ada', last_name: 'Lovelace' })
      expect(used).toMatchObject({ status: 200, body: { email } })
      const { access_token: as, user } = (await signIn(world(), email)).body
      expect((await world().ask('GET', '/api/account', { as })).body).toMatchObject({
        email,
        first_name: 'Ada',
        last_name: 'Lovelace',
        role: 'developer',
        provider: 'password',
      })
      expect((await world().ask('GET', '/api/account/balance', { as })).body).toMatchObject({
        credit_coins: 70,
        extra_projects: 2,
        storage_gb: 0,
      })
      expect((await list(world())).map((one) => one.email)).not.toContain(email)
      const { body: log } = await world().ask<{ data: { action: string; actor: string; target: string }[] }>(
        'GET',
        '/admin/audit?limit=100',
        { as: admin },
      )
      const ofIt = log.data.filter(({ target }) => target === made.body.id || target === user.id)
      expect(ofIt.map(({ action, actor }) => [action, actor]).toSorted()).toEqual(
        [
          ['invitation.accept', user.id],
          ['invitation.create', admin.id],
          ['user.create', user.id],
        ].toSorted(),
      )
      expect(await world().call('verify')).toEqual([])
    })

    it('are not lost where the mail is not accepted', async () => {
      const email = `full-${newEmail()}`
      const { body } = await invite(world(), { email })
      expect(body).toMatchObject({ mail: 'failed', role: 'user' })
      expect(body.mail_error).toContain('The mailbox is full')
      const [listed] = await list(world())
      expect(listed).toMatchObject({ id: body.id, mail: 'failed', mail_error: body.mail_error })
      expect(listed).not.toHaveProperty('url')
      expect((await use(world(), tokenOf(body.url!))).status).toBe(200)
    })

    it('end at once where they are revoked, and after 7 days', async () => {
      const [email, other] = [newEmail(), newEmail()]
      const { id } = (await invite(world(), { email })).body
      await invite(world(), { email: other })
      const [token, late] = [tokenOf(linkIn(await smtp.next(email))), tokenOf(linkIn(await smtp.next(other)))]
      expect((await revoke(world(), id)).status).toBe(204)
      expect([(await revoke(world(), id)).status, (await revoke(world(), unknownId)).status]).toEqual([404, 404])
      expect([await look(world(), token), await use(world(), token)]).toMatchObject([OVER, OVER])
      expect((await list(world())).map((one) => one.email)).not.toContain(email)
      await world().advance(7 * 86_400_000 - 60_000)
      expect((await look(world(), late)).status).toBe(200)
      await world().advance(60_000)
      admins.delete(world())
      expect([await look(world(), late), await use(world(), late)]).toMatchObject([OVER, OVER])
    })

    it('of the same e-mail take the place of each other', async () => {
      const email = newEmail()
      const first = (await invite(world(), { email })).body
      const before = tokenOf(linkIn(await smtp.next(email)))
      await invite(world(), { email: email.toUpperCase(), role: 'developer' })
      const token = tokenOf(linkIn(await smtp.next(email.toUpperCase())))
      expect((await look(world(), before)).status).toBe(404)
      expect((await revoke(world(), first.id)).status).toBe(404)
      expect((await list(world())).filter((one) => one.email.toLowerCase() === email)).toHaveLength(1)
      expect((await use(world(), token)).status).toBe(200)
      expect(await usersOf(world(), email)).toMatchObject([{ role: 'developer' }])
      expect(await world().call('verify')).toEqual([])
    })

    it('are not made for an e-mail that is taken, nor accepted then', async () => {
      const { email } = await world().person()
      expect(await invite(world(), { email })).toMatchObject({ status: 400, body: { error: 'The e-mail is taken' } })
      const later = newEmail()
      await invite(world(), { email: later })
      const token = tokenOf(linkIn(await smtp.next(later)))
      await world().ask('POST', '/api/users', { as: await adminOf(world()), body: { email: later } })
      expect(await use(world(), token)).toMatchObject(OVER)
    })

    it('threat 120: a link that is used again makes no other account, also once the e-mail is free', async () => {
      const email = newEmail()
      await invite(world(), { email, role: 'admin' })
      const token = tokenOf(linkIn(await smtp.next(email)))
      expect((await use(world(), token)).status).toBe(200)
      expect(await use(world(), token)).toMatchObject(OVER)
      const { user } = (await signIn(world(), email)).body
      const moved = await world().ask('PATCH', `/api/users/${user.id}`, {
        as: await adminOf(world()),
        body: { email: newEmail() },
      })
      expect(moved.status).toBe(200)
      expect(await use(world(), token)).toMatchObject(OVER)
      expect(await usersOf(world(), email)).toEqual([])
    })

    it('threat 121: of several uses of an invitation at a time, one wins, and none once it is revoked', async () => {
      const email = newEmail()
      await invite(world(), { email })
      const token = tokenOf(linkIn(await smtp.next(email)))
      await world().call('gather', 'password', 3)
      const all = await Promise.all(['a', 'b', 'c'].map((firstName) => use(world(), token, { firstName })))
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, 404, 404])
      expect(await usersOf(world(), email)).toHaveLength(1)

      const other = newEmail()
      const { id } = (await invite(world(), { email: other })).body
      const late = tokenOf(linkIn(await smtp.next(other)))
      await world().call('gather', 'password', 2)
      const using = use(world(), late)
      await expect.poll(() => world().call('gathered')).toBe(1)
      expect((await revoke(world(), id)).status).toBe(204)
      await world().call('gather')
      expect(await using).toMatchObject(OVER)
      expect(await usersOf(world(), other)).toEqual([])
    })

    it('have no token in the store', async () => {
      const email = newEmail()
      await invite(world(), { email })
      const token = tokenOf(linkIn(await smtp.next(email)))
      expect(JSON.stringify(await world().call('dump'))).not.toContain(token)
    })

    it('are the only way in by default: nobody signs up', async () => {
      expect((await world().ask('GET', '/api/auth/options')).body).toEqual({
        sign_up: 'invited',
        sign_up_domains: [],
        mail: true,
        passwords: true,
        providers: [],
      })
      const asked = await world().ask('POST', '/api/auth/sign-up', { body: { email: newEmail() } })
      expect(asked).toMatchObject({ status: 403, body: { error: 'Only those who are invited sign up here' } })
    })
  },
  env,
)

pairSuite(
  'invitations',
  (pair) => {
    it('threat 121: of an invitation that is accepted at both at a time, one wins', async () => {
      const [one, other] = pair()
      const email = newEmail()
      await invite(one, { email })
      const token = tokenOf(linkIn(await smtp.next(email)))
      await one.call('gather', 'password', 2)
      const first = use(one, token, { firstName: 'first' })
      await expect.poll(() => one.call('gathered')).toBe(1)
      expect((await use(other, token, { firstName: 'second' })).status).toBe(200)
      await one.call('gather')
      expect(await first).toMatchObject(OVER)
      expect(await usersOf(one, email)).toMatchObject([{ first_name: 'second' }])
    })
  },
  env,
)

worldSuite(
  'invitations without mail',
  (world) => {
    it('are links to hand on', async () => {
      const email = newEmail()
      const { body } = await invite(world(), { email })
      expect(body).toMatchObject({ mail: 'none' })
      expect((await use(world(), tokenOf(body.url!))).status).toBe(200)
      expect((await signIn(world(), email)).status).toBe(200)
    })
  },
  { MAIL: 'off' },
)

worldSuite(
  'a closed sign-up',
  (world) => {
    it('takes no invitation, and no link of before', async () => {
      expect((await invite(world(), { email: newEmail() })).status).toBe(403)
      expect((await world().ask('POST', '/api/auth/sign-up', { body: { email: newEmail() } })).status).toBe(403)
      const token = await world().call<string>('linkOfBefore', newEmail())
      expect([(await look(world(), token)).status, (await use(world(), token)).status]).toEqual([403, 403])
    })
  },
  { SIGN_UP: 'closed' },
)

let addresses = 0
const signUp = (world: World, email: string) =>
  world.ask<{ error?: string }>('POST', '/api/auth/sign-up', {
    body: { email },
    headers: { 'x-forwarded-for': `198.51.100.${++addresses}` },
  })

const openEnv: Record<string, string> = { ...env, SIGN_UP: 'open', SIGN_UP_DOMAINS: 'Example.org,bücher.example' }
beforeAll(() => Object.assign(openEnv, { SMTP_URL: smtp.url }))

worldSuite(
  'an open sign-up',
  (world) => {
    it('verifies the e-mail by a link, and makes an account', async () => {
      const email = newEmail()
      expect(await signUp(world(), email)).toMatchObject({ status: 204, body: '' })
      expect(await usersOf(world(), email)).toEqual([])
      const message = await smtp.next(email)
      expect(message.subject).toBe('Finish signing up at Turnpike')
      const token = tokenOf(linkIn(message))
      expect((await look(world(), token)).body).toMatchObject({ kind: 'sign-up', email })
      expect((await use(world(), token, { firstName: 'Ada', role: 'admin' })).status).toBe(200)
      expect(await use(world(), token)).toMatchObject(OVER)
      expect(await usersOf(world(), email)).toMatchObject([{ role: 'user', first_name: 'Ada' }])
      expect((await signIn(world(), email)).status).toBe(200)
      const late = newEmail()
      await signUp(world(), late)
      const old = tokenOf(linkIn(await smtp.next(late)))
      await world().advance(86_400_000)
      admins.delete(world())
      expect(await use(world(), old)).toMatchObject(OVER)
    })

    it('threat 123: enumeration, who has an account is told by mail alone', async () => {
      const [ada, gone] = [await world().person(), await world().person()]
      await world().ask('DELETE', `/api/users/${gone.id}`, { as: await adminOf(world()) })
      const email = newEmail()
      const answers: unknown[] = []
      for (const one of [email, ada.email, gone.email]) {
        const { status, body } = await signUp(world(), one)
        answers.push([status, body])
      }
      expect(answers).toEqual([
        [204, ''],
        [204, ''],
        [204, ''],
      ])
      expect((await smtp.next(email)).subject).toBe('Finish signing up at Turnpike')
      const known = await smtp.next(ada.email)
      expect(known.subject).toBe('You have an account at Turnpike')
      expect(linkIn(known)).toBe('https://ai.example/console')
      expect(smtp.received.flatMap(({ envelope }) => envelope.to)).not.toContain(gone.email)
      const statuses: number[] = []
      for (let i = 0; i < 5; i++) statuses.push((await signUp(world(), ada.email)).status)
      expect(statuses).toEqual([204, 204, 204, 204, 429])
    })

    it('is for the domains that the operator lists, whatever their spelling', async () => {
      expect((await world().ask('GET', '/api/auth/options')).body).toEqual({
        sign_up: 'open',
        sign_up_domains: ['example.org', 'xn--bcher-kva.example'],
        mail: true,
        passwords: true,
        providers: [],
      })
      for (const email of ['ada@evil.example', 'ada@example.org.evil.example', 'ada@sub.example.org']) {
        const { status, body } = await signUp(world(), email)
        expect([status, body.error]).toEqual([403, expect.stringContaining('example.org or xn--bcher-kva.example')])
      }
      for (const email of ['ada@BÜCHER.example', 'grace@Example.Org'])
        expect((await signUp(world(), email)).status).toBe(204)
      // Whoever is invited may have any.
      expect((await invite(world(), { email: 'ada@evil.example' })).status).toBe(200)
    })
  },
  openEnv,
)
