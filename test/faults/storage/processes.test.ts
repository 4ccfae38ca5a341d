import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiError, Commit, KV } from '@turnpike/core'
import { createUser } from '@turnpike/core'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../../support/engines.js'
import { needs } from '../../support/needs.js'
import { runtime } from '../../support/runtime.js'
import { sample, thorough } from '../../support/scope.js'
import { killStores, startStore } from '../../support/store-process.js'
import { randomOf } from '../../support/random.js'
import { all, newJournal, verify, writeAll } from './journal.js'

/** Kills under load. */
const KILLS = thorough ? 3 : 1
/** Longest time under load before a kill, in milliseconds. */
const LOAD_MS = 400
/** Longest time before a process is killed that is being opened: about what it takes. */
const OPENING_MS = 200

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1e9)
const random = randomOf(seed)

afterEach(killStores)
afterAll(endEngines)

describe.each(sample(engines))('a store on $name', ({ name, single, needed, create }) => {
  /** A store, through two processes where it can be. */
  const openTwice = async (): Promise<[KV, KV]> => {
    const url = await create()
    const first = await startStore(url).opened
    return [first, single ? first : await startStore(url).opened]
  }

  it('keeps acknowledged commits over kills under load', { ...needs(...needed), timeout: 600_000 }, async () => {
    const url = await create()
    const journal = newJournal()
    for (let round = 0; round < KILLS; round++) {
      const opening = startStore(url)
      await sleep(random() * OPENING_MS)
      await opening.kill()
      const process = startStore(url)
      const kv = await process.opened
      await verify(kv, journal)
      const before = journal.acknowledged
      const writing = writeAll(kv, journal, { name: String(round), clients: 32 })
      await expect.poll(() => journal.acknowledged).toBeGreaterThan(before)
      await sleep(random() * LOAD_MS)
      await process.kill()
      expect((await writing).map(({ outcome }) => outcome)).toEqual(Array.from({ length: 32 }, () => 'unknown'))
    }
    const kv = await startStore(url).opened
    await verify(kv, journal)
    const { acknowledged, unknown, applied } = journal
    console.log(`${name}, seed ${seed}: ${acknowledged} acknowledged, 0 lost; ${unknown} unknown, ${applied} found`)
    expect(acknowledged).toBeGreaterThan(10)
    await kv.close()
  })

  // With Redis and PostgreSQL alive and only the answer lost: test/faults/{redis,postgres}.test.ts, "a lost answer" and "when the line
  // fails"; with a driver that applies and then fails: schedules.test.ts.
  it('counts a commit once that was applied without an answer and is retried', needs(...needed), async () => {
    const url = await create()
    const flush: Commit = {
      check: [{ key: ['flush', '1'], version: null }],
      set: [{ key: ['flush', '1'], value: 'x'.repeat(1_000) }],
      sum: [{ key: ['total'], add: { records: 1, amount: 17 } }],
    }
    const before = startStore(url)
    await before.opened
    await expect(before.lose(flush)).rejects.toMatchObject({ name: 'StorageError', outcome: 'unknown' })
    for (let attempt = 0; attempt < 2; attempt++) {
      const process = startStore(url)
      const kv = await process.opened
      expect(await kv.commit(flush)).toBe(false)
      expect((await kv.get(['total']))?.value).toEqual({ records: 1, amount: 17 })
      await process.kill()
    }
  })

  it('gives an e-mail address to one of a hundred concurrent users', needs(...needed), async () => {
    const stores = await openTwice()
    for (let round = 0; round < 3; round++) {
      const users = await Promise.allSettled(
        Array.from({ length: 100 }, (_, i) =>
          createUser(stores[i % 2]!, { email: `${i % 3 ? 'Ann' : 'ann'}-${round}@example.com`, name: String(i) }),
        ),
      )
      const winners = users.flatMap((user) => (user.status === 'fulfilled' ? user.value.id : []))
      expect(winners).toHaveLength(1)
      const others = users.flatMap((user) => (user.status === 'rejected' ? (user.reason as ApiError).status : []))
      expect(new Set(others)).toEqual(new Set([400]))
      expect((await stores[0].get(['email', `ann-${round}@example.com`]))?.value).toBe(winners[0])
      expect((await all(stores[1], ['user'])).size).toBe(round + 1)
    }
  })

  it('has no task below a deleted project', needs(...needed), async () => {
    const [kv, other] = await openTwice()
    let [before, after] = [0, 0]
    for (let round = 0; round < 30; round++) {
      const id = `p${round}`
      const project = ['project', id]
      await kv.commit({ set: [{ key: project, value: {} }] })
      const version = (await kv.get(project))!.version
      const createTask = (store: KV, task: string): Promise<boolean> =>
        store.commit({
          check: [{ key: project, version }],
          set: [
            { key: ['task', task], value: { project: id } },
            { key: ['project-tasks', id, task], value: null },
          ],
        })
      // As the sweeper does: what is deleted after the project is all that there was.
      const deleteProject = async (): Promise<void> => {
        await kv.commit({ check: [{ key: project, version }], del: [project] })
        const tasks = [...(await all(kv, ['project-tasks', id])).keys()]
        await kv.commit({
          del: tasks.flatMap((task) => [
            ['task', task],
            ['project-tasks', id, task],
          ]),
        })
      }
      const create = (i: number): Promise<boolean> => createTask(i % 2 ? kv : other, `${id}-${i}`)
      const early = [0, 1, 2, 3, 4].map(create)
      const [, ...late] = await Promise.all([deleteProject(), ...[5, 6, 7, 8, 9].map(create)])
      for (const created of [...(await Promise.all(early)), ...late, await create(10)])
        if (created) before++
        else after++
    }
    expect((await all(kv, ['task'])).size).toBe(0)
    expect((await all(kv, ['project-tasks'])).size).toBe(0)
    expect(before).toBeGreaterThan(0)
    expect(after).toBeGreaterThan(0)
  })

  // PostgreSQL, and SQLite on Node: test/storage/{postgres,sqlite}.test.ts, "is exact with two processes".
  const isTwice = name === 'redis' || (name === 'sqlite' && runtime === 'bun')
  it.skipIf(!isTwice)('is exact from two processes', needs(...needed), async () => {
    const stores = await openTwice()
    const journal = newJournal()
    const writing = stores.map((kv, s) =>
      writeAll(kv, journal, { name: String(s), clients: 16, done: () => journal.acknowledged >= 4_000 }),
    )
    expect(await Promise.all(writing)).toEqual([[], []])
    for (const kv of stores) await verify(kv, journal)
    expect(journal).toMatchObject({ unknown: 0 })
  })

  it.skipIf(single !== 'locked')('refuses a second process while the first lives', async () => {
    const url = await create()
    const first = startStore(url)
    const kv = await first.opened
    const refused = await startStore(url).opened.catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'StorageError', outcome: 'none' })
    for (const words of [`in use by process ${first.pid}.`, 'Redis', 'PostgreSQL'])
      expect((refused as Error).message).toContain(words)
    expect(await kv.commit({ set: [{ key: ['a'], value: 1 }] })).toBe(true)
    expect(await kv.health()).toEqual({ ok: true })
    await first.kill()
    expect(await (await startStore(url).opened).get(['a'])).toMatchObject({ value: 1 })
  })

  it.skipIf(single !== 'taken-over')(
    'belongs to the second process, and the first reports that',
    needs(...needed),
    async () => {
      const url = await create()
      const journal = newJournal()
      const first = await startStore(url).opened
      const writing = writeAll(first, journal, { name: 'first', clients: 16 })
      await expect.poll(() => journal.acknowledged).toBeGreaterThan(100)
      const second = await startStore(url).opened
      // Each of its clients, which would otherwise go on for ever.
      const failures = await writing
      expect(failures).toHaveLength(16)
      for (const error of failures) expect(error.message).toContain('Another process has opened this store')
      const told = journal.acknowledged
      for (const commit of [{ set: [{ key: ['late'], value: 1 }] }, { check: [{ key: ['late'], version: '1' }] }, {}])
        await expect(first.commit(commit)).rejects.toMatchObject({ name: 'StorageError' })
      expect(await first.health()).toMatchObject({ ok: false })
      await verify(second, journal)
      await writeAll(second, journal, { name: 'second', clients: 16, done: () => journal.acknowledged >= told + 500 })
      await second.close()
      const third = await startStore(url).opened
      await verify(third, journal)
      expect(await third.get(['late'])).toBeNull()
    },
  )
})
