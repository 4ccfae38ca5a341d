import type { KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { postgresKV } from '@turnpike/storage/postgres'
import { kvContract } from '@turnpike/storage/testing'
import type { PoolConfig } from 'pg'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import type { Postgres } from '../support/postgres.js'
import { postgres, startPostgres } from '../support/postgres.js'
import { compareWithMemory, inTwoProcesses, sharedCases } from './sql-cases.js'

describe('postgresKV', needs(postgres), () => {
  let server: Postgres
  let pool: Pool
  let kv: KV
  const pools: Pool[] = []
  const open = (options: PoolConfig = {}): Pool => {
    const made = new Pool({ connectionString: server.url, max: 4, ...options })
    pools.push(made)
    return made
  }

  beforeAll(async () => {
    server = await startPostgres()
    pool = open()
    kv = await postgresKV(pool)
  })
  afterAll(async () => {
    await Promise.all(pools.map((each) => each.end()))
    await server?.stop()
  })

  for (const { name, run } of kvContract) it(name, () => run(kv))
  for (const { name, run } of sharedCases) it(name, () => run((now) => postgresKV(pool, now && { now })))

  it('behaves like the store in memory, for any commands', async () => {
    await compareWithMemory(kv, await memoryKV())
  })

  it('is exact with two processes', needs(testAll), () => inTwoProcesses(['postgres', server.url], kv))

  it('lets one of a hundred concurrent callers of two pools create a key', async () => {
    // One table, however it is called.
    const other = await postgresKV(open(), { table: 'public.turnpike_kv' })
    for (let round = 0; round < 10; round++) {
      const key = ['race', String(round)]
      const race = Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? kv : other).commit({ check: [{ key, version: null }], set: [{ key, value: i }] }),
      )
      expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1)
    }
  })

  it('prevents write skew between two commits', async () => {
    const other = await postgresKV(open())
    const create = (store: KV, absent: string, present: string): Promise<boolean> =>
      store.commit({ check: [{ key: ['skew', absent], version: null }], set: [{ key: ['skew', present], value: 1 }] })
    for (let round = 0; round < 50; round++) {
      const [a, b] = [`a${round}`, `b${round}`]
      const done = await Promise.all([create(kv, a, b), create(other, b, a)])
      expect(done.toSorted()).toEqual([false, true])
    }
  })

  it('reports its capabilities, with the durability of the server', async () => {
    expect(kv.capabilities).toEqual({ writers: 'many-hosts', durability: 'power-loss', driver: 'postgres' })
    const hasty = await postgresKV(open({ options: '-c synchronous_commit=off' }))
    expect(hasty.capabilities.durability).toBe('process-crash')
    expect(await kv.health()).toEqual({ ok: true })
  })

  it('creates its table once for many concurrent callers, with a configurable name, in a schema or not', async () => {
    await pool.query('create schema other')
    for (const table of ['made_once', 'other.made_once']) {
      const stores = await Promise.all(Array.from({ length: 6 }, () => postgresKV(open({ max: 1 }), { table })))
      await Promise.all(stores.map((store) => store.commit({ sum: [{ key: ['n'], add: { x: 1 } }] })))
      expect((await stores[0]!.get(['n']))?.value).toEqual({ x: 6 })
    }
    expect(await kv.get(['n'])).toBeNull()
    await expect(postgresKV(pool, { table: 'x; drop table y' })).rejects.toThrow(TypeError)
  })

  it('does not need the right to create an existing table', async () => {
    await pool.query(`create role plain login; revoke create on schema public from public;
      grant select, insert, update, delete on turnpike_kv to plain`)
    const plain = await postgresKV(open({ user: 'plain', connectionString: server.url.replace('postgres@', 'plain@') }))
    expect(await plain.commit({ set: [{ key: ['plain'], value: 1 }] })).toBe(true)
  })

  it('refuses a table of a newer version', async () => {
    await postgresKV(pool, { table: 'newer' })
    await pool.query("update newer set value = '2' where k = ''")
    await expect(postgresKV(pool, { table: 'newer' })).rejects.toMatchObject({
      name: 'StorageError',
      outcome: 'none',
      message: expect.stringContaining('format 2'),
    })
  })

  it('refuses a read-only server, and is unhealthy on one', async () => {
    const readOnly = open({ options: '-c default_transaction_read_only=on' })
    await expect(postgresKV(readOnly)).rejects.toThrow('connect to the primary')
    const turned = open({ max: 1 })
    const store = await postgresKV(turned)
    await turned.query('set default_transaction_read_only = on')
    expect(await store.health()).toMatchObject({ ok: false, reason: expect.stringContaining('takes no writes') })
  })

  it('refuses a database that cannot store every character', async () => {
    await pool.query("create database latin encoding 'LATIN1' locale 'C' template template0")
    const latin = open({ connectionString: server.url.replace(/postgres$/, 'latin') })
    await expect(postgresKV(latin)).rejects.toThrow("encoding 'UTF8'")
  })

  it('is unhealthy when the server does not answer in time', async () => {
    const busy = open({ max: 1 })
    const store = await postgresKV(busy)
    const client = await busy.connect()
    expect(await store.health()).toEqual({
      ok: false,
      reason: 'The storage has not answered a health check for 2000 ms',
    })
    client.release()
    expect(await store.health()).toEqual({ ok: true })
  })

  it('works with one connection, and leaves the pool open', async () => {
    const one = open({ max: 1 })
    const before = one.listenerCount('error')
    const store = await postgresKV(one)
    const work = Array.from({ length: 50 }, (_, i) => [
      store.commit({ sum: [{ key: ['one'], add: { x: 1 } }] }),
      store.get(['one', String(i)]),
    ])
    await Promise.all(work.flat())
    expect((await store.get(['one']))?.value).toEqual({ x: 50 })
    await store.close()
    expect(one.listenerCount('error')).toBe(before)
    expect((await one.query('select 1 as n')).rows).toEqual([{ n: 1 }])
  })

  it('does not block commits of other keys while one is blocked', async () => {
    const table = 'held'
    const [first, second] = [await postgresKV(open(), { table }), await postgresKV(open(), { table })]
    await first.commit({ sum: [{ key: ['hot'], add: { x: 1 } }] })
    const holder = await pool.connect()
    try {
      await holder.query("begin; update held set value = value where k = 'hot'")
      const held = first.commit({ sum: [{ key: ['hot'], add: { x: 1 } }] })
      expect(await second.commit({ set: [{ key: ['cold'], value: 1 }] })).toBe(true)
      await holder.query('rollback')
      expect(await held).toBe(true)
    } finally {
      holder.release()
    }
  })
})
