import { expect, it } from 'vitest'
import type { AuthSession, World } from './world.js'
import { withCookie, worldSuite } from './world.js'

const MINUTE = 60_000

worldSuite('stolen tokens', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const refresh = (refresh_token: string) => ask<AuthSession>('PUT', '/api/auth', { body: { refresh_token } })
  const account = async (as: string): Promise<number> => (await ask('GET', '/api/account', { as })).status
  const session = (as: string) => ask<AuthSession>('GET', '/api/auth/session', { as })

  it('threat 44: an access token that renews itself, is answered with itself', async () => {
    const ada = await world().signedIn('user', true)
    const first = (await session(ada.access)).body
    await world().advance(10 * MINUTE)
    const { status, body, headers } = await session(ada.access)
    expect(status).toBe(200)
    // Whatever is answered is good for no longer than what was sent.
    expect(body.expires_at).toBe(first.expires_at)
    expect(body.expires_in).toBeLessThanOrEqual(300)
    expect(body).toMatchObject({ token_type: 'bearer', user: { id: ada.id } })
    expect(body).not.toHaveProperty('refresh_token')
    expect(headers.getSetCookie()).toEqual([])
    await world().advance(5 * MINUTE)
    expect([await account(ada.access), await account(body.access_token)]).toEqual([401, 401])
    // The cookie of the same sign-in gets another one, which gets no further one either.
    const { access_token } = (await ask<AuthSession>('GET', '/api/auth/session', withCookie(ada.cookie))).body
    expect((await session(access_token)).body.access_token).toBe(access_token)
  })

  it('threat 44: a refresh token whose answer arrived, is good for 10 seconds', async () => {
    const bob = await world().signedIn()
    const { access_token } = (await refresh(bob.refresh)).body
    expect(await account(access_token)).toBe(200)
    await world().advance(11_000)
    expect((await refresh(bob.refresh)).status).toBe(401)
    const log = await ask<{ data: object[] }>('GET', '/admin/audit?limit=20', { as: await world().signedIn('admin') })
    expect(log.body.data).toContainEqual(expect.objectContaining({ action: 'sign-in.reuse', actor: bob.id }))
  })

  it('threat 44: an old refresh token, is not good because another was used just now', async () => {
    const ada = await world().signedIn()
    const second = (await refresh(ada.refresh)).body
    const third = (await refresh(second.refresh_token)).body
    // The one before it is, as tabs that refresh at once have it.
    expect((await refresh(second.refresh_token)).body.refresh_token).toBe(third.refresh_token)
    expect((await refresh(ada.refresh)).status).toBe(401)
    expect([await account(third.access_token), (await refresh(third.refresh_token)).status]).toEqual([401, 401])
  })
})
