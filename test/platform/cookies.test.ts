import { expect, it } from 'vitest'
import type { AuthSession, World } from './world.js'
import { PASSWORD, withCookie, worldSuite } from './world.js'

/** platform.md 2.3, items 137 to 144. */
worldSuite('session cookies', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  /** A POST that changes something, by cookie. */
  const byCookie = async (headers: Record<string, string>): Promise<number> => {
    const { cookie } = await world().signedIn('user', true)
    return (await ask('POST', '/api/sessions', { body: {}, ...withCookie(cookie, headers) })).status
  }

  it('#137 answers a cookie with an access token', async () => {
    const ada = await world().signedIn('user', true)
    const { status, body } = await ask<AuthSession>('GET', '/api/auth/session', withCookie(ada.cookie))
    expect([status, body]).toMatchObject([200, { token_type: 'bearer', user: { id: ada.id } }])
    expect(body).not.toHaveProperty('refresh_token')
    expect((await ask('GET', '/api/account', { as: body.access_token })).status).toBe(200)
    expect((await ask('GET', '/api/auth/session')).status).toBe(401)
    expect((await ask('GET', '/api/auth/session', withCookie('__Host-session=wrong'))).status).toBe(401)
  })

  it('#138 sets a cookie that only this host gets, over TLS, out of reach of scripts', async () => {
    const { email } = await world().person()
    const { headers } = await ask('POST', '/api/auth', {
      body: { email, password: PASSWORD, cookie: true },
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    const device = expect.stringMatching(
      /^__Host-device=[\w-]{64}; Max-Age=15552000; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    )
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
      device,
    ])
    const plain = await ask('POST', '/api/auth', { body: { email, password: PASSWORD } })
    expect(plain.headers.getSetCookie()).toEqual([device])
  })

  it('#139 replaces a cookie that was planted, and has a new one for each sign-in', async () => {
    const { email } = await world().person('developer')
    const planted = '__Host-session=planted'
    const first = await world().signIn(email, { cookie: true, headers: { cookie: planted } })
    const second = await world().signIn(email, { cookie: true, headers: { cookie: first.cookie! } })
    expect(new Set([planted, first.cookie, second.cookie]).size).toBe(3)
    expect((await ask('GET', '/api/account', withCookie(planted))).status).toBe(401)
    // Another role, another cookie.
    const role = await ask('PATCH', '/api/account/role', {
      body: { role: 'user' },
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
})
