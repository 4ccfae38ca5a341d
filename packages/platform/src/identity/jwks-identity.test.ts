import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getUser, listAudit, memoryKV } from '@turnpike/core'
import type { Head } from '@turnpike/http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPlatform } from '../platform.js'
import { chainIdentity } from './identity.js'
import { jwksIdentity } from './jwks-identity.js'
import { passwordAuth } from './password-auth.js'

const issuer = 'https://idp.example/'
const audience = 'my-app'
const rsa = await generateKeyPair('RS256')
const jwk = { ...(await exportJWK(rsa.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
const jwks = { keys: [jwk] }
const seconds = (): number => Math.floor(Date.now() / 1_000)

const sign = (
  claims: object,
  { key = rsa.privateKey, alg = 'RS256', kid = 'k1', typ = 'JWT' as string | undefined } = {},
): Promise<string> =>
  new SignJWT({ iss: issuer, aud: audience, sub: 'idp|1', iat: seconds(), exp: seconds() + 60, ...claims })
    .setProtectedHeader({ alg, kid, ...(typ && { typ }) })
    .sign(key)

const head = (authorization?: string): Head => ({
  method: 'GET',
  header: (name) => (name === 'authorization' ? authorization : undefined),
  ip: () => '',
  origin: () => 'https://app.example',
})
const status = async (token: string, identity = jwksIdentity({ issuer, audience, jwks })): Promise<unknown> => {
  try {
    return (await identity.authenticate(head(`Bearer ${token}`)))?.userId ?? null
  } catch (error) {
    return (error as { status?: number }).status ?? (error as Error).message
  }
}

describe('jwksIdentity', () => {
  it('takes a token of the identity provider, and what it says of the user', async () => {
    const token = await sign({ email: 'ada@example.org', given_name: 'Ada', family_name: 'L', preferred_username: 1 })
    expect(await jwksIdentity({ issuer, audience, jwks }).authenticate(head(`bearer ${token}`))).toEqual({
      userId: 'idp|1',
      via: 'bearer',
      issuedAt: expect.any(Number) as number,
      profile: { email: 'ada@example.org', first_name: 'Ada', last_name: 'L', username: '', provider: 'jwks' },
    })
  })

  it('refuses what is not signed, for somebody else, too old or from the future', async () => {
    const other = await generateKeyPair('RS256')
    const refused: Record<string, Promise<string>> = {
      'another key': sign({}, { key: other.privateKey }),
      'another audience': sign({ aud: 'else' }),
      expired: sign({ exp: seconds() - 31 }),
      'no exp': sign({ exp: undefined }),
      'no sub': sign({ sub: undefined }),
      'a long sub': sign({ sub: 'x'.repeat(201) }),
      'an empty sub': sign({ sub: '' }),
      'from the future': sign({ iat: seconds() + 120 }),
      'an unknown key': sign({}, { kid: 'k2' }),
      HS256: sign({}, { key: new TextEncoder().encode(JSON.stringify(jwk)) as never, alg: 'HS256' }),
    }
    for (const [name, token] of Object.entries(refused)) expect([name, await status(await token)]).toEqual([name, 401])
    expect(await status(await sign({ exp: seconds() - 20 }))).toBe('idp|1')
  })

  it('takes access tokens only', async () => {
    for (const typ of ['JWT', 'at+jwt', 'application/AT+JWT', ''])
      expect(await status(await sign({}, { typ }))).toBe('idp|1')
    for (const typ of ['logout+jwt', 'secevent+jwt', 'dpop+jwt'])
      expect(await status(await sign({}, { typ }))).toBe(401)
  })

  it('knows nothing of tokens of another issuer, nor of other credentials', async () => {
    expect(await status(await sign({ iss: 'https://else.example/' }))).toBeNull()
    expect(await status('no-token')).toBeNull()
    expect(await jwksIdentity({ issuer, audience, jwks }).authenticate(head())).toBeNull()
  })

  it('takes no algorithm with a shared secret', () => {
    for (const algorithm of ['HS256', 'none'])
      expect(() => jwksIdentity({ issuer, audience, jwks, algorithms: [algorithm] })).toThrow(TypeError)
  })

  it('reads the keys from the issuer, and does not sign anybody out while it cannot', async () => {
    let up = true
    let reads = 0
    const server = createServer((_, response) => {
      reads++
      response.writeHead(up ? 200 : 500, { 'content-type': 'application/json' }).end(JSON.stringify(jwks))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close().closeAllConnections())
    await new Promise((resolve) => server.once('listening', resolve))
    const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const open = () => jwksIdentity({ issuer: here, audience })
    const token = await sign({ iss: here })
    const identity = open()
    expect([await status(token, identity), await status(token, identity), reads]).toEqual(['idp|1', 'idp|1', 1])
    up = false
    expect(await status(token, open())).toMatch(/200 OK/)
    expect(await status(token, identity)).toBe('idp|1')
  })
})

describe('an identity provider beside passwords', () => {
  const setUp = async () => {
    const kv = await memoryKV()
    const own = passwordAuth({ kv })
    const platform = createPlatform({ kv, identity: chainIdentity(own, jwksIdentity({ issuer, audience, jwks })) })
    const ask = async (token: string, path = '/api/account', method = 'GET') => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await platform.fetch(new Request(`http://x.example${path}`, { method, headers }))
      return [response.status, response.status === 200 ? await response.json() : null] as const
    }
    return { kv, platform, ask }
  }

  it('makes its users at their first request, once', async () => {
    const { kv, ask } = await setUp()
    const token = await sign({ email: 'ada@example.org', given_name: 'Ada' })
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(token)))
    for (const [status, body] of replies)
      expect([status, body]).toMatchObject([
        200,
        { id: 'idp|1', email: 'ada@example.org', first_name: 'Ada', role: 'user' },
      ])
    expect((await kv.get(['user-count']))!.value).toEqual({ users: 1 })
  })

  it('gives nobody the account of another by e-mail', async () => {
    const { kv, platform, ask } = await setUp()
    const { id } = await platform.operations.users.create({ email: 'ada@example.org', role: 'admin' })
    const [status, body] = await ask(await sign({ email: 'ADA@example.org', email_verified: true }))
    expect([status, body]).toMatchObject([200, { id: 'idp|1', email: '', role: 'user' }])
    expect(await getUser(kv, id)).toMatchObject({ email: 'ada@example.org', role: 'admin' })
  })

  it('is not believed what it has not verified', async () => {
    const { platform, ask } = await setUp()
    for (const [i, email_verified] of [false, 'false', null, 0].entries())
      expect((await ask(await sign({ sub: `idp|${i}`, email: `${i}@example.org`, email_verified })))[1]).toMatchObject({
        id: `idp|${i}`,
        email: '',
      })
    expect(await platform.operations.users.find('0@example.org')).toBeNull()
    const user = () => ({ userId: 'a', profile: { email: 'a@example.org' } })
    const own = jwksIdentity({ issuer, audience, jwks, user })
    const emailOf = async (claims: object) =>
      (await own.authenticate(head(`Bearer ${await sign(claims)}`)))!.profile!.email
    expect([await emailOf({ email_verified: false }), await emailOf({})]).toEqual([null, 'a@example.org'])
    for (const email_verified of [true, 'true']) {
      const [sub, email] = [`idp|${typeof email_verified}`, `${typeof email_verified}@example.org`]
      expect((await ask(await sign({ sub, email, email_verified })))[1]).toMatchObject({ id: sub, email })
    }
  })

  it('stores neither an e-mail nor names that no body could have', async () => {
    const { ask } = await setUp()
    const bad = [
      'a\n b\0 not an address',
      'a\u202e@example.org',
      `${'a'.repeat(3_000)}@example.org`,
      '\ufb2c'.repeat(250) + '@x',
    ]
    for (const [i, email] of bad.entries())
      expect(
        await ask(
          await sign({
            sub: `idp|${i}`,
            email,
            given_name: 'A\0',
            family_name: 'L',
            preferred_username: 'x'.repeat(201),
          }),
        ),
      ).toMatchObject([200, { email: '', first_name: '', last_name: 'L', username: '' }])
  })

  it('has no users but its own', async () => {
    const { kv, platform, ask } = await setUp()
    const { users } = platform.operations
    const ada = await users.create({ email: 'ada@example.org', role: 'admin', password: 'correct horse' })
    const script = await users.create({ role: 'admin' })
    const elsewhere = await users.create({ id: 'idp|2', provider: 'other' })
    for (const { id } of [ada, script, elsewhere]) expect((await ask(await sign({ sub: id })))[0]).toBe(401)
    // As users of earlier versions are stored.
    await users.create({ id: 'idp|3', provider: 'jwks', role: 'developer' })
    expect(await ask(await sign({ sub: 'idp|3' }))).toMatchObject([200, { role: 'developer' }])

    const mine = (user: (sub: string) => { userId: string; profile?: { provider?: string } }) => {
      const identity = jwksIdentity({ issuer, audience, jwks, user: ({ sub }) => user(sub!) })
      const { fetch } = createPlatform({ kv, identity })
      return async (sub: string) => {
        const headers = { authorization: `Bearer ${await sign({ sub })}` }
        return (await fetch(new Request('http://x.example/api/account', { headers }))).status
      }
    }
    const other = mine((sub) => ({ userId: sub, profile: { provider: 'other' } }))
    expect([await other('idp|2'), await other('idp|3'), await other(ada.id)]).toEqual([200, 401, 401])
    expect([await other('idp|4'), await other('idp|4'), (await ask(await sign({ sub: 'idp|4' })))[0]]).toEqual([
      200, 200, 401,
    ])
    const silent = mine((sub) => ({ userId: sub, profile: {} }))
    expect([await silent('idp|5'), await silent('idp|5'), await silent(ada.id)]).toEqual([200, 200, 401])
    expect(await silent('x'.repeat(201))).toBe(401)
    // Who gives no profile says which users of the platform these are.
    expect(await mine((sub) => ({ userId: sub }))(ada.id)).toBe(200)
    const named = jwksIdentity({ issuer, audience, jwks, provider: 'staff' })
    expect((await named.authenticate(head(`Bearer ${await sign({})}`)))!.profile).toMatchObject({ provider: 'staff' })
  })

  it('ends with the deletion of its user, also where that is restored', async () => {
    const { platform, ask } = await setUp()
    const [before, after] = [await sign({ iat: seconds() - 10 }), await sign({ iat: seconds() + 10 })]
    expect((await ask(before))[0]).toBe(200)
    await platform.operations.users.remove('idp|1')
    expect([(await ask(before))[0], (await ask(after))[0]]).toEqual([401, 401])
    await platform.operations.users.restore('idp|1')
    expect([(await ask(before))[0], (await ask(after))[0]]).toEqual([401, 200])
  })

  it('has no users whose ids a store would take for the same', async () => {
    const { ask } = await setUp()
    for (const sub of ['', ' ', 'a\ud800', 'a\ud801', 'a\0', 'a\n'])
      expect((await ask(await sign({ sub })))[0]).toBe(401)
  })

  it('is in the audit log with the users that it makes', async () => {
    const { kv, ask } = await setUp()
    for (let i = 0; i < 2; i++) await ask(await sign({}))
    expect((await listAudit(kv)).items).toMatchObject([{ actor: 'idp|1', action: 'user.create', target: 'idp|1' }])
  })

  it('does not try another identity after an invalid credential', async () => {
    const { ask } = await setUp()
    expect((await ask(await sign({ aud: 'else' })))[0]).toBe(401)
    expect((await ask(await sign({}), '/api/auth/session'))[0]).toBe(401)
  })
})

it('a platform without an issuer of sessions has no /api/auth', async () => {
  const platform = createPlatform({ kv: await memoryKV(), identity: jwksIdentity({ issuer, audience, jwks }) })
  const request = new Request('http://x.example/api/auth', { method: 'POST', body: '{}' })
  expect((await platform.fetch(request)).status).toBe(404)
  await expect(platform.operations.users.create({ email: 'a@b.c', password: 'correct horse' })).rejects.toThrow(
    'elsewhere',
  )
})
