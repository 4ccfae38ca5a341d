import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { sqliteKV } from '@turnpike/storage/sqlite'
import { kvContract } from '@turnpike/storage/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, nodeSqlite } from '../support/needs.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { expectContract } from '../support/store-contract.js'
import { compareWithMemory, inTwoProcesses, sharedCases } from './sql-cases.js'

/** The file without our code. */
const openRaw = (file: string): { exec(sql: string): void; close(): void } => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    DatabaseSync: new (file: string) => ReturnType<typeof openRaw>
  }
  return new DatabaseSync(file)
}
const folder = mkdtempSync(join(tmpdir(), 'turnpike-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.runIf(nodeSqlite.isMissing)('sqliteKV on a runtime without SQLite', () => {
  it('refuses, and names the alternatives', async () => {
    const refused = sqliteKV(join(folder, 'refused.db'))
    await expect(refused).rejects.toMatchObject({ name: 'StorageError', outcome: 'none' })
    for (const way of ['Node 22', 'PostgreSQL', 'Redis']) await expect(refused).rejects.toThrow(way)
  })
})

describe.runIf(runtime === 'bun')('sqliteKV on Bun', () => {
  it('passes the contract', () =>
    expectContract(new URL('sqlite-contract.mjs', import.meta.url), join(folder, 'bun.db'), [
      ...kvContract,
      ...sharedCases,
    ]))
})

describe('sqliteKV', needs(nodeSqlite), () => {
  const file = join(folder, 'kv.db')
  let kv: KV
  beforeAll(async () => {
    kv = await sqliteKV(file)
  })
  afterAll(() => kv.close())

  for (const { name, run } of kvContract) it(name, () => run(kv))
  for (const { name, run } of sharedCases) it(name, () => run((now) => sqliteKV(file, now && { now })))

  it('behaves like the store in memory, for any commands', async () => {
    await compareWithMemory(kv, await memoryKV())
  })

  it('is exact with two processes', () => inTwoProcesses(['sqlite', file], kv))

  it('reports its capabilities', async () => {
    expect(kv.capabilities).toEqual({ writers: 'one-host', durability: 'power-loss', driver: 'sqlite' })
    const fast = await sqliteKV(file, { durability: 'process-crash' })
    expect(fast.capabilities.durability).toBe('process-crash')
    expect(await kv.health()).toEqual({ ok: true })
    await fast.close()
  })

  it('creates its file once for many concurrent processes', async () => {
    const script = fileURLToPath(new URL('sql-writer.mjs', import.meta.url))
    for (let round = 0; round < 3; round++) {
      const made = join(folder, `made-${round}.db`)
      const exits = ['a', 'b', 'c', 'd'].map((name) =>
        once(spawn(runtimePath(), [script, 'sqlite', made, 'made', name, '0'], { stdio: 'ignore' }), 'exit'),
      )
      expect((await Promise.all(exits)).map(([code]) => code as number)).toEqual([0, 0, 0, 0])
      const store = await sqliteKV(made)
      expect((await store.get(['made', 'ready']))?.value).toEqual({ n: 4 })
      await store.close()
    }
  })

  it('waits for another writer without blocking the event loop', async () => {
    const other = openRaw(file)
    other.exec('begin immediate')
    let longest = 0
    let last = performance.now()
    const ticks = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    const done = kv.commit({ set: [{ key: ['waited'], value: 1 }] })
    // Reading goes on meanwhile.
    expect(await kv.get(['waited'])).toBeNull()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    other.exec('commit')
    other.close()
    expect(await done).toBe(true)
    clearInterval(ticks)
    expect(longest).toBeLessThan(300)
  })

  it('refuses a file of a newer version, and other databases', async () => {
    const newer = join(folder, 'newer.db')
    await (await sqliteKV(newer)).close()
    const db = openRaw(newer)
    db.exec("update turnpike_kv set value = '2' where k = ''")
    db.close()
    await expect(sqliteKV(newer)).rejects.toMatchObject({
      name: 'StorageError',
      message: expect.stringContaining('format 2'),
    })
    await expect(sqliteKV(':memory:')).rejects.toMatchObject({ name: 'StorageError', outcome: 'none' })
    await expect(sqliteKV(join(folder, 'none', 'kv.db'))).rejects.toMatchObject({ name: 'StorageError' })
    await expect(sqliteKV(fileURLToPath(import.meta.url))).rejects.toMatchObject({ name: 'StorageError' })
  })
})
