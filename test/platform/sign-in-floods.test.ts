import { afterEach, expect, it } from 'vitest'
import type { Reply } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

const WRONG = 'a wrong password'
const MINUTE = 60_000

worldSuite(
  'floods of sign-ins',
  (world) => {
    const signIn = (email: string, from: string, password = PASSWORD, cookie?: string): Promise<Reply> =>
      world().ask('POST', '/api/auth', {
        body: { email, password },
        headers: { 'x-forwarded-for': from, ...(cookie !== undefined && { cookie }) },
      })
    const statusOf = async (...guess: Parameters<typeof signIn>): Promise<number> => (await signIn(...guess)).status
    /** Statuses of attempts, as they come in. */
    const noted = (guesses: Parameters<typeof signIn>[]) => {
      const statuses: number[] = []
      const all = Promise.all(guesses.map(async (guess) => void statuses.push(await statusOf(...guess))))
      const count = (status: number): number => statuses.filter((one) => one === status).length
      return { all, statuses, count }
    }
    /** Wrong passwords from addresses, while none is checked. */
    const flood = (from: (i: number) => string, count: number) =>
      noted(Array.from({ length: count }, (_, i) => [`nobody-${i}@example.org`, from(i), WRONG]))
    const hold = (isHeld: boolean): Promise<unknown> => world().call('holdPasswords', isHeld)
    const somebody = async (from: string) => {
      const { email } = await world().person()
      const { device } = await world().signIn(email, { headers: { 'x-forwarded-for': from } })
      await world().advance(11 * MINUTE)
      return { email, device: device! }
    }
    afterEach(() => hold(false))

    it.each<[string, (i: number) => string, number]>([
      ['a burst of 120 from one address', () => '192.0.2.1', 8],
      ['45 clients from 20 networks of one /59', (i) => `2001:db8:0:${(i % 20).toString(16)}::${i}`, 12],
      ['60 addresses of one network', (i) => `192.0.2.${i}`, 16],
      ['60 customers of one provider', (i) => `2001:db9:${i.toString(16)}::1`, 24],
    ])('threat 36: closed sign-in, %s take a few places', async (_, from, places) => {
      const { email } = await somebody('203.0.113.1')
      await hold(true)
      const attackers = flood(from, places === 8 ? 120 : 60)
      const refused = (places === 8 ? 120 : 60) - places
      await expect.poll(() => attackers.count(429)).toBe(refused)
      const own = statusOf(email, '198.51.100.7')
      await hold(false)
      expect(await own).toBe(200)
      await attackers.all
      expect([attackers.count(401), attackers.count(429)]).toEqual([places, refused])
      await world().advance(11 * MINUTE)
    })

    it('threat 36: closed sign-in, a full queue has a place for who has tried less', async () => {
      const { email, device } = await somebody('203.0.113.1')
      const other = await world().person()
      // All three have mistyped it before.
      for (let i = 0; i < 2; i++) {
        await signIn(email, '10.200.0.1', WRONG, device)
        await signIn(email, '203.0.113.1', WRONG)
        for (const n of [1, 2, 3]) await signIn(`typo-${n}@example.org`, '198.51.102.7', WRONG)
      }
      await hold(true)
      const address = (i: number): string => `10.${i}.0.1`
      const attackers = flood(address, 60)
      await expect.poll(() => attackers.count(503)).toBe(26)
      // Whoever has tried more gets no place, but on known devices.
      expect(await statusOf(other.email, '198.51.102.7')).toBe(503)
      const known = statusOf(email, '10.200.0.1', PASSWORD, device)
      await expect.poll(() => attackers.count(503)).toBe(27)
      // And where somebody has signed in.
      const here = statusOf(email, '203.0.113.1')
      await expect.poll(() => attackers.count(503)).toBe(28)
      // All attackers try again, and have tried more than whoever has not.
      const again = flood(address, 60)
      await expect.poll(() => attackers.count(503) + again.count(503)).toBe(88)
      const quiet = statusOf(other.email, '198.51.101.7')
      await expect.poll(() => attackers.count(503) + again.count(503)).toBe(89)
      await hold(false)
      expect(await Promise.all([known, here, quiet])).toEqual([200, 200, 200])
      await Promise.all([attackers.all, again.all])
      expect(attackers.count(401) + again.count(401)).toBe(31)
      await world().advance(11 * MINUTE)
    })

    it('threat 36: closed sign-in, among ever new networks everybody may try again, and neighbours of known addresses come first', async () => {
      const { email } = await somebody('203.0.113.1')
      const [again, six] = [await world().person(), await world().person()]
      await hold(true)
      let refused = 0
      const floods: ReturnType<typeof flood>[] = []
      /** So many that nobody of the same rank keeps a place. */
      const more = async (): Promise<void> => {
        const networks = floods.length * 60
        floods.push(flood((i) => `10.${(networks + i) % 256}.${networks >> 8}.1`, 60))
        await expect
          .poll(() => floods.reduce((sum, { count }) => sum + count(503), 0))
          .toBeGreaterThanOrEqual(refused + 25)
      }
      await more()
      refused = floods[0]!.count(503)
      // Their neighbour stays, though others come.
      const near = statusOf(email, '203.0.77.7')
      const first = statusOf(again.email, '172.20.0.7')
      await more()
      expect(await first).toBe(503)
      // Who was refused, and whoever has an IPv6 address, is not behind all who come for the first time.
      const second = statusOf(again.email, '172.20.0.7')
      const ofSix = statusOf(six.email, '2001:db8:77::1')
      await hold(false)
      expect(await Promise.all([near, second, ofSix])).toEqual([200, 200, 200])
      await Promise.all(floods.map(({ all }) => all))
      await world().advance(11 * MINUTE)
    })

    it('threat 36: closed sign-in, what is blocked takes no place', async () => {
      const { email } = await somebody('203.0.113.1')
      for (let i = 0; i < 6; i++) await signIn('blocked@example.org', '192.0.2.1', WRONG)
      await hold(true)
      const blocked = noted(Array.from({ length: 60 }, () => ['blocked@example.org', '192.0.2.2', WRONG]))
      await blocked.all
      expect(blocked.count(429)).toBe(60)
      const own = statusOf(email, '192.0.2.2')
      await hold(false)
      expect(await own).toBe(200)
      await world().advance(11 * MINUTE)
    })

    it('threat 36: closed sign-in, an administrator makes a user while it is full', async () => {
      const admin = await world().signedIn('admin')
      await hold(true)
      const attackers = flood((i) => `10.${i}.0.1`, 60)
      await expect.poll(() => attackers.count(503)).toBe(26)
      const body = { email: `made-${crypto.randomUUID()}@example.org`, password: PASSWORD }
      const made = world().ask('POST', '/api/users', { as: admin, body })
      await expect.poll(() => attackers.count(503)).toBe(27)
      await hold(false)
      expect((await made).status).toBe(200)
      await attackers.all
      await world().advance(11 * MINUTE)
    })

    it('threat 37: lock-out, devices that signed in before and quiet networks sign in while a network is refused', async () => {
      const { email, device } = await somebody('203.0.113.1')
      for (let minute = 0; minute < 3; minute++) {
        const guesses: number[] = []
        for (let i = 0; i < 7; i++) guesses.push(await statusOf(email, `10.${i}.${minute}.1`, WRONG))
        // The sixth and the seventh are each the first of their networks.
        expect(guesses).toEqual([401, 401, 401, 401, 401, 429, 429])
        expect(await statusOf(email, `10.6.${minute}.2`)).toBe(429)
        expect(await statusOf(email, '10.200.0.1', PASSWORD, device)).toBe(200)
        expect(await statusOf(email, `198.51.${minute}.7`)).toBe(200)
        await world().advance(MINUTE)
      }
      // Those that failed are refused for an hour, as soon as others have used up the failures.
      for (let i = 0; i < 6; i++) await signIn(email, `10.${i}.9.1`, WRONG)
      expect(await statusOf(email, '10.6.0.3')).toBe(429)
      await world().advance(11 * MINUTE)
    })

    it('threat 181: who knew an earlier password, has no guesses of the new one by devices', async () => {
      const { email } = await somebody('203.0.113.1')
      const devices: string[] = []
      for (let i = 0; i < 3; i++) devices.push((await world().signIn(email)).device!)
      const own = await world().signIn(email)
      const changed = await world().ask('PUT', '/api/account/password', {
        as: own,
        body: { current: PASSWORD, password: 'battery staple' },
        headers: { cookie: own.device! },
      })
      expect(changed.status).toBe(204)
      const guesses: number[] = []
      for (const device of devices)
        for (let i = 0; i < 4; i++) guesses.push(await statusOf(email, '10.1.0.1', WRONG, device))
      expect(guesses.filter((status) => status === 401)).toHaveLength(5)
      // The device on which it was changed is known by it.
      const known = changed.headers.getSetCookie().find((cookie) => cookie.includes('device='))!
      expect(await statusOf(email, '10.1.0.1', 'battery staple', own.device)).toBe(429)
      expect(await statusOf(email, '10.1.0.1', 'battery staple', known.split(';')[0])).toBe(200)
      await world().advance(11 * MINUTE)
    })

    it('threat 37: lock-out, a device has failures of its own, for the e-mails that signed in on it', async () => {
      const [ada, bob] = [await somebody('203.0.113.1'), await somebody('203.0.113.1')]
      const both = `${ada.device}.${bob.device.split('=')[1]!}`
      const there = '10.1.0.1'
      for (let i = 0; i < 5; i++) expect(await statusOf(ada.email, there, WRONG, ada.device)).toBe(401)
      expect(await statusOf(ada.email, there, WRONG, both)).toBe(429)
      expect(await statusOf(ada.email, there, PASSWORD, ada.device)).toBe(429)
      // Neither the person nor the address is blocked, and no other e-mail on the device.
      expect(await statusOf(bob.email, there, WRONG, both)).toBe(401)
      const signedIn = await signIn(ada.email, there)
      expect(signedIn.status).toBe(200)
      // Whoever signs in on a device makes it known, beside the others.
      const set = (await signIn(bob.email, there, PASSWORD, ada.device)).headers.getSetCookie()[0]!.split(';')[0]!
      expect(set.split('.')).toHaveLength(2)
      for (let i = 0; i < 7; i++) await signIn(bob.email, there, WRONG)
      expect([await statusOf(bob.email, there), await statusOf(bob.email, there, PASSWORD, set)]).toEqual([429, 200])
      // Made up, of another e-mail, or expired, it is worth nothing.
      const forged = ada.device.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A'))
      for (const cookie of [
        forged,
        ada.device,
        '__Host-device=',
        `__Host-device=${'A'.repeat(64)}`,
        '__Host-device="é',
      ])
        expect([cookie, await statusOf(bob.email, there, PASSWORD, cookie)]).toEqual([cookie, 429])
      await world().advance(180 * 24 * 60 * MINUTE)
      for (let i = 0; i < 7; i++) await signIn(bob.email, there, WRONG)
      expect(await statusOf(bob.email, there, PASSWORD, set)).toBe(429)
    })

    it('threat 37: lock-out, nobody signs others out by refresh tokens that are refused', async () => {
      const { email } = await world().person()
      const { refresh } = await world().signIn(email)
      const ask = async (refresh_token: string): Promise<number> =>
        (await world().ask('PUT', '/api/auth', { body: { refresh_token } })).status
      const garbage: number[] = []
      for (let i = 0; i < 31; i++) garbage.push(await ask(`garbage ${i}`))
      expect(garbage).toEqual([...Array<number>(30).fill(401), 429])
      expect(await ask(refresh)).toBe(200)
    })
  },
  { TRUSTED_HOPS: '1' },
)
