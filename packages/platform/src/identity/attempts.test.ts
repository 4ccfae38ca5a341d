import { memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { signInAttempts } from './attempts.js'
import { masterSecrets } from './secrets.js'

const DAY = 86_400_000

async function setUp() {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const now = (): number => clock.now
  const kv = await memoryKV({ now })
  const masters = () => masterSecrets(kv, ['a secret of at least 32 characters'])
  const attempts = signInAttempts({ kv, masters, failures: {}, baseUrl: undefined, now })
  const origin = (): string => 'https://app.example'
  const head = (cookie = '') => ({ method: 'POST', header: () => cookie, ip: () => '192.0.2.1', origin })
  const placesOf = async (email: string, cookie?: string) => (await attempts.of(email, head(cookie))).sources[0]
  return { clock, kv, attempts, head, placesOf }
}

it('an address is known for 30 days after the last sign-in, for every e-mail', async () => {
  const { clock, attempts, head, placesOf } = await setUp()
  expect(await placesOf('ada')).toMatchObject({ name: '192.0.2.1', places: 8 })
  await attempts.succeeded('ada', head())
  clock.now += 29 * DAY
  await attempts.succeeded('ada', head())
  clock.now += 29 * DAY
  expect(await placesOf('bob')).toMatchObject({ name: 'known 192.0.2.1', places: 32 })
  clock.now += DAY
  expect(await placesOf('ada')).toMatchObject({ places: 8 })
})

it('threat 212: a user makes ten addresses known a day, and attempts of known ones count together by their networks', async () => {
  const { clock, attempts, head } = await setUp()
  const at = (i: number) => ({ ...head(), ip: () => `2001:db8:7:${i.toString(16)}::1` })
  const known = async () => {
    const all = await Promise.all(Array.from({ length: 30 }, (_, i) => attempts.of('eve', at(i))))
    return all.filter(({ sources }) => sources[0]!.name.startsWith('known ')).length
  }
  for (const expected of [10, 20]) {
    for (let i = 0; i < 30; i++) await attempts.succeeded('eve', at(i))
    expect(await known()).toBe(expected)
    clock.now += DAY
  }
  await attempts.succeeded('ada', at(29))
  expect(await known()).toBe(21)
  expect((await attempts.of('eve', at(0))).sources).toEqual([
    { name: 'known 2001:db8:7:0::/64', places: 32 },
    { name: 'known 2001:db8:7:0::/56', places: 48 },
    { name: 'known 2001:db8:7:0::/48', places: 64 },
    { name: 'known 2001:db8:0:0::/32', places: 96 },
  ])
})

it('threat 152: without an address, failures count by the e-mail alone, and all attempts share places, after those of known devices', async () => {
  const { attempts, head } = await setUp()
  const unknown = { ...head(), ip: () => '' }
  for (const known of [false, true]) {
    if (known) await attempts.succeeded('ada', unknown)
    expect(await attempts.of('ada', unknown)).toEqual({
      subjects: [{ name: 'sign-in ada', perMinute: 5 }],
      sources: [{ name: 'no address', places: 24, least: 0.7 }],
    })
  }
})

it('the neighbourhood of an address that signed in is known as well, and counts less than others', async () => {
  const { clock, attempts, head } = await setUp()
  const leastOf = async (ip: string) => {
    const { sources } = await attempts.of('ada', { ...head(), ip: () => ip })
    return [...new Set(sources.map(({ least }) => least))]
  }
  const own = { ipv4: ['192.0.2.1', '192.0.77.7'], ipv6: ['2001:db8:1:2::1', '2001:db8:ffff::7'] }
  for (const [address, neighbour] of Object.values(own) as [string, string][]) {
    expect([await leastOf(address), await leastOf(neighbour)]).toEqual([[0.7], [0.7]])
    await attempts.succeeded('ada', { ...head(), ip: () => address })
    expect([await leastOf(address), await leastOf(neighbour)]).toEqual([[undefined], [0.35]])
  }
  expect([await leastOf('192.1.2.1'), await leastOf('2001:db9::1')]).toEqual([[0.7], [0.7]])
  clock.now += 30 * DAY
  expect(await leastOf('192.0.77.7')).toEqual([0.7])
})

it('a device is known for the last 4 e-mails that signed in on it, for 180 days', async () => {
  const { clock, attempts, head, placesOf } = await setUp()
  let cookie = ''
  for (const email of ['a', 'b', 'c', 'd', 'e', 'e'])
    cookie = (await attempts.succeeded(email, head(cookie))).split(';', 1)[0]!
  const known = async (): Promise<string[]> => {
    const found = []
    for (const email of ['a', 'b', 'c', 'd', 'e'])
      if ((await placesOf(email, cookie))?.name === `device of ${email}`) found.push(email)
    return found
  }
  expect(await known()).toEqual(['b', 'c', 'd', 'e'])
  clock.now += 180 * DAY
  expect(await known()).toEqual([])
})
