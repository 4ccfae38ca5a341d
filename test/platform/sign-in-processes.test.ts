import { expect, it } from 'vitest'
import type { AuthSession, World } from './world.js'
import { pairSuite, PASSWORD } from './world.js'

/** Two processes on one store, which has the clock of the failures. */
pairSuite(
  'sign-ins',
  (pair) => {
    const world = (i: number): World => pair()[i % 2]!
    const signIn = async (at: number, email: string, from: string, password: string, cookie = ''): Promise<number> => {
      const headers = { 'x-forwarded-for': from, cookie }
      return (await world(at).ask('POST', '/api/auth', { body: { email, password }, headers })).status
    }
    const refresh = (at: number, refresh_token: string) =>
      world(at).ask<AuthSession>('PUT', '/api/auth', { body: { refresh_token } })
    const account = async (at: number, as: string): Promise<number> =>
      (await world(at).ask('GET', '/api/account', { as })).status

    it('threat 37: lock-out, a device of one process is known to the other, and a network that failed refused', async () => {
      const { email } = await world(0).person()
      const { device } = await world(0).signIn(email, { headers: { 'x-forwarded-for': '203.0.113.1' } })
      const guesses: number[] = []
      for (let i = 0; i < 6; i++) guesses.push(await signIn(i, email, `10.${i}.0.1`, 'a wrong password'))
      expect(guesses).toEqual([401, 401, 401, 401, 401, 429])
      expect([
        await signIn(0, email, '10.5.0.9', PASSWORD),
        await signIn(1, email, '10.5.0.9', PASSWORD, device),
        await signIn(0, email, '198.51.100.7', PASSWORD),
      ]).toEqual([429, 200, 200])
      for (let i = 0; i < 5; i++) await signIn(i, email, '10.5.0.9', 'a wrong password', device)
      expect(await signIn(0, email, '10.5.0.9', 'a wrong password', device)).toBe(429)
      expect(await signIn(1, email, '10.5.0.9', PASSWORD, device)).toBe(429)
    })

    it('threat 19: refresh token theft, its use in step at the other process ends the sign-in', async () => {
      const ada = await world(0).signedIn()
      const own = (await refresh(0, ada.refresh)).body
      expect(await account(0, own.access_token)).toBe(200)
      await world(1).advance(11_000)
      expect((await refresh(1, ada.refresh)).status).toBe(401)
      expect((await refresh(0, own.refresh_token)).status).toBe(401)
    })

    it('stays signed in after a lost answer, ten refreshes at once and in three tabs', async () => {
      let { refresh: token } = await world(0).signedIn()
      const at = await Promise.all(Array.from({ length: 10 }, (_, i) => refresh(i, token)))
      expect(new Set(at.map(({ body }) => body.refresh_token)).size).toBe(1)
      for (const [i, { body }] of at.slice(0, 3).entries()) expect(await account(i, body.access_token)).toBe(200)
      token = at[0]!.body.refresh_token
      const lost = (await refresh(1, token)).body
      const again = (await refresh(0, token)).body
      expect(again.refresh_token).toBe(lost.refresh_token)
      expect(await account(1, again.access_token)).toBe(200)
      expect((await refresh(0, again.refresh_token)).status).toBe(200)
    })
  },
  { TRUSTED_HOPS: '1' },
)
