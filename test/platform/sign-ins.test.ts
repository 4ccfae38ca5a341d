import { expect, it } from 'vitest'
import type { AuthSession, SignedIn } from './world.js'
import { aTime, unknownId, uuid, withCookie, worldSuite } from './world.js'

interface SignIn {
  id: string
  user_agent: string | null
  address: string | null
  last_address: string | null
  created_at: string
  last_used_at: string
  is_current: boolean
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const from = (ip: string, agent = FIREFOX) => ({ 'x-forwarded-for': ip, 'user-agent': agent })

worldSuite(
  'sign-ins',
  (world) => {
    const list = async (as: SignedIn, path = '/api/account'): Promise<SignIn[]> =>
      (await world().ask<SignIn[]>('GET', `${path}/sign-ins`, { as })).body
    const end = (as: SignedIn, path: string) => world().ask('DELETE', path, { as, headers: from('192.0.2.9') })
    const statusOf = async (as: SignedIn): Promise<number> => (await world().ask('GET', '/api/account', { as })).status
    const refresh = (as: SignedIn, headers = {}) =>
      world().ask<AuthSession>('PUT', '/api/auth', { body: { refresh_token: as.refresh }, headers })
    const currentOf = async (as: SignedIn): Promise<SignIn> => (await list(as)).find((one) => one.is_current)!
    const logged = async (action: string, target: string) => {
      const { body } = await world().ask<{ data: { action: string; target: string; actor: string; detail: string }[] }>(
        'GET',
        '/admin/audit?limit=500',
        { as: await world().signedIn('admin') },
      )
      return body.data
        .filter((entry) => entry.action === action && entry.target === target)
        .map(({ actor, detail }) => [actor, detail])
    }

    it('tell their user by what they were made, where, and when they were used', async () => {
      const { email } = await world().person()
      const laptop = await world().signIn(email, { headers: from('192.0.2.1') })
      await world().advance(60_000)
      const phone = await world().signIn(email, { headers: from('2001:db8:1:2:3::7', 'x'.repeat(5_000)) })
      const byPhone = { address: '2001:db8:1:2::/64', last_address: '2001:db8:1:2::/64', user_agent: 'x'.repeat(256) }
      const byLaptop = { address: '192.0.2.1', last_address: '192.0.2.1', user_agent: FIREFOX }
      const signIns = await list(phone)
      expect(signIns).toEqual([
        { id: uuid, ...byPhone, created_at: aTime, last_used_at: aTime, is_current: true },
        { id: uuid, ...byLaptop, created_at: aTime, last_used_at: aTime, is_current: false },
      ])
      await world().advance(60_000)
      expect((await refresh(laptop, from('192.0.2.2', 'another'))).status).toBe(200)
      const after = await list(laptop)
      expect(after).toMatchObject([{ ...byLaptop, last_address: '192.0.2.2', is_current: true }, byPhone])
      expect(after[0]!.created_at).toBe(signIns[1]!.created_at)
      expect(Date.parse(after[0]!.last_used_at) - Date.parse(after[0]!.created_at)).toBeGreaterThanOrEqual(120_000)
    })

    it('tell where a cookie was used last, once an hour', async () => {
      const { email } = await world().person()
      const ada = await world().signIn(email, { cookie: true, headers: from('192.0.2.1') })
      const use = async (ip: string): Promise<void> => {
        const { headers } = withCookie(ada.cookie, from(ip))
        expect((await world().ask('GET', '/api/auth/session', { headers })).status).toBe(200)
      }
      await use('192.0.2.2')
      expect(await currentOf(ada)).toMatchObject({ last_address: '192.0.2.1' })
      await world().advance(3_600_000)
      await use('192.0.2.3')
      const { body } = await world().ask<SignIn[]>('GET', '/api/account/sign-ins', withCookie(ada.cookie))
      expect(body).toMatchObject([{ address: '192.0.2.1', last_address: '192.0.2.3', is_current: true }])
    })

    it('are ended one by one, at once and with their tokens', async () => {
      const { email, id } = await world().person()
      const [here, there] = [await world().signIn(email), await world().signIn(email, { cookie: true })]
      const { id: theirs } = await currentOf(there)
      expect(await statusOf(there)).toBe(200)
      expect((await end(here, `/api/account/sign-ins/${theirs}`)).status).toBe(204)
      expect([await statusOf(there), (await refresh(there)).status, await statusOf(here)]).toEqual([401, 401, 200])
      expect((await world().ask('GET', '/api/account', withCookie(there.cookie))).status).toBe(401)
      expect((await end(here, `/api/account/sign-ins/${theirs}`)).status).toBe(404)
      expect(await logged('sign-out', theirs)).toEqual([[id, '192.0.2.9']])
      expect(await world().call('verify')).toEqual([])
    })

    it('end the cookie where the own one is ended', async () => {
      const ada = await world().signedIn('user', true)
      const { id } = await currentOf(ada)
      const reply = await world().ask(
        'DELETE',
        `/api/account/sign-ins/${id}`,
        withCookie(ada.cookie, { 'sec-fetch-site': 'same-origin' }),
      )
      expect([reply.status, reply.headers.get('set-cookie')]).toEqual([
        204,
        expect.stringMatching(/session=;.*Max-Age=0/),
      ])
      expect(await statusOf(ada)).toBe(401)
    })

    it('are told to administrators, who end one or all', async () => {
      const [admin, { email, id }] = [await world().signedIn('admin'), await world().person()]
      const signedIn = [await world().signIn(email), await world().signIn(email), await world().signIn(email)] as const
      const path = `/api/users/${id}`
      const { id: first } = await currentOf(signedIn[0])
      const seen = await list(admin, path)
      expect(seen.map(({ is_current }) => is_current)).toEqual([false, false, false])
      expect((await end(admin, `${path}/sign-ins/${first}`)).status).toBe(204)
      expect((await end(admin, `${path}/sign-ins/${first}`)).status).toBe(404)
      expect(await Promise.all(signedIn.map(statusOf))).toEqual([401, 200, 200])
      expect((await end(admin, `${path}/sign-ins`)).status).toBe(204)
      expect(await Promise.all(signedIn.map(statusOf))).toEqual([401, 401, 401])
      expect(await list(admin, path)).toEqual([])
      const ended = await logged('user.sign-out', id)
      expect(ended.toSorted()).toEqual(seen.map((one) => [admin.id, one.id]).toSorted())
      for (const method of ['GET', 'DELETE'])
        expect((await world().ask(method, `/api/users/${unknownId}/sign-ins`, { as: admin })).status).toBe(404)
    })

    it('threat 140: a sign-in is ended by nobody but its user and administrators, whatever id is tried', async () => {
      const [ada, eve] = [await world().signedIn(), await world().signedIn()]
      const admin = await world().signedIn('admin')
      const { id } = await currentOf(ada)
      expect((await end(eve, `/api/account/sign-ins/${id}`)).status).toBe(404)
      // By the path of somebody else, an administrator ends nothing by mistake.
      expect((await end(admin, `/api/users/${eve.id}/sign-ins/${id}`)).status).toBe(404)
      for (const one of [id, 'x'])
        expect((await end(admin, `/api/users/${'x'.repeat(2_000)}/sign-ins/${one}`)).status).toBe(404)
      for (const wrong of [unknownId, 'x', `${id}%2Fx`, '%00', '..%2F..', 'x'.repeat(2_000)])
        expect([wrong, (await end(ada, `/api/account/sign-ins/${wrong}`)).status]).toEqual([wrong, 404])
      expect(await statusOf(ada)).toBe(200)
    })

    it('threat 141: whoever reads the list of sign-ins finds no credential in it, and an agent cannot fill the store', async () => {
      const { email } = await world().person()
      const ada = await world().signIn(email, { cookie: true, headers: from('192.0.2.1', 'y'.repeat(10_000)) })
      const signIns = await list(ada)
      const text = JSON.stringify(signIns)
      expect(text.length).toBeLessThan(1_000)
      const stored = await world().call<{ cookie: string }>('get', 'sign-in', signIns[0]!.id)
      for (const secret of [ada.refresh, ada.access, ada.cookie!.split('=')[1]!, stored.cookie])
        expect(text).not.toContain(secret)
      for (const token of [signIns[0]!.id, btoa(signIns[0]!.id)]) {
        expect((await refresh({ ...ada, refresh: token })).status).toBe(401)
        expect(await statusOf({ ...ada, access: token })).toBe(401)
      }
    })
  },
  { TRUSTED_HOPS: '1' },
)
