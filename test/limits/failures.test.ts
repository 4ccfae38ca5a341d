import { postgresRateLimiter } from '@turnpike/storage/postgres'
import { redisRateLimiter } from '@turnpike/storage/redis'
import type { RateLimiter } from '@turnpike/core'
import { Redis } from 'ioredis'
import type { PoolConfig } from 'pg'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { needs, programs } from '../support/needs.js'
import type { Postgres } from '../support/postgres.js'
import { postgres, startPostgres } from '../support/postgres.js'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'

const outcomes = async (limiter: RateLimiter, key: string, perMinute: number, count: number) => {
  const settled = await Promise.allSettled(Array.from({ length: count }, async () => limiter.consume(key, perMinute)))
  return {
    passed: settled.filter((one) => one.status === 'fulfilled' && one.value.ok).length,
    refused: settled.filter((one) => one.status === 'fulfilled' && !one.value.ok).length,
    failed: settled.filter((one) => one.status === 'rejected').length,
  }
}

afterEach(() => void vi.useRealTimers())

describe('redisRateLimiter', needs(programs.redis), () => {
  let server: RedisServer
  let client: Redis
  beforeAll(async () => {
    server = await startRedis()
    client = new Redis(server.port)
    client.on('error', () => undefined)
  })
  afterAll(async () => {
    client?.disconnect()
    await server?.stop()
  })

  it('works after Redis lost its script', async () => {
    const limiter = await redisRateLimiter(client)
    expect((await limiter.consume('script', 2)).ok).toBe(true)
    await client.script('FLUSH')
    expect(await outcomes(limiter, 'script', 2, 5)).toEqual({ passed: 1, refused: 4, failed: 0 })
  })

  it('makes one round trip for 512 callers', async () => {
    const limiter = await redisRateLimiter(client)
    const calls = async (): Promise<number> =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0)
    const before = await calls()
    expect((await outcomes(limiter, 'many', 600, 512)).passed).toBe(512)
    expect((await calls()) - before).toBe(1)
  })

  it('leaves only expiring keys below its base, and the client unchanged', async () => {
    await client.flushall()
    const limiter = await redisRateLimiter(client, { base: 'mine', window: 300 })
    await Promise.all(Array.from({ length: 20 }, (_, i) => limiter.consume(`k${i}`, 0 + i)))
    const keys = await client.keys('*')
    expect(keys.toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `mine:rate:k${i}`).toSorted())
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0)
    await expect.poll(() => client.dbsize()).toBe(0)
    const listeners = client.listenerCount('close')
    await limiter.close()
    expect(client.listenerCount('close')).toBe(listeners - 1)
    expect(await client.ping()).toBe('PONG')
  })

  it('rejects while Redis is down, and counts again when it is back', async () => {
    const limiter = await redisRateLimiter(client, { timeout: 1_000 })
    expect((await limiter.consume('away', 3)).ok).toBe(true)
    await server.kill()
    expect(await outcomes(limiter, 'away', 3, 5)).toEqual({ passed: 0, refused: 0, failed: 5 })
    await expect(limiter.consume('away', 3)).rejects.toMatchObject({ name: 'StorageError' })
    await server.restart()
    await expect.poll(() => client.status).toBe('ready')
    expect((await outcomes(limiter, 'back', 3, 5)).passed).toBe(3)
  })
})

describe('postgresRateLimiter', needs(postgres), () => {
  let server: Postgres
  const pools: Pool[] = []
  const open = (options: PoolConfig = {}): Pool => {
    const pool = new Pool({ connectionString: server.url, max: 2, ...options })
    pools.push(pool)
    return pool
  }
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await server?.stop()
  })

  // These two come first: a pool whose limiter was closed has nobody who hears its errors.
  it('exceeds no limit where back ends are killed, and continues', async () => {
    const limiter = await postgresRateLimiter(open())
    const tally = { passed: 0, refused: 0, failed: 0 }
    let killed = 0
    const over = new AbortController()
    const asking = (async () => {
      while (!over.signal.aborted) {
        const { passed, refused, failed } = await outcomes(limiter, 'killed', 5_000, 10)
        tally.passed += passed
        tally.refused += refused
        tally.failed += failed
      }
    })()
    while (killed <= 10 || tally.passed <= 100) {
      const before = tally.passed
      killed += await server.killBackends()
      await expect.poll(() => tally.passed).toBeGreaterThan(before)
    }
    over.abort()
    await asking
    const rest = await outcomes(limiter, 'killed', 5_000, 10_000)
    expect(tally.passed + rest.passed).toBeLessThanOrEqual(5_000)
    expect(rest.failed).toBe(0)
  })

  it('rejects while the server is down, and counts again when it is back', async () => {
    const limiter = await postgresRateLimiter(open())
    expect((await limiter.consume('away', 3)).ok).toBe(true)
    await server.crash()
    expect(await outcomes(limiter, 'away', 3, 5)).toEqual({ passed: 0, refused: 0, failed: 5 })
    await expect(limiter.consume('away', 3)).rejects.toMatchObject({ name: 'StorageError' })
    await server.restart()
    expect((await outcomes(limiter, 'back', 3, 5)).passed).toBe(3)
  })

  it('makes one round trip for 512 callers, and leaves the pool unchanged', async () => {
    const pool = open()
    const before = pool.listenerCount('error')
    const limiter = await postgresRateLimiter(pool)
    const query = vi.spyOn(pool, 'query')
    expect((await outcomes(limiter, 'many', 600, 512)).passed).toBe(512)
    expect(query).toHaveBeenCalledTimes(1)
    await limiter.close()
    expect(pool.listenerCount('error')).toBe(before)
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }])
  })

  it('creates its table once for many concurrent callers, unlogged, with a configurable name', async () => {
    const table = 'made_once'
    const limiters = await Promise.all(
      Array.from({ length: 6 }, () => postgresRateLimiter(open({ max: 1 }), { table })),
    )
    const all = await Promise.all(limiters.map((limiter) => outcomes(limiter, 'k', 4, 3)))
    expect(all.reduce((sum, { passed }) => sum + passed, 0)).toBe(4)
    const { rows } = await pools[0]!.query("select relpersistence from pg_class where relname = 'made_once'")
    expect(rows).toEqual([{ relpersistence: 'u' }])
    await expect(postgresRateLimiter(pools[0]!, { table: 'x; drop table y' })).rejects.toThrow(TypeError)
  })

  it('does not need the right to create an existing table, and refuses a read-only server', async () => {
    const pool = open()
    await postgresRateLimiter(pool)
    await pool.query(`create role plain login; revoke create on schema public from public;
      grant select, insert, update, delete on turnpike_rates to plain`)
    const plain = await postgresRateLimiter(
      open({ connectionString: server.url.replace('postgres@', 'plain@'), user: 'plain' }),
    )
    expect(await plain.consume('plain', 1)).toMatchObject({ ok: true, retryAfter: 60 })
    await expect(postgresRateLimiter(open({ options: '-c default_transaction_read_only=on' }))).rejects.toThrow(
      'primary',
    )
  })

  it('is exact with serializable transactions', async () => {
    const strict = { options: '-c default_transaction_isolation=serializable' }
    const limiters = await Promise.all(
      [open(strict), open(strict), open(strict)].map((pool) => postgresRateLimiter(pool)),
    )
    for (let round = 0; round < 20; round++) {
      const all = await Promise.all(limiters.map((limiter) => outcomes(limiter, `strict-${round}`, 10, 10)))
      expect(all.reduce((sum, { passed }) => sum + passed, 0)).toBe(10)
      expect(all.every(({ failed }) => failed === 0)).toBe(true)
    }
  })

  it('removes expired windows, once a minute, and only those', async () => {
    const pool = open()
    const table = 'swept'
    vi.useFakeTimers({ toFake: ['performance'] })
    const [short, long] = [
      await postgresRateLimiter(pool, { table, window: 50 }),
      await postgresRateLimiter(pool, { table }),
    ]
    const count = async (): Promise<unknown> => (await pool.query(`select count(*)::int as n from ${table}`)).rows[0]
    await Promise.all(Array.from({ length: 30 }, (_, i) => short.consume(`k${i}`, 5)))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await long.consume('young', 5)
    expect(await count()).toEqual({ n: 31 })
    vi.advanceTimersByTime(60_000)
    await long.consume('next', 5)
    await expect.poll(count).toEqual({ n: 2 })
  })
})
