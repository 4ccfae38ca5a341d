import { expect, it } from 'vitest'
import type { AuthSession, World } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

const LISTED = 'https://app.example'

worldSuite(
  'requests of other sites to sign in',
  (world) => {
    const ask: World['ask'] = (...request) => world().ask(...request)
    /** What a page of another site sends without asking: a body of no type, or of a form. */
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { referer: 'https://evil.example/a/page' },
    ]
    const bodyOf = (email: string, password = PASSWORD) => new TextEncoder().encode(JSON.stringify({ email, password }))

    /** Sends bytes, so that no type is added. */
    const send = async (method: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
      const response = await fetch(`${world().url}/api/auth`, { method, body, headers })
      await response.body?.cancel()
      return response.status
    }

    it('threat 45: sign-ins by pages of other sites, use up nobody’s failures', async () => {
      const { email } = await world().person()
      const statuses = new Set<number>()
      for (let round = 0; round < 6; round++)
        for (const from of foreign)
          for (const type of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }] as Record<
            string,
            string
          >[])
            statuses.add(await send('POST', bodyOf(email, 'a wrong password'), { ...from, ...type }))
      expect([...statuses]).toEqual([403, 400])
      expect((await ask('POST', '/api/auth', { body: { email, password: PASSWORD } })).status).toBe(200)
    })

    it('threat 45: sign-ins by pages of other sites, are refused with the right password and refresh token too', async () => {
      const ada = await world().signedIn()
      for (const from of foreign) {
        expect([from, await send('POST', bodyOf(ada.email), from)]).toEqual([from, 403])
        const body = new TextEncoder().encode(JSON.stringify({ refresh_token: ada.refresh }))
        expect([from, await send('PUT', body, from)]).toEqual([from, 403])
      }
    })

    it('lets the own pages, those of listed origins and programs sign in', async () => {
      const { email } = await world().person()
      const friends: Record<string, string>[] = [
        {},
        { 'sec-fetch-site': 'same-origin' },
        { 'sec-fetch-site': 'same-origin', origin: world().url },
        { origin: world().url },
        { origin: LISTED },
        { origin: LISTED, 'sec-fetch-site': 'cross-site' },
        { origin: 'capacitor://localhost' },
      ]
      for (const headers of friends) {
        const made = await ask<AuthSession>('POST', '/api/auth', { body: { email, password: PASSWORD }, headers })
        expect([headers, made.status]).toEqual([headers, 200])
        const { refresh_token } = made.body
        expect((await ask('PUT', '/api/auth', { body: { refresh_token }, headers })).status).toBe(200)
      }
      expect(await send('POST', bodyOf(email), {})).toBe(200)
      // With a cookie, only those that may use it: the own ones.
      const body = { email, password: PASSWORD, cookie: true }
      expect((await ask('POST', '/api/auth', { body, headers: { origin: LISTED } })).status).toBe(403)
    })
  },
  { CORS_ORIGIN: `${LISTED},capacitor://localhost` },
)
