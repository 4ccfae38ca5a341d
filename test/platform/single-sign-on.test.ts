import { afterAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import type { Issuer } from '../support/issuer.js'
import { signInAt, startIssuer } from '../support/issuer.js'
import { accountOf, BASE_URL, begin, comeBack, cookiesOf, failed, settingsOf, signInBy } from './sso.js'
import type { World } from './world.js'
import { pairSuite, PASSWORD, startWorld, uuid, worldSuite } from './world.js'

const issuer = await startIssuer({ baseUrl: BASE_URL })
const quiet = await startIssuer({ baseUrl: BASE_URL, id: 'quiet', inIdToken: false })
const ofGroups = {
  domains: ['staff.example'],
  roleClaim: 'groups',
  roles: { admin: ['operators'], developer: ['engineers'] },
}
const env: Record<string, string> = {
  BASE_URL,
  SIGN_UP: 'invited',
  SIGN_IN: JSON.stringify([
    settingsOf(issuer, { domains: ['Example.com'], signOut: true }),
    settingsOf(quiet, { id: 'quiet', name: 'Quiet', ...ofGroups }),
  ]),
}
afterAll(() => Promise.all([issuer.close(), quiet.close()]))

let people = 0
/** Somebody at both issuers whom the platform does not know. */
function newcomer(more: object = {}): { sub: string; email: string } {
  const sub = `person-${++people}-${crypto.randomUUID().slice(0, 8)}`
  const account = {
    email: `${sub}@example.com`,
    email_verified: true,
    given_name: 'Ada',
    family_name: 'Lovelace',
    ...more,
  }
  for (const { accounts } of [issuer, quiet]) accounts.set(sub, account)
  return { sub, email: account.email }
}

async function signInQuietly(world: World, sub: string) {
  const begun = await begin(world, {}, { provider: 'quiet' })
  return comeBack(world, await signInAt(quiet, begun.body.url, sub), cookiesOf(begun))
}

worldSuite(
  'single sign-on',
  (world) => {
    it('is told of', async () => {
      expect((await world().ask('GET', '/api/auth/options')).body).toMatchObject({
        passwords: true,
        providers: [
          { id: 'oidc', name: 'The issuer' },
          { id: 'quiet', name: 'Quiet' },
        ],
      })
      expect((await begin(world(), {}, { provider: 'other' })).status).toBe(404)
      expect((await comeBack(world(), `${BASE_URL}/api/auth/callback/other?state=x`, '')).status).toBe(404)
    })

    it('makes an account for who has an e-mail of the domain, and signs in to it again', async () => {
      const { sub, email } = newcomer()
      const first = await signInBy(world(), issuer, sub, { returnTo: '/console#/files' })
      expect(first).toMatchObject({ status: 303, to: `${BASE_URL}/console#/files` })
      const { body } = await accountOf(world(), first.session)
      expect(body).toMatchObject({
        id: uuid,
        email,
        role: 'user',
        provider: 'oidc',
        first_name: 'Ada',
        last_name: 'Lovelace',
      })
      // What they are called there may change, not who they are.
      issuer.accounts.set(sub, { email: 'other@example.com', email_verified: false })
      const second = await signInBy(world(), issuer, sub)
      expect(second).toMatchObject({ status: 303, to: `${BASE_URL}/console` })
      expect((await accountOf(world(), second.session)).body).toMatchObject({ id: body.id, email })
      expect(await world().call('verify')).toEqual([])
    })

    it('reads the claims that are not in the ID token', async () => {
      const { sub, email } = newcomer({ groups: [] })
      await world().call('createUser', { email })
      expect((await accountOf(world(), (await signInQuietly(world(), sub)).session)).body).toMatchObject({ email })
    })

    it('links a user who has the verified e-mail', async () => {
      const { id, email } = await world().person('developer')
      const { sub } = newcomer({ email: email.toUpperCase() })
      const { session } = await signInBy(world(), issuer, sub)
      // Who has a password still signs in by it.
      expect((await accountOf(world(), session)).body).toMatchObject({ id, role: 'developer', provider: 'password' })
      expect((await world().ask('POST', '/api/auth', { body: { email, password: PASSWORD } })).status).toBe(200)
      const made = await world().call<{ id: string }>('createUser', { email: `made-${email}` })
      const other = newcomer({ email: `made-${email}` })
      const linked = await accountOf(world(), (await signInBy(world(), issuer, other.sub)).session)
      expect(linked.body).toMatchObject({ id: made.id, provider: 'oidc' })
      const admin = await world().signedIn('admin')
      const log = await world().ask<{ data: object[] }>('GET', '/admin/audit?limit=50', { as: admin })
      expect(log.body.data).toContainEqual(
        expect.objectContaining({ action: 'user.link', actor: made.id, target: made.id, detail: 'oidc' }),
      )
    })

    it('threat 157: an account that was made with the key of an administrator, by its e-mail', async () => {
      const admin = await world().signedIn('admin')
      const made = await world().ask<{ key: string }>('POST', '/api/keys', { as: admin, body: { name: 'stolen' } })
      const { email, sub } = newcomer()
      const user = await world().ask<{ id: string }>('POST', '/v1/users', {
        as: made.body.key,
        body: { email, role: 'admin' },
      })
      expect(await signInBy(world(), issuer, sub)).toMatchObject(failed('not-allowed'))
      // An administrator of the platform decides.
      await world().ask('PATCH', `/api/users/${user.body.id}`, { as: admin, body: { role: 'user' } })
      const { session } = await signInBy(world(), issuer, sub)
      expect((await accountOf(world(), session)).body).toMatchObject({ id: user.body.id, role: 'user' })
    })

    it('threat 154: an e-mail that looks like, or becomes, that of another is of nobody', async () => {
      const { email } = await world().call<{ email: string }>('createUser', {
        email: `kim-${crypto.randomUUID()}@example.com`,
      })
      for (const other of [email.replace('k', '\u212a'), `<${email}>`, `"${email.split('@')[0]}"@example.com`])
        expect(await signInBy(world(), issuer, newcomer({ email: other }).sub)).toMatchObject(failed('unverified'))
    })

    it('refuses who is not invited, has no verified e-mail, or was deleted', async () => {
      const stranger = newcomer({ email: 'ada@elsewhere.example' })
      expect(await signInBy(world(), issuer, stranger.sub)).toMatchObject(failed('not-allowed'))
      const below = newcomer({ email: 'ada@sub.example.com' })
      expect(await signInBy(world(), issuer, below.sub)).toMatchObject(failed('not-allowed'))
      for (const claims of [
        { email_verified: false },
        { email_verified: undefined },
        { email: undefined },
        { email: 'no' },
      ])
        expect(await signInBy(world(), issuer, newcomer(claims).sub)).toMatchObject(failed('unverified'))
      const { sub } = newcomer()
      const { id } = (await accountOf(world(), (await signInBy(world(), issuer, sub)).session)).body
      const as = await world().signedIn('admin')
      expect((await world().ask('DELETE', `/api/users/${id}`, { as })).status).toBe(204)
      expect(await signInBy(world(), issuer, sub)).toMatchObject(failed('not-allowed'))
      // Another account there, with the e-mail of the one who was deleted.
      const again = newcomer({ email: `${sub}@example.com` })
      expect(await signInBy(world(), issuer, again.sub)).toMatchObject(failed('not-allowed'))
      await world().call('restore', id)
      expect((await accountOf(world(), (await signInBy(world(), issuer, sub)).session)).body).toMatchObject({ id })
      // Erased: the identity is free, and whoever comes is somebody else.
      await world().ask('DELETE', `/api/users/${id}`, { as })
      expect((await world().ask('DELETE', `/api/users/${id}?permanent=true`, { as })).status).toBe(204)
      const anew = (await accountOf(world(), (await signInBy(world(), issuer, sub)).session)).body
      expect([anew.email, anew.id === id]).toEqual([`${sub}@example.com`, false])
      expect(await world().call('verify')).toEqual([])
    })

    it('threat 156: uses up an invitation, with its role and credits, where the e-mail is that of the link', async () => {
      const admin = await world().signedIn('admin')
      const invite = (email: string) =>
        world().ask<{ id: string; url: string }>('POST', '/api/invitations', {
          as: admin,
          body: { email, role: 'developer', creditCoins: 70 },
        })
      const { sub, email } = newcomer({ email: `invited-${++people}@elsewhere.example` })
      await invite(email)
      const { session } = await signInBy(world(), issuer, sub)
      expect((await accountOf(world(), session)).body).toMatchObject({ email, role: 'developer', provider: 'oidc' })
      const balance = await world().ask('GET', '/api/account/balance', { headers: { cookie: session! } })
      expect(balance.body).toMatchObject({ credit_coins: 70 })
      const open = await world().ask<{ email: string }[]>('GET', '/api/invitations', { as: admin })
      expect(open.body.map((one) => one.email)).not.toContain(email)
      // Who has opened the link has the e-mail of it, where the issuer knows none.
      const invited = `work-${people}@elsewhere.example`
      const other = newcomer({ email: `private-${people}@elsewhere.example`, email_verified: false })
      const { id } = (await invite(invited)).body
      const hash = await world().call<{ link: string }>('get', 'invitation', id)
      expect(hash.link).toMatch(/^[0-9a-f]{64}$/)
      const token = await world().call<string>('invitationToken', invited)
      // A link that was given to somebody else makes no account that two can open.
      const victim = newcomer({ email: `victim-${people}@elsewhere.example` })
      expect(await signInBy(world(), issuer, victim.sub, { token })).toMatchObject(failed('other-email'))
      const joined = await signInBy(world(), issuer, other.sub, { token })
      expect((await accountOf(world(), joined.session)).body).toMatchObject({
        email: invited,
        role: 'developer',
      })
      // It works once.
      expect(await signInBy(world(), issuer, newcomer({ email: 'x@elsewhere.example' }).sub, { token })).toMatchObject(
        failed('not-allowed'),
      )
      expect(await world().call('verify')).toEqual([])
    })

    it('grants the role of the groups at each sign-in', async () => {
      const { sub } = newcomer({ email: `staff-${++people}@staff.example`, groups: ['engineers', 'others'] })
      const session = async () => (await signInQuietly(world(), sub)).session
      const developer = await session()
      expect((await accountOf(world(), developer)).body).toMatchObject({ role: 'developer', provider: 'quiet' })
      const key = await world().ask<{ key: string }>('POST', '/api/keys', {
        body: { name: 'k' },
        headers: { cookie: developer!, 'sec-fetch-site': 'same-origin' },
      })
      const models = () => world().ask('GET', '/v1/models', { as: key.body.key })
      expect((await models()).status).toBe(200)
      // A role that its user has put down stays down.
      const headers = { cookie: developer!, 'sec-fetch-site': 'same-origin' }
      await world().ask('PATCH', '/api/account/role', { body: { role: 'user' }, headers })
      expect((await accountOf(world(), await session())).body).toMatchObject({
        role: 'user',
        granted_role: 'developer',
      })
      Object.assign(quiet.accounts.get(sub)!, { groups: ['operators', 'engineers'] })
      expect((await accountOf(world(), await session())).body).toMatchObject({ role: 'admin' })
      expect((await models()).status).toBe(200)
      delete quiet.accounts.get(sub)!['groups']
      expect((await accountOf(world(), await session())).body).toMatchObject({ role: 'user' })
      expect((await models()).status).toBe(401)
    })

    it('ends where the person cancels', async () => {
      expect(await signInBy(world(), issuer, null)).toMatchObject(failed('cancelled'))
      expect(await world().call('errors')).toEqual([])
    })

    it('takes two tabs of a browser at once', async () => {
      const { sub } = newcomer()
      const first = await begin(world(), { returnTo: '/console#/one' })
      const cookie = cookiesOf(first)
      const second = await begin(world(), { returnTo: '/console#/two' }, { cookie })
      expect(cookiesOf(second)).toBe(cookie)
      const backs = [await signInAt(issuer, first.body.url, sub), await signInAt(issuer, second.body.url, sub)]
      const ends = await Promise.all(backs.toReversed().map((back) => comeBack(world(), back, cookie)))
      expect(ends.map(({ to }) => to)).toEqual([`${BASE_URL}/console#/two`, `${BASE_URL}/console#/one`])
      const ids = await Promise.all(ends.map(async ({ session }) => (await accountOf(world(), session)).body.id))
      expect(new Set(ids).size).toBe(1)
      expect(await world().call('verify')).toEqual([])
    })

    it('is over after ten minutes', async () => {
      const begun = await begin(world())
      const back = await signInAt(issuer, begun.body.url, newcomer().sub)
      await world().advance(600_000)
      expect(await comeBack(world(), back, cookiesOf(begun))).toMatchObject(failed('over'))
    })

    it('tells where to sign out at the issuer', async () => {
      const signOut = (cookie: string) =>
        world().ask<{ url: string | null }>('POST', '/api/auth/sign-out', {
          headers: { cookie, 'sec-fetch-site': 'same-origin' },
        })
      const { sub } = newcomer()
      const { session } = await signInBy(world(), issuer, sub)
      const { status, body, headers } = await signOut(session!)
      expect([status, headers.getSetCookie()[0]]).toEqual([200, expect.stringContaining('__Host-session=; Max-Age=0')])
      const url = new URL(body.url!)
      expect([url.origin, url.searchParams.get('post_logout_redirect_uri')]).toEqual([
        issuer.url,
        `${BASE_URL}/console`,
      ])
      expect(url.searchParams.get('id_token_hint')).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+$/)
      expect((await accountOf(world(), session)).status).toBe(401)
      const { email } = await world().person()
      const { cookie } = await world().signIn(email, { cookie: true })
      expect((await signOut(cookie!)).body).toEqual({ url: null })
      expect((await signOut(cookie!)).status).toBe(401)
    })

    it('keeps the ID token with the sign-in, and tells it to nobody', async () => {
      const { sub } = newcomer()
      const { session } = await signInBy(world(), issuer, sub)
      const { body } = await world().ask<object[]>('GET', '/api/account/sign-ins', { headers: { cookie: session! } })
      expect(Object.keys(body[0]!)).not.toContain('id_token')
      expect(JSON.stringify(body)).not.toContain('ey')
      const stored = (await world().call<[string[], object][]>('dump')).filter(([, value]) =>
        JSON.stringify(value).includes('id_token'),
      )
      expect(new Set(stored.map(([key]) => key[0]))).toEqual(new Set(['sign-in']))
    })
  },
  env,
)

pairSuite(
  'single sign-on',
  (pair) => {
    it('begins at one and ends at the other', async () => {
      const [one, other] = pair()
      const { sub, email } = newcomer()
      const begun = await begin(one)
      const back = await signInAt(issuer, begun.body.url, sub)
      const { session } = await comeBack(other, back, cookiesOf(begun))
      expect((await accountOf(one, session)).body).toMatchObject({ email })
    })
  },
  env,
)

describe('an issuer that is down', () => {
  it('keeps nobody from starting, and is asked again', async () => {
    const port = await freePort()
    const late = { url: `http://127.0.0.1:${port}`, clientId: 'turnpike', clientSecret: 'x' } as Issuer
    const world = await startWorld('memory', { BASE_URL, SIGN_IN: JSON.stringify([settingsOf(late)]) })
    const refused = await begin(world)
    expect(refused).toMatchObject({ status: 503, body: { error: 'The issuer cannot be reached; try again later' } })
    const started = await startIssuer({ baseUrl: BASE_URL, port })
    expect((await begin(world)).body.url).toContain(`${late.url}/auth?`)
    await started.close()
    await world.kill()
  })
})

worldSuite(
  'single sign-on without passwords',
  (world) => {
    it('refuses passwords everywhere', async () => {
      const made = newcomer()
      const { session } = await signInBy(world(), issuer, made.sub)
      await world().call('setRole', (await accountOf(world(), session)).body.id, 'admin')
      const headers = { cookie: session!, 'sec-fetch-site': 'same-origin' }
      const { id } = (await accountOf(world(), session)).body
      const password = 'correct horse battery'
      const asked: [string, string, object?][] = [
        ['POST', '/api/auth', { email: made.email, password }],
        ['POST', '/api/auth/forgotten', { email: made.email }],
        ['POST', '/api/auth/sign-up', { email: 'new@example.com' }],
        ['PUT', '/api/auth/link', { token: 'x', password }],
        ['PUT', '/api/account/password', { current: password, password }],
        ['PUT', `/api/users/${id}/password`, { password }],
        ['POST', `/api/users/${id}/password-link`],
        ['POST', '/api/users', { email: 'new@example.com', password }],
      ]
      for (const [method, path, body] of asked)
        expect([path, await world().ask(method, path, { headers, ...(body && { body }) })]).toMatchObject([
          path,
          { status: 403, body: { error: 'Nobody signs in by password here' } },
        ])
      expect((await world().ask('GET', '/api/auth/options')).body).toMatchObject({ passwords: false })
      expect((await world().ask('POST', '/api/users', { headers, body: { email: 'made@example.org' } })).status).toBe(
        200,
      )
    })
  },
  { ...env, PASSWORDS: 'off' },
)

worldSuite(
  'single sign-on where nobody signs up',
  (world) => {
    it('lets in whom an administrator has added, and nobody else', async () => {
      expect(await signInBy(world(), issuer, newcomer().sub)).toMatchObject(failed('not-allowed'))
      const { sub, email } = newcomer()
      await world().call('createUser', { email })
      expect((await accountOf(world(), (await signInBy(world(), issuer, sub)).session)).body).toMatchObject({ email })
    })
  },
  { ...env, SIGN_UP: 'closed' },
)
