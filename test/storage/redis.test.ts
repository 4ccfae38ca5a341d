// Longer than 250 lines: all on one server of Redis, which is what takes time.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Commit, Key, KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { redisKV } from '@turnpike/storage'
import { kvContract } from '@turnpike/storage/testing'
import type { RedisOptions } from 'ioredis'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { needs, programs } from '../support/needs.js'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'
import { thorough } from '../support/scope.js'

const clients: Redis[] = []

function connect(server: RedisServer, options: RedisOptions = {}): Redis {
  const client = new Redis(server.port, options)
  clients.push(client)
  return client
}

const disconnect = (): void => {
  for (const client of clients.splice(0)) client.disconnect()
}

describe('redisKV', needs(programs.redis), () => {
  let server: RedisServer
  let client: Redis
  let kv: KV
  beforeAll(async () => {
    server = await startRedis()
    client = connect(server)
    kv = await redisKV(client)
  })
  afterAll(async () => {
    disconnect()
    await server?.stop()
  })

  for (const { name, run } of kvContract) it(name, () => run(kv))

  it.each<[name: string, options: RedisOptions]>([
    ['a prefix', { keyPrefix: 'mine:' }],
    ['pipelines', { enableAutoPipelining: true }],
    ['another database', { db: 1 }],
  ])('passes the contract through a client with %s', async (_, options) => {
    const other = await redisKV(connect(server, options))
    for (const { run } of kvContract) await run(other)
  })
})

describe('redisKV', needs(programs.redis), () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis({ appendfsync: ['always'] })
  })
  beforeEach(async () => {
    await connect(server).flushall()
  })
  afterEach(disconnect)
  afterAll(() => server?.stop())

  it('reports its capabilities, and leaves the client open', async () => {
    const client = connect(server)
    const kv = await redisKV(client)
    expect(kv.capabilities).toEqual({ writers: 'many-hosts', durability: 'power-loss', driver: 'redis' })
    expect(await kv.health()).toEqual({ ok: true })
    await kv.close()
    expect((await kv.health()).ok).toBe(false)
    await expect(kv.commit({})).rejects.toMatchObject({ name: 'StorageError', outcome: 'none' })
    expect(await client.ping()).toBe('PONG')
    expect(client.listenerCount('error') + client.listenerCount('close') + client.listenerCount('ready')).toBe(0)
  })

  it('waits for running commits on close', async () => {
    const kv = await redisKV(connect(server))
    const last = kv.commit({ set: [{ key: ['a'], value: 1 }] })
    await kv.close()
    expect(await Promise.race([last, setImmediate('running')])).toBe(true)
  })

  it('keeps all keys below its base', async () => {
    const client = connect(server)
    const [kv, other] = [await redisKV(client, { base: 'mine' }), await redisKV(client)]
    await kv.commit({
      set: [{ key: ['a'], value: 1, expiresAt: Date.now() + 60_000 }],
      sum: [{ key: ['n'], add: { x: 1 } }],
    })
    expect(await other.get(['a'])).toBeNull()
    const keys = await client.keys('*')
    expect(keys.filter((key) => !/^(mine|\{turnpike\}):/.test(key))).toEqual([])
    expect(keys).toContain('mine:key:a')
  })

  it('loses nothing between two clients', async () => {
    const stores = await Promise.all([redisKV(connect(server)), redisKV(connect(server))])
    const commits = 6_000
    const work = async (kv: KV, s: number): Promise<void> => {
      let next = 0
      const one = async (): Promise<void> => {
        for (let i = next++; i < commits; i = next++)
          await kv.commit({
            check: [{ key: ['r', String(s), String(i)], version: null }],
            set: [{ key: ['r', String(s), String(i)], value: i }],
            sum: [{ key: ['t', String(i % 3)], add: { calls: 1, cost: i, [`of${s}`]: 1 } }],
          })
      }
      await Promise.all(Array.from({ length: 32 }, one))
    }
    await Promise.all(stores.map(work))
    for (let t = 0; t < 3; t++) {
      const cost = Array.from({ length: commits / 3 }, (_, i) => 3 * i + t).reduce((a, b) => a + b)
      expect((await stores[0].get(['t', String(t)]))?.value).toEqual({
        calls: 4_000,
        cost: 2 * cost,
        of0: 2_000,
        of1: 2_000,
      })
    }
  })

  it('lets one of a hundred concurrent callers over two clients create a key', async () => {
    const stores = await Promise.all([redisKV(connect(server)), redisKV(connect(server))])
    await stores[0].commit({ set: [{ key: ['k'], value: -1 }] })
    const { version } = (await stores[1].get(['k']))!
    const race = Array.from({ length: 100 }, (_, i) =>
      stores[i % 2]!.commit({ check: [{ key: ['k'], version }], set: [{ key: ['k'], value: i }] }),
    )
    expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1)
  })

  it('behaves like the store in memory, for any commit', async () => {
    const stores = [await memoryKV(), await redisKV(connect(server))] as const
    let seed = 7
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    const some = <T>(make: () => T): T[] => Array.from({ length: random(3) }, make)
    const key = (): Key => ['k', String(random(4))]
    const amounts = [1, -1, 0, 7, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER]
    const versions: [string, string][] = []
    const tally = { applied: 0, lost: 0, refused: 0 }
    for (let i = 0; i < (thorough ? 3_000 : 600); i++) {
      const known = versions[random(versions.length || 1)]
      const check = some(key)
        .filter(() => random(4) === 0)
        .map((key) => ({ key, version: random(2) === 0 ? undefined : null }))
      const rest: Commit = {
        set: some(() => ({ key: key(), value: i, ...(random(3) === 0 && { expiresAt: random(2) === 0 ? 1 : 4e12 }) })),
        del: some(key),
        sum: some(() => ({ key: key(), add: { [`f${random(2)}`]: amounts[random(amounts.length)]! } })),
      }
      const results = await Promise.all(
        stores.map((kv, s) =>
          kv
            .commit({
              ...rest,
              check: check.map(({ key, version }) => ({
                key,
                version: version === null ? null : (known?.[s] ?? 'none'),
              })),
            })
            .catch((error: Error) => error.name),
        ),
      )
      expect(results[1], JSON.stringify({ check, rest })).toBe(results[0])
      if (results[0] === true) tally.applied++
      else if (results[0] === false) tally.lost++
      else tally.refused++
      const pages = await Promise.all(stores.map((kv) => kv.list(['k'])))
      const [memory, redis] = pages.map(({ items }) => items.map(({ key, value }) => ({ key, value })))
      expect(redis, JSON.stringify({ check, rest })).toEqual(memory)
      pages[0]!.items.forEach((entry, at) => versions.push([entry.version, pages[1]!.items[at]!.version]))
      versions.splice(0, versions.length - 4)
    }
    for (const count of Object.values(tally)) expect(count).toBeGreaterThan(20)
  })

  it('never reuses a version, also where Redis lost the last ones', async () => {
    const client = connect(server)
    const kv = await redisKV(client)
    await kv.commit({ set: [{ key: ['a'], value: 1 }] })
    const { version } = (await kv.get(['a']))!
    await client.flushall()
    await kv.commit({ set: [{ key: ['a'], value: 2 }] })
    expect(await kv.commit({ check: [{ key: ['a'], version }], del: [['a']] })).toBe(false)
    await client.hset('{turnpike}:meta', 'version', '8000000000000000')
    await kv.commit({ set: [{ key: ['a'], value: 3 }] })
    expect((await kv.get(['a']))!.version).toBe('8000000000000001')
  })

  it('expires a value at its millisecond, in pages too, and clears the index', async () => {
    const client = connect(server)
    const kv = await redisKV(client)
    const expiresAt = Date.now() + 2_000
    const names = Array.from({ length: 60 }, (_, i) => String(i).padStart(3, '0'))
    await kv.commit({
      set: names.map((name, i) => ({ key: ['p', name], value: i, ...(i % 6 !== 0 && { expiresAt }) })),
    })
    expect((await kv.list(['p'])).items).toHaveLength(60)
    // An answer that is here before the end was given before it, however slow the machine.
    for (;;) {
      const found = await kv.get(['p', '001'])
      if (Date.now() >= expiresAt) break
      expect(found?.value).toBe(1)
    }
    expect(await kv.get(['p', '001'])).toBeNull()
    expect(await client.zcard('{turnpike}:index')).toBe(60)
    for (const reverse of [false, true]) {
      const first = await kv.list(['p'], { limit: 5, reverse })
      expect(first.items).toHaveLength(5)
      const second = await kv.list(['p'], { limit: 5, reverse, after: first.next! })
      expect(second.items).toHaveLength(5)
      expect(second).not.toHaveProperty('next')
    }
    // An end that was taken back, and one that was moved.
    await kv.commit({
      set: [
        { key: ['p', '001'], value: 1 },
        { key: ['p', '002'], value: 1, expiresAt: 4e12 },
      ],
    })
    await sleep(1_000)
    for (let i = 0; i < 6; i++) await kv.commit({ sum: [{ key: ['n'], add: { x: 1 } }] })
    expect(await client.zcard('{turnpike}:index')).toBe(10 + 2 + 1)
    expect(await client.zrange('{turnpike}:ends', 0, -1)).toEqual(['p/002'])
  })

  it('works after Redis lost its scripts', async () => {
    const client = connect(server)
    const kv = await redisKV(client)
    await client.script('FLUSH')
    expect(await kv.commit({ sum: [{ key: ['n'], add: { x: 1 } }] })).toBe(true)
    expect((await kv.list([])).items).toHaveLength(1)
    expect((await kv.get(['n']))?.value).toEqual({ x: 1 })
  })

  it('stores the results of only as many commits as run concurrently, for a day', async () => {
    const client = connect(server)
    const kv = await redisKV(client)
    for (let i = 0; i < 5; i++)
      await Promise.all(Array.from({ length: 20 }, () => kv.commit({ sum: [{ key: ['n'], add: { x: 1 } }] })))
    const [session] = await client.keys('*:session:*')
    expect(await client.hlen(session!)).toBe(20)
    expect(await client.pttl(session!)).toBeGreaterThan(86_000_000)
  })

  it('refuses a store of another format', async () => {
    const client = connect(server)
    await redisKV(client)
    await redisKV(client)
    await client.hset('{turnpike}:meta', 'format', '2')
    await expect(redisKV(client)).rejects.toThrow('{turnpike}:meta is of format 2, and this version knows 1')
    await client.set('{taken}:meta', 'x')
    await expect(redisKV(client, { base: '{taken}' })).rejects.toThrow('WRONGTYPE')
  })

  it('refuses a database that the server does not have', async () => {
    await expect(redisKV(connect(server, { db: 99 }))).rejects.toThrow('DB index is out of range')
    expect(await connect(server).dbsize()).toBe(0)
  })

  it('refuses an invalid expiry time, and amounts that are no safe integers, before anything is sent', async () => {
    const kv = await redisKV(connect(server))
    for (const expiresAt of [NaN, Infinity, 1e300])
      await expect(kv.commit({ set: [{ key: ['a'], value: 1, expiresAt }] })).rejects.toThrow(RangeError)
    for (const x of [0.5, NaN, 2 ** 53])
      await expect(kv.commit({ set: [{ key: ['a'], value: 1 }], sum: [{ key: ['n'], add: { x } }] })).rejects.toThrow(
        RangeError,
      )
    expect(await kv.get(['a'])).toBeNull()
  })
})
