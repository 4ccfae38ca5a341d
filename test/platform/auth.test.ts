// Longer than 250 lines: one list of items, on one platform.
import { generateKeyPair, SignJWT, UnsecuredJWT, base64url, decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, it } from 'vitest'
import type { AuthSession, Reply, SignedIn, World } from './world.js'
import { PASSWORD, withCookie, worldSuite } from './world.js'

const MINUTE = 60_000
const DAY = 86_400_000

/** platform.md 2.3, items 125 to 136, 145 to 147 and 150. */
worldSuite('signing in', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const signIn = (email: string, password = PASSWORD, headers?: Record<string, string>): Promise<Reply<AuthSession>> =>
    ask('POST', '/api/auth', { body: { email, password }, ...(headers && { headers }) })
  const refresh = (refresh_token: string): Promise<Reply<AuthSession>> =>
    ask('PUT', '/api/auth', { body: { refresh_token } })
  const account = async (as: SignedIn | string): Promise<number> => (await ask('GET', '/api/account', { as })).status
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
    const next = await ask<AuthSession>('PUT', '/api/auth', { body: { refreshToken: body.refresh_token } })
    expect([next.status, next.body.user.id]).toEqual([200, ada.id])
  })

  it('#132 answers older tokens with the current one for 10 seconds, and the one before until the answer has arrived', async () => {
    const ada = await world().signedIn()
    const second = (await refresh(ada.refresh)).body.refresh_token
    expect((await refresh(ada.refresh)).body.refresh_token).toBe(second)
    const third = (await refresh(second)).body
    expect(await account(third.access_token)).toBe(200)
    await world().advance(9_000)
    for (const token of [ada.refresh, second])
      expect((await refresh(token)).body.refresh_token).toBe(third.refresh_token)
    // This answer is lost, so that nothing of it is used.
    const fourth = (await refresh(third.refresh_token)).body.refresh_token
    await world().advance(6 * DAY)
    expect((await refresh(third.refresh_token)).body.refresh_token).toBe(fourth)
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

  it('threat 19: refresh token theft, one that is used in step with its owner ends the sign-in', async () => {
    for (const thief of ['after', 'before'] as const) {
      const ada = await world().signedIn()
      let [own, stolen] = [ada.refresh, ada.refresh]
      const statuses: number[] = []
      const use = async (token: string): Promise<string> => {
        const { status, body } = await refresh(token)
        statuses.push(status)
        if (status === 200) expect(await account(body.access_token)).toBe(200)
        return body.refresh_token
      }
      for (let round = 0; round < 2 && !statuses.includes(401); round++) {
        if (thief === 'before') stolen = await use(stolen)
        await world().advance(11_000)
        own = await use(own)
        await world().advance(11_000)
        if (thief === 'after') stolen = await use(stolen)
      }
      expect([thief, statuses]).toEqual([thief, [200, 401]])
      expect((await refresh(thief === 'after' ? own : stolen)).status).toBe(401)
      const admin = await world().signedIn('admin')
      const log = await ask<{ data: object[] }>('GET', '/admin/audit?limit=20', { as: admin })
      expect(log.body.data).toContainEqual(expect.objectContaining({ action: 'sign-in.reuse', actor: ada.id }))
    }
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
