// Longer than 250 lines: one store before one log that fails and waits on demand.
import { describe, expect, it } from 'vitest'
import { MANY_ENTRIES } from '../conventions.js'
import { StorageError } from '../errors.js'
import type { LogEntry } from './kv-log.js'
import { memoryKV } from './memory-kv.js'

/** A log in memory whose appends can be delayed and made to fail. */
function fakeLog(kept: LogEntry[] = []) {
  const log = {
    kept,
    appends: [] as LogEntry[][],
    forgotten: [] as [LogEntry, over: boolean][],
    closed: 0,
    failure: undefined as unknown,
    stopped: undefined as StorageError | undefined,
    read: async (_entry: LogEntry): Promise<string | undefined> => undefined,
    gate: Promise.resolve(),
    async *load() {
      yield log.kept
    },
    async append(entries: LogEntry[]) {
      log.appends.push(entries)
      await log.gate
      if (log.failure) throw log.failure
      log.kept.push(...entries)
    },
    forget(entry: LogEntry, over: boolean) {
      log.forgotten.push([entry, over])
    },
    async health() {
      return { ok: log.failure === undefined }
    },
    async close() {
      log.closed++
    },
  }
  return log
}

const set = (name: string, value: number | string = 1) => ({ set: [{ key: [name], value }] })

describe('memoryKV', () => {
  it('reports its capabilities', async () => {
    const kv = await memoryKV()
    expect(kv.capabilities).toEqual({ writers: 'one-process', durability: 'none', driver: 'memory' })
    expect(await kv.health()).toEqual({ ok: true })
  })

  it('expires values by its clock', async () => {
    let now = 1_000
    const kv = await memoryKV({ now: () => now })
    await kv.commit({ set: [{ key: ['a', 'b'], value: 1, expiresAt: 2_000 }] })
    now = 1_999
    expect(await kv.get(['a', 'b'])).toMatchObject({ value: 1 })
    now = 2_000
    expect(await kv.get(['a', 'b'])).toBeNull()
    expect(await kv.getMany([['a', 'b']])).toEqual([null])
    expect(await kv.list(['a'])).toEqual({ items: [] })
    expect(await kv.commit({ check: [{ key: ['a', 'b'], version: null }], ...set('c') })).toBe(true)
  })

  it('refuses commits after it was closed', async () => {
    const kv = await memoryKV()
    await kv.close()
    await expect(kv.commit(set('a'))).rejects.toMatchObject({ name: 'StorageError', outcome: 'none' })
    expect(await kv.health()).toEqual({ ok: false, reason: 'The store is closed' })
  })
})

describe('memoryKV with a log', () => {
  it('starts with the contents of the log', async () => {
    const log = fakeLog()
    const before = await memoryKV({ log })
    await before.commit(set('a', 'x'))
    await before.commit({ sum: [{ key: ['n'], add: { calls: 2 } }] })
    await before.commit({ ...set('b'), del: [['a']] })
    const after = await memoryKV({ log: fakeLog(log.kept) })
    expect(await after.get(['a'])).toBeNull()
    expect(await after.get(['b'])).toEqual(await before.get(['b']))
    expect((await after.get(['n']))?.value).toEqual({ calls: 2 })
  })

  it('acknowledges and shows a commit only after the log has stored it', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    let open = (): void => undefined
    log.gate = new Promise((resolve) => (open = resolve))
    let done = false
    const commit = kv.commit(set('a')).then(() => (done = true))
    await new Promise(setImmediate)
    expect(log.appends).toHaveLength(1)
    expect(done).toBe(false)
    expect(await kv.get(['a'])).toBeNull()
    open()
    await commit
    expect(await kv.get(['a'])).toMatchObject({ value: 1 })
  })

  it('appends commits that arrive during a flush as one group', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    let open = (): void => undefined
    log.gate = new Promise((resolve) => (open = resolve))
    const commits = [0, 1, 2, 3].map((i) => kv.commit(set(`k${i}`)))
    open()
    expect(await Promise.all(commits)).toEqual([true, true, true, true])
    expect(log.appends.map((entries) => entries.map(({ k }) => k))).toEqual([['k0'], ['k1', 'k2', 'k3']])
  })

  it('writes at most 512 commits at a time', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    await Promise.all(Array.from({ length: 1_025 }, (_, i) => kv.commit(set(`k${i}`))))
    expect(log.appends.map((entries) => entries.length)).toEqual([1, 512, 512])
  })

  it('checks a commit against earlier commits of the same group', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    const absent = { check: [{ key: ['a'], version: null }] }
    const counted = { sum: [{ key: ['n'], add: { x: 1 } }] }
    const results = [set('first'), { ...absent, ...set('a', 1) }, { ...absent, ...set('a', 2) }, counted, counted]
    expect(await Promise.all(results.map(kv.commit))).toEqual([true, true, false, true, true])
    expect((await kv.get(['a']))?.value).toBe(1)
    expect((await kv.get(['n']))?.value).toEqual({ x: 2 })
    expect(log.appends).toHaveLength(2)
  })

  it('rejects one commit of a group and applies the others', async () => {
    const kv = await memoryKV({ log: fakeLog() })
    await kv.commit({ sum: [{ key: ['n'], add: { x: 1 } }] })
    const results = await Promise.allSettled([set('a'), set('n'), set('b')].map(kv.commit))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await kv.getMany([['a'], ['b']])).toMatchObject([{ value: 1 }, { value: 1 }])
  })

  it('does not report a failed check because of a commit that was not stored', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    log.failure = new StorageError('Disk full', 'none')
    // The first commit is flushed alone; the others share the next flush, where the check of the last one fails because of the one before.
    const create = () => kv.commit({ check: [{ key: ['a'], version: null }], ...set('a') })
    const results = await Promise.allSettled([kv.commit(set('b')), create(), create()])
    expect(results).toEqual(Array.from({ length: 3 }, () => ({ status: 'rejected', reason: log.failure })))
    log.failure = undefined
    expect(await create()).toBe(true)
    expect(await create()).toBe(false)
  })

  it.each([
    ['a failure that wrote nothing', new StorageError('Disk full', 'none'), 'none'],
    ['a failure that may have written', new StorageError('Disk gone', 'unknown'), 'unknown'],
    ['a failure of another kind', new Error('EIO'), 'unknown'],
  ])('continues after %s', async (_, failure, outcome) => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    log.failure = failure
    const results = await Promise.allSettled([set('a'), set('b')].map(kv.commit))
    const rejected = { status: 'rejected', reason: { name: 'StorageError', outcome } }
    expect(results).toMatchObject([rejected, rejected])
    expect(await kv.get(['a'])).toBeNull()
    expect(await kv.health()).toEqual({ ok: false })
    log.failure = undefined
    expect(await kv.commit({ check: [{ key: ['a'], version: null }], ...set('a') })).toBe(true)
  })

  it('shows nothing after its log has stopped', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    await kv.commit(set('a'))
    log.stopped = new StorageError('Taken over', 'unknown')
    await expect(kv.get(['a'])).rejects.toBe(log.stopped)
    await expect(kv.getMany([['a']])).rejects.toBe(log.stopped)
  })

  it('reads values that are not in memory from the log', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    await kv.commit({ set: ['x', 'y'].map((name) => ({ key: ['a', name], value: name })) })
    for (const entry of log.kept) entry.j = null
    log.read = async ({ k }) => JSON.stringify(`read ${k}`)
    expect((await kv.get(['a', 'x']))?.value).toBe('read a/x')
    expect((await kv.list(['a'])).items.map(({ value }) => value)).toEqual(['read a/x', 'read a/y'])
    const { version } = (await kv.get(['a', 'x']))!
    expect(await kv.commit({ check: [{ key: ['a', 'x'], version }] })).toBe(true)
  })

  it('reads again if a value was replaced or deleted during the read from the log', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    await kv.commit({ set: ['x', 'y', 'z'].map((name) => ({ key: ['a', name], value: 1 })) })
    for (const entry of log.kept) entry.j = null
    log.read = async () => {
      await kv.commit({ set: [{ key: ['a', 'x'], value: 2 }], del: [['a', 'y']] })
      return undefined
    }
    expect((await kv.get(['a', 'x']))?.value).toBe(2)
    expect(await kv.get(['a', 'y'])).toBeNull()
  })

  it('omits entries from a page that are deleted during the read, and still returns the next cursor', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    await kv.commit({ set: ['x', 'y', 'z'].map((name) => ({ key: ['a', name], value: 1 })) })
    for (const entry of log.kept) entry.j = null
    log.read = async ({ k }) => (k === 'a/y' ? void (await kv.commit({ del: [['a', 'y']] })) : '1')
    const page = await kv.list(['a'], { limit: 2 })
    expect(page.items.map(({ key }) => key.at(-1))).toEqual(['x'])
    expect(page.next).toEqual(['a', 'y'])
    expect((await kv.list(['a'], { after: page.next! })).items.map(({ key }) => key.at(-1))).toEqual(['z'])
  })

  it('reports superseded entries to the log', async () => {
    let now = 1_000
    const log = fakeLog()
    const kv = await memoryKV({ log, now: () => now })
    await kv.commit(set('a', 1))
    await kv.commit(set('a', 2))
    await kv.commit({ del: [['a']] })
    expect(log.forgotten.map(([{ v }, over]) => [v, over])).toEqual([
      [1, false],
      [2, false],
    ])
    await kv.commit({ set: [{ key: ['b'], value: 1, expiresAt: 2_000 }] })
    now = 2_000
    for (let i = 0; i < 3; i++) await kv.commit(set(`c${i}`))
    expect(log.forgotten.slice(2).map(([{ k }, over]) => [k, over])).toEqual([['b', true]])
  })

  it('removes all expired entries, however many there are', async () => {
    let now = 1_000
    const log = fakeLog()
    const kv = await memoryKV({ log, now: () => now })
    const some = (expiresAt?: number) =>
      Array.from({ length: 300 }, (_, i) => ({
        key: [`k${i}-${expiresAt}`],
        value: i,
        ...(expiresAt && { expiresAt }),
      }))
    await kv.commit({ set: [...some(2_000), ...some(9_000)] })
    now = 2_000
    await kv.commit({ set: some() })
    await kv.commit({ set: some() })
    expect(log.forgotten.filter(([, over]) => over)).toHaveLength(300)
    expect(await kv.get(['k7-9000'])).toMatchObject({ value: 7 })
  })

  it('never reuses a version that is in the log', async () => {
    const kv = await memoryKV({ log: fakeLog([{ k: '', v: 41 }]) })
    await kv.commit(set('a'))
    expect((await kv.get(['a']))!.version).toBe('42')
  })

  it('warns from many entries on, as they are all in memory', async () => {
    const few = Array.from({ length: MANY_ENTRIES - 1 }, (_, i): LogEntry => ({ k: `k${i}`, v: i + 1, j: '1' }))
    const kv = await memoryKV({ log: fakeLog(few) })
    expect(await kv.health()).toEqual({ ok: true })
    await kv.commit(set('k'))
    const { ok, warnings } = await kv.health()
    expect(ok).toBe(true)
    expect(warnings).toHaveLength(1)
    for (const words of ['at least 250,000 entries', 'SQLite or PostgreSQL', '"npm run storage"'])
      expect(warnings![0]).toContain(words)
    await kv.commit({ del: [['k']] })
    expect(await kv.health()).toEqual({ ok: true })
  })

  it('closes the log after the last flush', async () => {
    const log = fakeLog()
    const kv = await memoryKV({ log })
    const commits = Promise.all([kv.commit(set('a')), kv.commit(set('b'))])
    await kv.close()
    expect(await commits).toEqual([true, true])
    expect(log.closed).toBe(1)
    expect(log.kept.map(({ k }) => k)).toEqual(['a', 'b'])
  })
})
