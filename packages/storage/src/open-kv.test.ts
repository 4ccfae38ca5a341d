import { describe, expect, it } from 'vitest'
import type { Faults } from '../../../test/support/map-driver.js'
import { groups, mapDriver, set } from '../../../test/support/map-driver.js'
import { openKV } from './open-kv.js'
import type { Driver, StorageLike } from './log/storage-like.js'
import { kvContract } from './testing.js'

describe('openKV', () => {
  for (const { name, run } of kvContract)
    it(`${name}, without a value cache`, async () => {
      const kv = await openKV(mapDriver().driver, { cache: 0, mergeAfter: 3, itemSize: 500 })
      await run(kv)
      await kv.close()
    })

  it('reports its capabilities', async () => {
    const { driver } = mapDriver()
    const capabilities = async (more: Partial<Driver>) => (await openKV({ ...driver, ...more })).capabilities
    expect(await capabilities({})).toEqual({ writers: 'one-process', durability: 'unknown', driver: 'map' })
    expect(await capabilities({ name: 'mongodb' })).toMatchObject({ durability: 'engine-configured' })
    expect(await capabilities({ name: 'memory' })).toMatchObject({ driver: 'memory', durability: 'none' })
    expect(await capabilities({ durability: 'power-loss' })).toMatchObject({ durability: 'power-loss' })
  })

  it('has all entries again when it is reopened', async () => {
    const { driver } = mapDriver()
    const first = await openKV(driver, { mergeAfter: 2 })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await first.commit(set(name))
    await first.commit({ del: [['a']], sum: [{ key: ['n'], add: { calls: 3 } }] })
    await first.commit({ set: [{ key: ['late'], value: 1, expiresAt: Date.now() + 60_000 }] })
    const before = await first.getMany([['b'], ['n'], ['late']])
    await first.close()
    const second = await openKV(driver)
    expect(await second.getMany([['b'], ['n'], ['late']])).toEqual(before)
    expect(await second.get(['a'])).toBeNull()
  })

  it('does not reuse a version after reopening, also of deleted and merged entries', async () => {
    const { driver } = mapDriver()
    const first = await openKV(driver, { mergeAfter: 1 })
    await first.commit(set('a'))
    const { version } = (await first.get(['a']))!
    await first.commit({ del: [['a']] })
    for (let i = 0; i < 4; i++) await first.commit({ del: [['x']] })
    await first.close()
    const second = await openKV(driver)
    await second.commit(set('a', 'new'))
    expect(Number((await second.get(['a']))!.version)).toBeGreaterThan(Number(version) + 5)
  })

  it('keeps expired entries hidden, whatever was there before', async () => {
    const { driver } = mapDriver()
    const first = await openKV(driver, { mergeAfter: 1, itemSize: 200 })
    await first.commit(set('a', 'old'))
    await first.commit({ set: [{ key: ['a'], value: 'brief', expiresAt: Date.now() + 5 }] })
    await new Promise((resolve) => setTimeout(resolve, 10))
    for (let i = 0; i < 20; i++) await first.commit(set(`b${i}`, 'x'.repeat(100)))
    await first.close()
    const second = await openKV(driver)
    expect(await second.get(['a'])).toBeNull()
    expect(await second.commit({ check: [{ key: ['a'], version: null }] })).toBe(true)
  })

  it('separates two stores on one storage', async () => {
    const { driver } = mapDriver()
    const [one, two] = await Promise.all([openKV(driver, { base: 'one' }), openKV(driver, { base: 'two' })])
    await one.commit(set('a'))
    expect(await two.get(['a'])).toBeNull()
    expect((await openKV(driver, { base: 'one' })).capabilities.driver).toBe('map')
  })

  it('writes one item for commits that wait together, and merges items in the background', async () => {
    const { driver, items } = mapDriver()
    const kv = await openKV(driver, { mergeAfter: 10 })
    const before = groups(items).length
    await Promise.all(Array.from({ length: 100 }, (_, i) => kv.commit(set(`k${i}`))))
    expect(groups(items).length - before).toBe(2)
    for (let i = 0; i < 200; i++) await kv.commit(set('same', i))
    await kv.close()
    expect(groups(items).length).toBeLessThan(25)
    const again = await openKV(driver)
    expect((await again.get(['same']))?.value).toBe(199)
    expect((await again.get(['k99']))?.value).toBe('k99')
  })

  it('merges items sooner where they are large: what was replaced takes no more space than all merged items may', async () => {
    const { driver, items } = mapDriver()
    const kv = await openKV(driver, { mergeAfter: 10, itemSize: 1_000 })
    let most = 0
    for (let i = 0; i < 40; i++) {
      await kv.commit(set('same', `${i}`.repeat(2_000)))
      most = Math.max(most, [...items.values()].join('').length)
    }
    await kv.close()
    expect(most).toBeGreaterThan(10_000)
    expect(most).toBeLessThan(30_000)
    expect((await (await openKV(driver)).get(['same']))?.value).toBe('39'.repeat(2_000))
  })

  it('removes delete markers in the end', async () => {
    const { driver, items } = mapDriver()
    const kv = await openKV(driver, { mergeAfter: 4, itemSize: 400 })
    for (let i = 0; i < 20; i++) await kv.commit(set(`keep${i}`, 'x'.repeat(200)))
    for (let i = 0; i < 400; i++) {
      await kv.commit(set(`gone${i}`))
      await kv.commit({ del: [[`gone${i}`]] })
    }
    for (let i = 0; i < 20; i++) await kv.commit(set('same', i))
    await kv.close()
    expect([...items.values()].join('').match(/"gone\d+"/g)?.length ?? 0).toBeLessThan(60)
    expect(await (await openKV(driver)).get(['keep7'])).toMatchObject({ value: 'x'.repeat(200) })
  })

  it('reads a value again that is no longer in memory, once for concurrent readers', async () => {
    const { driver, faults } = mapDriver()
    const kv = await openKV(driver, { cache: 0 })
    await kv.commit({ set: ['a', 'b', 'c'].map((name) => ({ key: ['in', name], value: name })) })
    let reads = 0
    faults.getItem = () => void reads++
    expect((await kv.list(['in'])).items.map(({ value }) => value)).toEqual(['a', 'b', 'c'])
    expect(reads).toBe(1)
  })

  it('keeps the configured amount of newest values in memory', async () => {
    const { driver, faults } = mapDriver()
    const kv = await openKV(driver, { cache: 250 })
    for (const name of ['a', 'b', 'c']) await kv.commit(set(name, 'x'.repeat(100)))
    let reads = 0
    faults.getItem = () => void reads++
    await kv.getMany([['b'], ['c']])
    expect(reads).toBe(0)
    await kv.get(['a'])
    expect(reads).toBe(1)
    await kv.getMany([['a'], ['c']])
    expect(reads).toBe(1)
  })

  it('accepts keys that a driver separates by slashes', async () => {
    const { driver, items } = mapDriver()
    const slashes = { ...driver, getKeys: () => [...items.keys()].map((key) => key.replaceAll(':', '/')) }
    await (await openKV(slashes)).commit(set('a'))
    expect((await (await openKV(slashes)).get(['a']))?.value).toBe('a')
  })
})

describe('an unsuitable driver', () => {
  const refusal = async (driver: StorageLike, options = {}): Promise<unknown> =>
    openKV(driver, options).then(
      () => 'opened',
      (error: Error) => `${error.name}: ${error.message}`,
    )

  it.each(['null', 'lru-cache', 'overlay', 'http', 'github', 'cloudflare-kv-binding', 'netlify-blobs', 's3'])(
    'is refused by name: %s',
    async (name) => {
      const { driver, items } = mapDriver()
      driver.name = name
      expect(await refusal(driver)).toMatch(
        new RegExp(
          `^StorageError: The storage driver "${name}" cannot hold a store: .*; |: .* and most databases can$`,
        ),
      )
      expect(items.size).toBe(0)
    },
  )

  it('is refused if a storage has it mounted at the base', async () => {
    const { driver } = mapDriver()
    const storage = { ...driver, name: undefined, getMount: () => ({ driver: { name: 'lru-cache' } }) }
    expect(await refusal(storage)).toContain('"lru-cache" cannot hold a store')
  })

  it.each<[why: string, faults: Faults]>([
    ['it does not give back what was written', { getItem: () => 'something else' }],
    ['it does not list what was written', { getKeys: () => [] as string[] }],
    ['it does not remove what it is told to', { removeItem: () => true }],
  ])('is detected where %s', async (why, faults) => {
    expect(await refusal(mapDriver(faults).driver)).toContain(`"map" cannot hold a store: ${why}.`)
  })

  it('is refused where it is read-only', async () => {
    const { driver } = mapDriver()
    const { setItem: _, ...readOnly } = driver
    expect(await refusal(readOnly)).toContain('it can only be read')
  })

  it.each(['one-host', 'many-hosts'])('is accepted for %s', async (writers) => {
    expect(await refusal(mapDriver().driver, { writers })).toBe(
      `StorageError: A store on the storage driver "map" serves one process; for ${writers} use Redis or PostgreSQL, or SQLite on one host`,
    )
  })
})
