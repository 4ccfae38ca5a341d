import { generateKeyPair, SignJWT, UnsecuredJWT, base64url, decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, it } from 'vitest'
import type { Reply, SignedIn, World } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

interface AuthSession {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  expires_at: number
  user: { id: string; email: string; metadata: object }
}

const MINUTE = 60_000
const DAY = 86_400_000

/** platform.md 2.3, items 125 to 150. */
worldSuite('signing in', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const signIn = (email: string, password = PASSWORD, headers?: Record<string, string>): Promise<Reply<AuthSession>> =>
    ask('POST', '/api/auth', { body: { email, password }, ...(headers && { headers }) })
  const refresh = (refresh_token: string): Promise<Reply<AuthSession>> =>
    ask('PUT', '/api/auth', { body: { refresh_token } })
  const account = async (as: SignedIn | string): Promise<number> => (await ask('GET', '/api/account', { as })).status
  const withCookie = (cookie: string | undefined, headers: Record<string, string> = {}) => ({
    headers: { cookie: cookie!, ...headers },
  })
  /** A POST that changes something, by cookie. */
  const byCookie = async (headers: Record<string, string>): Promise<number> => {
    const { cookie } = await world().signedIn('user', true)
    return (await ask('POST', '/api/sessions', { body: {}, ...withCookie(cookie, headers) })).status
  }

  it('#125 answers an AuthSession', async () => {
    const { id, email } = await world().person()
    const { status, body } = await signIn(email)
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string,
        refresh_token: expect.stringMatching(/^[\w-]{50}$/) as string,
        token_type: 'bearer',
        expires_in: 900,
        expires_at: expect.any(Number) as number,
        user: { id, email, metadata: { role: 'user', first_name: '', last_name: '', username: '' } },
      },
    ])
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    const { iat, exp, ...claims } = decodeJwt(body.access_token)
    expect([exp! - iat!, exp]).toEqual([900, body.expires_at])
    expect(claims).toMatchObject({ iss: 'turnpike', aud: 'turnpike', sub: id, role: 'user' })
  })

  it('#126 answers a wrong password, an unknown e-mail and a deleted user alike', async () => {
    const admin = await world().signedIn('admin')
    const [ada, gone] = [await world().person(), await world().person()]
    await ask('DELETE', `/api/users/${gone.id}`, { as: admin })
    const replies = [
      await signIn(ada.email, 'a wrong password'),
      await signIn('nobody@example.org', PASSWORD),
      await signIn(gone.email, PASSWORD),
    ]
    for (const { status, body } of replies)
      expect([status, body]).toEqual([401, { error: 'Invalid email or password' }])
  })

  it('#127 refuses a body without e-mail or password', async () => {
    for (const body of [{ email: 'a@b.c' }, { password: PASSWORD }, {}, { email: 1, password: PASSWORD }])
      expect((await ask('POST', '/api/auth', { body })).status).toBe(400)
  })

  it('#128 takes the access token as bearer', async () => {
    const ada = await world().signedIn()
    const { status, body } = await ask<object>('GET', '/api/account', { as: ada })
    expect([status, body]).toMatchObject([200, { id: ada.id, email: ada.email }])
    expect((await ask('GET', '/api/account', { headers: { authorization: `bearer ${ada.access}` } })).status).toBe(200)
  })

  it('#129 refuses an expired token', async () => {
    const ada = await world().signedIn()
    expect(await account(ada)).toBe(200)
    await world().advance(900_000)
    expect(await account(ada)).toBe(401)
  })

  it('#130 refuses every token that it did not sign as it signs', async () => {
    const ada = await world().signedIn()
    const claims = decodeJwt(ada.access)
    const { kid } = decodeProtectedHeader(ada.access)
    const { body: jwks } = await ask<{ keys: { kid: string; x: string }[] }>('GET', '/.well-known/jwks.json')
    const { privateKey } = await generateKeyPair('ES256')
    const secret = new TextEncoder().encode(JSON.stringify(jwks.keys.find((key) => key.kid === kid)))
    const header = { alg: 'ES256', typ: 'at+jwt', kid: kid! }
    const [head, body, signature] = ada.access.split('.') as [string, string, string]
    const part = (value: object): string => base64url.encode(JSON.stringify(value))
    const forged: Record<string, string> = {
      'alg none': new UnsecuredJWT(claims).encode(),
      'alg none with a signature': `${part({ ...header, alg: 'none' })}.${body}.${signature}`,
      'HS256 by the public key': await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256' }).sign(secret),
      'another key': await new SignJWT(claims).setProtectedHeader(header).sign(privateKey),
      'a key in the header': await new SignJWT(claims)
        .setProtectedHeader({ ...header, jwk: { kty: 'EC' } } as never)
        .sign(privateKey),
      'another kid': `${part({ ...header, kid: 'none' })}.${body}.${signature}`,
      'another type': `${part({ ...header, typ: 'JWT' })}.${body}.${signature}`,
      'other claims': `${head}.${part({ ...claims, role: 'admin' })}.${signature}`,
      'no exp': `${head}.${part({ ...claims, exp: undefined })}.${signature}`,
      'another issuer': `${head}.${part({ ...claims, iss: 'else' })}.${signature}`,
      'another audience': `${head}.${part({ ...claims, aud: 'else' })}.${signature}`,
      'a cut signature': ada.access.slice(0, -4),
      'no token': 'abc',
      'a gateway key': 'gw-0123456789',
    }
    for (const [name, token] of Object.entries(forged)) expect([name, await account(token)]).toEqual([name, 401])
    expect(await account(ada)).toBe(200)
  })

  it('#131 answers a refresh with a new session and another token', async () => {
    const ada = await world().signedIn()
    const { status, body } = await refresh(ada.refresh)
    expect(status).toBe(200)
    expect(body.refresh_token).not.toBe(ada.refresh)
    expect(body).toMatchObject({ token_type: 'bearer', user: { id: ada.id } })
    expect(await account(body.access_token)).toBe(200)
    expect((await refresh(body.refresh_token)).status).toBe(200)
  })

  it('#132 answers the token before with the current one, at any time, and older ones for 10 seconds', async () => {
    const ada = await world().signedIn()
    const second = (await refresh(ada.refresh)).body.refresh_token
    expect((await refresh(ada.refresh)).body.refresh_token).toBe(second)
    const third = (await refresh(second)).body.refresh_token
    await world().advance(9_000)
    expect((await refresh(ada.refresh)).body.refresh_token).toBe(third)
    await world().advance(DAY)
    expect((await refresh(second)).body.refresh_token).toBe(third)
  })

  it('#133 ends the sign-in where an older token comes later, and tells the audit log', async () => {
    const ada = await world().signedIn()
    const second = (await refresh(ada.refresh)).body
    const third = (await refresh(second.refresh_token)).body
    expect(await account(third.access_token)).toBe(200)
    await world().advance(11_000)
    expect((await refresh(ada.refresh)).status).toBe(401)
    expect((await refresh(third.refresh_token)).status).toBe(401)
    expect(await account(third.access_token)).toBe(401)
    const admin = await world().signedIn('admin')
    const log = await ask<{ data: { action: string; actor: string }[] }>('GET', '/admin/audit?limit=20', { as: admin })
    expect(log.body.data).toContainEqual(expect.objectContaining({ action: 'sign-in.reuse', actor: ada.id }))
  })

  it('#134 answers ten refreshes at once with one token', async () => {
    const ada = await world().signedIn()
    const replies = await Promise.all(Array.from({ length: 10 }, () => refresh(ada.refresh)))
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const tokens = new Set(replies.map(({ body }) => body.refresh_token))
    expect(tokens.size).toBe(1)
    for (const { body } of replies) expect(await account(body.access_token)).toBe(200)
    expect((await refresh([...tokens][0]!)).status).toBe(200)
  })

  it('#135 refuses what is no refresh token', async () => {
    const ada = await world().signedIn()
    const flipped = ada.refresh.slice(0, -1) + (ada.refresh.endsWith('A') ? 'Q' : 'A')
    for (const token of ['garbage', flipped, ada.access]) expect((await refresh(token)).status).toBe(401)
    expect((await ask('PUT', '/api/auth', { body: {} })).status).toBe(400)
    expect((await ask('PUT', '/api/auth', { body: { refresh_token: 1 } })).status).toBe(400)
  })

  it('#136 signs out here, elsewhere or everywhere', async () => {
    const one = await world().signedIn()
    const [two, three] = [await world().signIn(one.email), await world().signIn(one.email)]
    const statuses = async () => [await account(one), await account(two), await account(three)]
    expect(await statuses()).toEqual([200, 200, 200])
    const gone = await ask('DELETE', '/api/auth', { as: one })
    expect([gone.status, gone.body, gone.headers.get('content-type')]).toEqual([204, '', null])
    expect(await statuses()).toEqual([401, 200, 200])
    expect((await refresh(one.refresh)).status).toBe(401)
    expect((await ask('DELETE', '/api/auth?scope=others', { as: two })).status).toBe(204)
    expect(await statuses()).toEqual([401, 200, 401])
    const four = await world().signIn(one.email)
    expect((await ask('DELETE', '/api/auth?scope=global', { as: two })).status).toBe(204)
    expect([await account(two), await account(four), (await refresh(four.refresh)).status]).toEqual([401, 401, 401])
    expect((await ask('DELETE', '/api/auth?scope=all', { as: await world().signIn(one.email) })).status).toBe(400)
  })

  it('#137 answers a cookie with an access token', async () => {
    const ada = await world().signedIn('user', true)
    const { status, body } = await ask<AuthSession>('GET', '/api/auth/session', withCookie(ada.cookie))
    expect([status, body]).toMatchObject([200, { token_type: 'bearer', user: { id: ada.id } }])
    expect(body).not.toHaveProperty('refresh_token')
    expect(await account(body.access_token)).toBe(200)
    expect((await ask('GET', '/api/auth/session')).status).toBe(401)
    expect((await ask('GET', '/api/auth/session', withCookie('__Host-session=wrong'))).status).toBe(401)
  })

  it('#138 sets a cookie that only this host gets, over TLS, out of reach of scripts', async () => {
    const { email } = await world().person()
    const { headers } = await ask('POST', '/api/auth', {
      body: { email, password: PASSWORD, cookie: true },
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
    ])
    expect((await signIn(email)).headers.getSetCookie()).toEqual([])
  })

  it('#139 replaces a cookie that was planted, and has a new one for each sign-in', async () => {
    const { email } = await world().person()
    const planted = '__Host-session=planted'
    const first = await world().signIn(email, { cookie: true, headers: { cookie: planted } })
    const second = await world().signIn(email, { cookie: true, headers: { cookie: first.cookie! } })
    expect(new Set([planted, first.cookie, second.cookie]).size).toBe(3)
    expect((await ask('GET', '/api/account', withCookie(planted))).status).toBe(401)
    // Another role, another cookie.
    const role = await ask('PATCH', '/api/account/role', {
      body: { role: 'developer' },
      ...withCookie(second.cookie, { 'sec-fetch-site': 'same-origin' }),
    })
    const third = role.headers.getSetCookie()[0]!.split(';', 1)[0]
    expect([role.status, third === second.cookie]).toEqual([200, false])
    expect((await ask('GET', '/api/account', withCookie(second.cookie))).status).toBe(401)
    expect((await ask('GET', '/api/account', withCookie(third))).status).toBe(200)
  })

  it('#140 refuses what another site sends by cookie', async () => {
    expect(await byCookie({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await byCookie({ origin: 'https://evil.example' })).toBe(403)
    expect(await byCookie({ origin: 'null' })).toBe(403)
    // A sign-in that sets a cookie is checked as well, so that nobody is signed in as somebody else.
    const { email } = await world().person()
    const body = { email, password: PASSWORD, cookie: true }
    expect((await ask('POST', '/api/auth', { body, headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  })
  it('#141 refuses what another origin of the same site sends', async () => {
    expect(await byCookie({ 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await byCookie({ origin: world().url.replace(/\d+$/, '1') })).toBe(403)
    expect(await byCookie({ 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(await byCookie({ origin: world().url })).toBe(200)
    expect(await byCookie({ referer: `${world().url}/console` })).toBe(200)
  })
  it('#142 refuses what does not say where it comes from', async () => expect(await byCookie({})).toBe(403))
  it('#143 takes a bearer token from everywhere', async () => {
    const ada = await world().signedIn()
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    expect((await ask('POST', '/api/sessions', { as: ada, body: {}, headers })).status).toBe(200)
  })
  it('#144 refuses a form', async () => {
    const { email } = await world().person()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect(
        (
          await ask('POST', '/api/auth', {
            body: JSON.stringify({ email, password: PASSWORD }),
            headers: { 'content-type': type },
          })
        ).status,
      ).toBe(400)
  })
  it('a bearer token wins over a cookie, and an invalid one is not forgiven for it', async () => {
    const [ada, bob] = [await world().signedIn(), await world().signedIn('user', true)]
    const both = await ask<{ id: string }>('GET', '/api/account', { as: ada, ...withCookie(bob.cookie) })
    expect(both.body.id).toBe(ada.id)
    for (const authorization of ['Bearer wrong', 'Basic YTpi', 'Bearer', ''])
      expect([
        authorization,
        (await ask('GET', '/api/account', withCookie(bob.cookie, { authorization }))).status,
      ]).toEqual([authorization, 401])
  })

  it('#145 lets nobody keep an answer', async () => {
    const ada = await world().signedIn('user', true)
    for (const reply of [
      await signIn(ada.email),
      await refresh(ada.refresh),
      await ask('GET', '/api/auth/session', withCookie(ada.cookie)),
      await signIn(ada.email, 'a wrong password'),
    ])
      expect([reply.headers.get('cache-control'), reply.headers.get('vary')]).toEqual([
        'private, no-store',
        'Cookie, Authorization',
      ])
  })

  it('#146 refuses the sixth failure in a minute, and then also the right password', async () => {
    const { email } = await world().person()
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await signIn(email.toUpperCase(), 'a wrong password')).status)
    const sixth = await signIn(email, 'a wrong password')
    const right = await signIn(email)
    expect([...statuses, sixth.status, right.status]).toEqual([401, 401, 401, 401, 401, 429, 429])
    for (const { headers } of [sixth, right]) {
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    }
    const other = await world().person()
    expect((await signIn(other.email)).status).toBe(200)
    await world().advance(MINUTE)
    expect((await signIn(email)).status).toBe(200)
  })
  it('#147 does not believe X-Forwarded-For', async () => {
    await world().advance(MINUTE)
    const statuses: number[] = []
    for (let i = 0; i < 31; i++) {
      const { status } = await signIn(`nobody-${i}@example.org`, PASSWORD, { 'x-forwarded-for': `10.0.0.${i}` })
      statuses.push(status)
    }
    expect(statuses).toEqual([...Array<number>(30).fill(401), 429])
    await world().advance(MINUTE)
  })

  it('#148 publishes public keys only', async () => {
    const { status, body, headers } = await ask<{ keys: object[] }>('GET', '/.well-known/jwks.json')
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=600'])
    expect(body.keys.length).toBeGreaterThanOrEqual(2)
    for (const key of body.keys) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    }
  })

  it('#149 takes tokens of an older key until they expire', async () => {
    await world().advance(11 * MINUTE)
    const ada = await world().signedIn()
    expect(await world().call('rotate')).toBe(true)
    // The next key has to be published before it is used.
    expect(await world().call('rotate')).toBe(false)
    expect(await account(ada)).toBe(200)
    const bob = await world().signedIn()
    expect(decodeProtectedHeader(bob.access).kid).not.toBe(decodeProtectedHeader(ada.access).kid)
    await world().advance(14 * MINUTE)
    expect([await account(ada), await account(bob)]).toEqual([200, 200])
    await world().advance(MINUTE)
    expect(await account(ada)).toBe(401)
  })

  it('#150 refuses a deleted user at once', async () => {
    const [admin, ada] = [await world().signedIn('admin'), await world().signedIn('user', true)]
    expect(await account(ada)).toBe(200)
    expect((await ask('DELETE', `/api/users/${ada.id}`, { as: admin })).status).toBe(204)
    expect(await account(ada)).toBe(401)
    expect((await ask('GET', '/api/account', withCookie(ada.cookie))).status).toBe(401)
    expect((await refresh(ada.refresh)).status).toBe(401)
    expect((await signIn(ada.email)).status).toBe(401)
  })

  it('ends a sign-in after 7 days without use, and after 30 in any case', async () => {
    let token = (await world().signedIn()).refresh
    for (let day = 0; day < 30; day += 6) {
      const { status, body } = await refresh(token)
      expect([day, status]).toEqual([day, 200])
      token = body.refresh_token
      await world().advance(6 * DAY)
    }
    expect((await refresh(token)).status).toBe(401)
    const idle = await world().signedIn()
    await world().advance(7 * DAY + 1)
    expect((await refresh(idle.refresh)).status).toBe(401)
  })

  it('keeps the last 20 sign-ins of a user', async () => {
    const first = await world().signedIn()
    const others: SignedIn[] = []
    for (let i = 0; i < 20; i++) others.push(await world().signIn(first.email))
    expect((await refresh(first.refresh)).status).toBe(401)
    expect((await refresh(others[0]!.refresh)).status).toBe(200)
    expect((await refresh(others[19]!.refresh)).status).toBe(200)
  })
})
