import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noUsage, usageRecord } from '../../../../test/support/usage-record.js'
import { StorageError } from '../errors.js'
import type { Commit, KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import type { UsageRecord } from './usage-record.js'
import { usageLedger } from './usage-ledger.js'

const record = (request_id: string, fields: Partial<UsageRecord> = {}): UsageRecord =>
  usageRecord({ request_id, ...fields })

/** A ledger over a store whose commits are passed to `commit`. */
async function setUp(commit?: (change: Commit, kv: KV) => Promise<boolean>) {
  const kv = await memoryKV()
  const commits: Commit[] = []
  const watched: KV = {
    ...kv,
    commit: (change) => {
      commits.push(change)
      return commit ? commit(change, kv) : kv.commit(change)
    },
  }
  const lost: { ids: string[]; error: unknown }[] = []
  const onLost = (records: UsageRecord[], error: unknown): void => {
    lost.push({ ids: records.map(({ request_id }) => request_id), error })
  }
  return { kv, commits, lost, ledger: usageLedger(watched, { onLost }) }
}

const unavailable = { name: 'ApiError', status: 500, type: 'server_error', code: 'ledger_unavailable' }

// Flush ids sort by millisecond; tests of their order advance this clock between appends.
beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 0, 2), toFake: ['Date'] }))
afterEach(() => vi.useRealTimers())

describe('the usage ledger', () => {
  it('has no usage for a new user', async () => {
    const { ledger } = await setUp()
    expect(await ledger.totals('user', 'ada')).toEqual(noUsage)
    expect(await ledger.records('ada')).toEqual({ items: [] })
  })

  it('returns several totals at once, and those of all used providers', async () => {
    const { ledger } = await setUp()
    await Promise.all([
      ledger.append(record('a')),
      ledger.append(record('b', { user_id: 'bob', provider: 'Other.1', outcome: 'truncated' })),
    ])
    ledger.failed({ provider: 'third', kind: 'timeout', timestamp: '2026-01-02T00:00:00.000Z' })
    await ledger.append(record('c'))
    const totals = await ledger.totalsOfMany('user', ['bob', 'nobody', 'ada'])
    expect(totals.map(({ requests }) => requests)).toEqual([1, 0, 2])
    expect(await ledger.totalsOfMany('user', [])).toEqual([])
    const providers = await ledger.providers()
    expect(providers.map(({ id, totals, fields }) => [id, totals.requests, fields]).toSorted()).toEqual([
      ['Other.1', 1, expect.objectContaining({ outcome_truncated: 1 })],
      ['openai', 2, expect.objectContaining({ outcome_complete: 2, ms_18: 2, ms: 40 })],
      ['third', 0, { failed_timeout: 1 }],
    ])
  })

  it('stores records and sums per user', async () => {
    const { ledger } = await setUp()
    await Promise.all([
      ledger.append(record('a')),
      ledger.append(record('b', { prompt_tokens: 100, completion_tokens: 50, tokens: 150, cost_nano_usd: null })),
      ledger.append(record('c', { user_id: 'bob', prompt_tokens: 1, completion_tokens: 0, tokens: 1 })),
    ])
    expect(await ledger.totals('user', 'ada')).toEqual({
      requests: 2,
      unpriced: 1,
      prompt_tokens: 110,
      completion_tokens: 53,
      tokens: 163,
      // An unknown price adds nothing.
      cost_nano_usd: 55_000,
    })
    expect(await ledger.totals('user', 'bob')).toMatchObject({
      requests: 1,
      prompt_tokens: 1,
      completion_tokens: 0,
      tokens: 1,
    })
    expect((await ledger.records('bob')).items).toEqual([
      record('c', { user_id: 'bob', prompt_tokens: 1, completion_tokens: 0, tokens: 1 }),
    ])
  })

  it('writes records of two turns as one commit, with one segment and one sum per user', async () => {
    const { ledger, commits } = await setUp()
    const append = (id: string) => ledger.append(record(id, { user_id: id === 'd' ? 'bob' : 'ada' }))
    const first = ['a', 'b'].map(append)
    await new Promise(setImmediate)
    await Promise.all([...first, ...['c', 'd'].map(append)])
    expect(commits).toHaveLength(1)
    const segments = commits[0]!.set!.filter(({ key }) => key[0] === 'usage')
    expect(segments.map(({ key, value }) => [key[1], (value as UsageRecord[]).map((r) => r.request_id)])).toEqual([
      ['ada', ['a', 'b', 'c']],
      ['bob', ['d']],
    ])
    const sums = new Map(commits[0]!.sum!.map(({ key, add }) => [key.join(' '), add]))
    expect(sums.size).toBe(commits[0]!.sum!.length)
    expect(sums.get('usage-total user ada')).toEqual({
      requests: 3,
      prompt_tokens: 30,
      completion_tokens: 9,
      cost_rest: 165_000,
    })
    expect(sums.get('usage-total user bob')).toEqual({
      requests: 1,
      prompt_tokens: 10,
      completion_tokens: 3,
      cost_rest: 55_000,
    })
    expect(sums.get('usage-total all')).toMatchObject({ requests: 4, cost_rest: 220_000 })
  })

  it('writes at most 128 records at once', async () => {
    const { ledger, commits } = await setUp()
    await Promise.all(Array.from({ length: 600 }, (_, i) => ledger.append(record(`r${i}`))))
    expect(commits.map(({ sum }) => sum![0]!.add['requests'])).toEqual([128, 128, 128, 128, 88])
    expect(await ledger.totals('user', 'ada')).toMatchObject({ requests: 600 })
  })

  it('resolves after the record is stored', async () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const { ledger } = await setUp(async (change, kv) => gate.then(() => kv.commit(change)))
    let done = false
    const append = ledger.append(record('a')).then(() => (done = true))
    await new Promise(setImmediate)
    expect(done).toBe(false)
    open()
    await append
    expect(await ledger.totals('user', 'ada')).toMatchObject({ requests: 1 })
  })

  it('lists newest first, in pages', async () => {
    const { ledger } = await setUp()
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await ledger.append(record(id))
      vi.advanceTimersByTime(1)
    }
    const seen: string[][] = []
    let after: string | undefined
    do {
      const page = await ledger.records('ada', { limit: 2, ...(after !== undefined && { after }) })
      seen.push(page.items.map(({ request_id }) => request_id))
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual([['e', 'd'], ['c', 'b'], ['a']])
  })
})

describe('a failing store', () => {
  const unknown = new StorageError('Timed out', 'unknown')

  it('retries a flush of unknown outcome and counts it once, whether or not it was applied', async () => {
    for (const applied of [true, false]) {
      let tries = 0
      const { ledger, commits, lost } = await setUp(async (change, kv) => {
        if (++tries > 1) return kv.commit(change)
        if (applied) await kv.commit(change)
        throw unknown
      })
      await ledger.append(record('a'))
      expect(commits).toHaveLength(2)
      expect(commits[1]).toEqual(commits[0])
      expect(await ledger.totals('user', 'ada')).toMatchObject({
        requests: 1,
        prompt_tokens: 10,
        completion_tokens: 3,
        tokens: 13,
        cost_nano_usd: 55_000,
      })
      expect((await ledger.records('ada')).items).toEqual([record('a')])
      expect(lost).toEqual([])
    }
  })

  it('stops after three tries of unknown outcome', async () => {
    const { ledger, commits, lost } = await setUp(() => Promise.reject(unknown))
    await expect(ledger.append(record('a'))).rejects.toMatchObject({ ...unavailable, cause: unknown })
    expect(commits).toHaveLength(3)
    expect(lost).toEqual([{ ids: ['a'], error: unknown }])
  })

  it.each([new StorageError('Disk full', 'none'), new Error('bug')])('is not retried after %s', async (failure) => {
    const { ledger, commits, lost } = await setUp(() => Promise.reject(failure))
    const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => ledger.append(record(id))))
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: unavailable })
    expect(commits).toHaveLength(1)
    expect(lost).toEqual([{ ids: ['a', 'b', 'c'], error: failure }])
  })

  it('makes the ledger not ready until a write succeeds', async () => {
    let broken = false
    const { ledger, commits } = await setUp((change, kv) =>
      broken ? Promise.reject(new StorageError('Disk full', 'none')) : kv.commit(change),
    )
    await ledger.ready()
    expect(commits).toHaveLength(0)
    broken = true
    await expect(ledger.append(record('a'))).rejects.toMatchObject(unavailable)
    await expect(ledger.ready()).rejects.toMatchObject(unavailable)
    await expect(ledger.ready()).rejects.toMatchObject(unavailable)
    broken = false
    await ledger.ready()
    const before = commits.length
    await ledger.ready()
    expect(commits).toHaveLength(before)
    await ledger.append(record('b'))
    expect(await ledger.totals('user', 'ada')).toMatchObject({ requests: 1 })
  })

  it('rejects the callers even if the onLost hook throws', async () => {
    const kv: KV = { ...(await memoryKV()), commit: () => Promise.reject(new StorageError('Disk full', 'none')) }
    const ledger = usageLedger(kv, {
      onLost: () => {
        throw new Error('The last resort failed')
      },
    })
    const results = await Promise.allSettled(['a', 'b'].map((id) => ledger.append(record(id))))
    expect(results).toMatchObject(Array.from({ length: 2 }, () => ({ status: 'rejected', reason: unavailable })))
  })

  it('is ready again after a successful append', async () => {
    let broken = true
    const { ledger, commits } = await setUp((change, kv) =>
      broken ? Promise.reject(new StorageError('Disk full', 'none')) : kv.commit(change),
    )
    await expect(ledger.append(record('a'))).rejects.toMatchObject(unavailable)
    broken = false
    await ledger.append(record('b'))
    const before = commits.length
    await ledger.ready()
    expect(commits).toHaveLength(before)
  })
})
