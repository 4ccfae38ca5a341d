import { expect, it } from 'vitest'
import type { SignedIn } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

const NEW = 'battery staple'

worldSuite('passwords', (world) => {
  const signIn = async (email: string, password: string): Promise<number> =>
    (await world().ask('POST', '/api/auth', { body: { email, password } })).status
  const change = (as: SignedIn, body: object, headers: Record<string, string> = {}) =>
    world().ask<{ error?: string }>('PUT', '/api/account/password', { as, body, headers })
  const isSignedIn = async (as: SignedIn): Promise<boolean> =>
    (await world().ask('GET', '/api/account', { as })).status === 200
  const log = async (as: SignedIn, target: string) => {
    const { body } = await world().ask<{ data: { action: string; actor: string; target: string }[] }>(
      'GET',
      '/admin/audit?limit=100',
      { as },
    )
    return body.data.filter((entry) => entry.action === 'user.password' && entry.target === target)
  }

  it('are changed by their users, who stay signed in here and nowhere else', async () => {
    const admin = await world().signedIn('admin')
    const ada = await world().signedIn('user', true)
    const elsewhere = await world().ask<{ access_token: string }>('POST', '/api/auth', {
      body: { email: ada.email, password: PASSWORD },
    })
    const there = { ...ada, access: elsewhere.body.access_token }
    const reply = await change(ada, { current: PASSWORD, password: NEW })
    expect(reply.status).toBe(204)
    // The cookie of before may have been seen by somebody who knew the password.
    expect(reply.headers.get('set-cookie')).toMatch(/session=/)
    const byCookie = (cookie: string) => world().ask('GET', '/api/account', { headers: { cookie } })
    expect((await byCookie(ada.cookie!)).status).toBe(401)
    expect((await byCookie(reply.headers.get('set-cookie')!.split(';')[0]!)).status).toBe(200)
    expect([await isSignedIn(ada), await isSignedIn(there)]).toEqual([true, false])
    expect([await signIn(ada.email, PASSWORD), await signIn(ada.email, NEW)]).toEqual([401, 200])
    expect(await log(admin, ada.id)).toMatchObject([{ actor: ada.id }])
  })

  it('threat 186: end what was made of a cookie, where they are changed by it', async () => {
    const ada = await world().signedIn('user', true)
    const session = async (cookie: string) =>
      (await world().ask<{ access_token: string }>('GET', '/api/auth/session', { headers: { cookie } })).body
    const stolen = (await session(ada.cookie!)).access_token
    const body = { current: PASSWORD, password: NEW }
    const headers = { cookie: ada.cookie!, 'sec-fetch-site': 'same-origin' }
    const changed = await world().ask('PUT', '/api/account/password', { body, headers })
    expect(changed.status).toBe(204)
    const cookie = changed.headers.getSetCookie()[0]!.split(';')[0]!
    const statusOf = async (as: string): Promise<number> => (await world().ask('GET', '/api/account', { as })).status
    expect([await statusOf(stolen), await statusOf(ada.access)]).toEqual([401, 401])
    const mine = (await session(cookie)).access_token
    expect(await statusOf(mine)).toBe(200)
    // An old refresh token is one that was used twice: nobody goes on by it.
    const refresh = () => world().ask('PUT', '/api/auth', { body: { refresh_token: ada.refresh } })
    expect([(await refresh()).status, await statusOf(mine)]).toEqual([401, 401])
  })

  it('are refused where they are too short or too long, or the current one is wrong', async () => {
    const ada = await world().signedIn()
    for (const password of ['short', 'x'.repeat(257)])
      expect((await change(ada, { current: PASSWORD, password })).body.error).toContain('8 to 256 characters')
    const wrong = await change(ada, { current: 'another one', password: NEW })
    expect([wrong.status, wrong.body]).toEqual([403, { error: 'The current password is wrong' }])
    const same = await change(ada, { current: PASSWORD, password: PASSWORD })
    expect([same.status, same.body]).toEqual([400, { error: 'The new password is the current one' }])
    expect(await signIn(ada.email, PASSWORD)).toBe(200)
  })

  it('threat 149: are changed as often as one likes, with ten entries of the audit log a minute', async () => {
    const [admin, ada] = [await world().signedIn('admin'), await world().signedIn()]
    const words = [PASSWORD, NEW]
    for (let i = 0; i < 14; i++)
      expect((await change(ada, { current: words[i % 2]!, password: words[(i + 1) % 2]! })).status).toBe(204)
    expect(await log(admin, ada.id)).toHaveLength(11)
  })

  it('threat 125: are refused where they are among the most common, or names of their user', async () => {
    const [admin, ada] = [await world().signedIn('admin'), await world().signedIn()]
    const send = async (method: string, path: string, body: object): Promise<unknown[]> => {
      const answer = await world().ask<{ error?: string }>(method, path, { as: admin, body })
      return [answer.status, answer.body.error]
    }
    const common = [400, 'password must not be one of the most common ones']
    const own = [400, 'password must not be a name or the e-mail of its user']
    const linked = async (password: string): Promise<unknown[]> =>
      send('PUT', '/api/auth/link', { token: await world().call('passwordLink', ada.id), password })
    for (const [password, refused] of [
      ['Password123', common],
      [ada.email, own],
    ] as const) {
      const own = await change(ada, { current: PASSWORD, password })
      expect([own.status, own.body.error]).toEqual(refused)
      expect(await send('PUT', `/api/users/${ada.id}/password`, { password })).toEqual(refused)
      expect(await linked(password)).toEqual(refused)
    }
    const made = { email: 'countess@example.org', firstName: 'Augusta', lastName: 'King' }
    expect(await send('POST', '/api/users', { ...made, password: 'iloveyou' })).toEqual(common)
    for (const password of ['augusta1815', 'Augusta King', 'Countess!'])
      expect(await send('POST', '/api/users', { ...made, password })).toEqual(own)
    const { body } = await world().ask<{ id: string }>('POST', '/api/users', { as: admin, body: made })
    expect(await send('PUT', `/api/users/${body.id}/password`, { password: 'Augusta1815' })).toEqual(own)
    expect(await signIn(ada.email, PASSWORD)).toBe(200)
  })

  it('threat 107: a stolen session by which the password is guessed, or the owner locked out, is refused like sign-ins', async () => {
    const ada = await world().signedIn()
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await change(ada, { current: `guess ${i}`, password: NEW })).status)
    statuses.push((await change(ada, { current: PASSWORD, password: NEW })).status)
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
    expect((await change(ada, { password: NEW })).status).toBe(400)
  })

  it('are changed once where two change them at a time', async () => {
    const ada = await world().signedIn()
    const both = await Promise.all(
      ['the first one', 'the second one'].map((password) => change(ada, { current: PASSWORD, password })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 403])
    const works = await Promise.all(['the first one', 'the second one'].map((one) => signIn(ada.email, one)))
    expect(works).toEqual(both.map(({ status }) => (status === 204 ? 200 : 401)))
  })

  it('are set by administrators, which ends all sign-ins', async () => {
    const [admin, ada] = [await world().signedIn('admin'), await world().signedIn('user', true)]
    const set = (id: string, password: string) =>
      world().ask<{ error?: string }>('PUT', `/api/users/${id}/password`, { as: admin, body: { password } })
    expect((await set(ada.id, 'short')).status).toBe(400)
    expect((await set('nobody', NEW)).status).toBe(404)
    expect((await set(ada.id, NEW)).status).toBe(204)
    expect(await isSignedIn(ada)).toBe(false)
    expect([await signIn(ada.email, PASSWORD), await signIn(ada.email, NEW)]).toEqual([401, 200])
    expect(await log(admin, ada.id)).toMatchObject([{ actor: admin.id }])
    const patched = await world().ask<{ error: string }>('PATCH', `/api/users/${ada.id}`, {
      as: admin,
      body: { password: NEW },
    })
    expect([patched.status, patched.body.error]).toEqual([400, 'password: is changed by PUT /api/users/{id}/password'])
  })
})
