// Longer than 250 lines: one ledger whose counters all cases check.
import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import type { Commit, KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import { lastUsed } from './last-used.js'
import { usageLedger } from './usage-ledger.js'
import type { UsageRecord } from './usage-record.js'

async function setUp() {
  const kv = await memoryKV()
  const commits: Commit[] = []
  const watched: KV = { ...kv, commit: (change) => (commits.push(change), kv.commit(change)) }
  return { kv, commits, ledger: usageLedger(watched) }
}

async function expectClean(kv: KV): Promise<void> {
  const problems: string[] = []
  for await (const problem of verifyStore(kv)) if (!problem.includes('of user')) problems.push(problem)
  expect(problems).toEqual([])
}

const SESSION = '018f0000-0000-7000-8000-000000000001'

describe('totals', () => {
  it('are kept for everything, users, keys, sessions and providers', async () => {
    const { kv, ledger } = await setUp()
    const records: Partial<UsageRecord>[] = [
      { key_id: 'k1', session_id: SESSION, in_session: true },
      { key_id: 'k2', session_id: SESSION, in_session: false },
      { key_id: '', user_id: 'bob', provider: 'google', cost_nano_usd: null },
    ]
    await Promise.all(records.map((fields) => ledger.append(usageRecord(fields))))
    const one = { requests: 1, unpriced: 0, prompt_tokens: 10, completion_tokens: 3, tokens: 13, cost_nano_usd: 55_000 }
    const two = {
      requests: 2,
      unpriced: 0,
      prompt_tokens: 20,
      completion_tokens: 6,
      tokens: 26,
      cost_nano_usd: 110_000,
    }
    const free = { ...one, unpriced: 1, cost_nano_usd: 0 }
    expect(await ledger.totals('all', '')).toEqual({
      ...two,
      requests: 3,
      unpriced: 1,
      prompt_tokens: 30,
      completion_tokens: 9,
      tokens: 39,
    })
    expect(await ledger.totals('user', 'ada')).toEqual(two)
    expect(await ledger.totals('user', 'bob')).toEqual(free)
    expect(await ledger.totals('key', 'k1')).toEqual(one)
    expect(await ledger.totals('key', 'k2')).toEqual(one)
    expect(await ledger.totals('key', '')).toMatchObject({ requests: 0 })
    expect(await ledger.totals('session', SESSION)).toEqual(one)
    expect(await ledger.totals('provider', 'openai')).toEqual(two)
    expect(await ledger.totals('provider', 'google')).toEqual(free)
    await expectClean(kv)
  })

  it('exceed the safe integers of nano-dollars', async () => {
    const { kv, ledger } = await setUp()
    const huge = 999_999_123_456_789
    for (let i = 0; i < 10; i++) await ledger.append(usageRecord({ cost_nano_usd: huge }))
    await ledger.append(usageRecord({ cost_nano_usd: 2 }))
    expect(await ledger.totals('user', 'ada')).toMatchObject({ requests: 11, cost_nano_usd: 10 * huge + 2 })
    expect((await kv.get(['usage-total', 'user', 'ada']))!.value).toMatchObject({
      cost_milli_usd: 10 * 999_999_123,
      cost_rest: 10 * 456_789 + 2,
    })
    await expectClean(kv)
  })

  it('of a budget exceed them, too', async () => {
    const { kv, ledger } = await setUp()
    const huge = usageRecord({ cost_nano_usd: 1e15 })
    const budget = { of: 'user', id: 'ada', budget: { usd: 10_500_000 } } as const
    const holds = await Promise.all(Array.from({ length: 10 }, () => ledger.hold(huge, [budget])))
    expect(holds).not.toContain(null)
    for (const hold of holds) await ledger.append(huge, hold!)
    expect(await ledger.hold(huge, [budget])).toBeNull()
    expect((await kv.get(['budget', 'user', 'ada', 'all']))!.value).toMatchObject({ spent_milli_usd: 10_000_000_000 })
    await expectClean(kv)
  })
})

describe('hours', () => {
  it('are kept for users, keys, models and providers', async () => {
    const { kv, ledger } = await setUp()
    const at = (timestamp: string, fields: Partial<UsageRecord> = {}) =>
      ledger.append(usageRecord({ timestamp, ...fields }))
    await at('2026-01-31T22:00:00.000Z')
    await at('2026-01-31T23:59:59.999Z', { key_id: 'k2' })
    await at('2026-02-01T00:00:00.000Z', { model: 'gpt-4o-mini', latency_ms: 900, first_token_ms: 30 })
    await at('2026-02-01T00:59:59.999Z', { user_id: 'bob', provider: 'azure', outcome: 'client_abort' })
    const seen = async (...args: Parameters<typeof ledger.hours>) =>
      (await ledger.hours(...args)).map(({ hour, totals }) => `${hour} ${totals.requests}`)
    const early = new Date('2026-01-01')
    expect(await seen('user', 'ada', early)).toEqual(['2026-01-31-22 1', '2026-01-31-23 1', '2026-02-01-00 1'])
    expect(await seen('user', 'bob', early)).toEqual(['2026-02-01-00 1'])
    expect(await seen('key', 'key', early)).toEqual(['2026-01-31-22 1', '2026-02-01-00 2'])
    expect(await seen('key', 'k2', early)).toEqual(['2026-01-31-23 1'])
    expect(await seen('model', 'openai/gpt-4o', early)).toEqual(['2026-01-31-22 1', '2026-01-31-23 1'])
    expect(await seen('model', 'openai/gpt-4o-mini', early)).toEqual(['2026-02-01-00 1'])
    expect(await seen('model', 'azure/gpt-4o', early)).toEqual(['2026-02-01-00 1'])
    expect(await seen('provider', 'openai', early)).toEqual(['2026-01-31-22 1', '2026-01-31-23 1', '2026-02-01-00 1'])
    // The minutes of the start time are ignored.
    expect(await seen('user', 'ada', new Date('2026-01-31T23:00:00Z'))).toEqual(['2026-01-31-23 1', '2026-02-01-00 1'])
    expect(await seen('user', 'ada', new Date('2026-01-31T23:59:59Z'))).toEqual(['2026-01-31-23 1', '2026-02-01-00 1'])
    expect(await seen('user', 'ada', new Date('2026-02-01T01:00:00Z'))).toEqual([])
    expect(await seen('user', 'nobody', early)).toEqual([])
    await expectClean(kv)
  })

  it('contain the results of the calls of a provider', async () => {
    const { ledger } = await setUp()
    await ledger.append(usageRecord({ latency_ms: 900, first_token_ms: 30 }))
    await ledger.append(usageRecord({ latency_ms: 0 }))
    await ledger.append(usageRecord({ latency_ms: 70, first_token_ms: 7, outcome: 'client_abort' }))
    ledger.failed({ provider: 'openai', kind: 'timeout', timestamp: '2026-01-02T00:10:00.000Z' })
    ledger.failed({ provider: 'openai', kind: 'timeout', timestamp: '2026-01-02T01:10:00.000Z' })
    await new Promise(setImmediate)
    const hours = await ledger.hours('provider', 'openai', new Date('2026-01-02'))
    expect(hours.map(({ hour }) => hour)).toEqual(['2026-01-02-00', '2026-01-02-01'])
    expect(hours[0]!.fields).toEqual({
      requests: 3,
      prompt_tokens: 30,
      completion_tokens: 9,
      cost_rest: 165_000,
      outcome_complete: 2,
      outcome_client_abort: 1,
      ms_40: 1,
      ms_0: 1,
      ms: 900,
      first_20: 1,
      first: 30,
      failed_timeout: 1,
    })
    expect(hours[1]!.fields).toEqual({ failed_timeout: 1 })
    expect(hours[1]!.totals).toMatchObject({ requests: 0 })
  })
})

describe('a failed call', () => {
  const call = { provider: 'openai', kind: 'timeout', timestamp: '2026-01-02T00:10:00.000Z' }

  it('is counted once, without a caller that waits, and leaves no record', async () => {
    const { kv, commits, ledger } = await setUp()
    ledger.failed(call)
    ledger.failed(call)
    ledger.failed({ ...call, kind: 'refused', provider: 'google' })
    expect(commits).toEqual([])
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(commits).toHaveLength(1)
    expect(commits[0]).toMatchObject({ check: [], set: [], del: [] })
    expect((await kv.get(['usage-total', 'provider', 'openai']))!.value).toEqual({ failed_timeout: 2 })
    expect((await kv.get(['usage-total', 'provider', 'google']))!.value).toEqual({ failed_refused: 1 })
    expect(await ledger.totals('all', '')).toMatchObject({ requests: 0 })
    await expectClean(kv)
  })

  it('is stored with the records of the same turn', async () => {
    const { commits, kv, ledger } = await setUp()
    ledger.failed(call)
    await ledger.append(usageRecord())
    expect(commits).toHaveLength(1)
    expect((await kv.get(['usage-total', 'provider', 'openai']))!.value).toMatchObject({
      failed_timeout: 1,
      requests: 1,
    })
  })
})

describe('the last use', () => {
  it('is stored for keys, and for sessions that counted the request', async () => {
    const { kv, ledger } = await setUp()
    const fields = { session_id: SESSION, in_session: true, key_id: SESSION }
    await Promise.all([
      ledger.append(usageRecord({ ...fields, timestamp: '2026-01-02T00:00:00.000Z' })),
      ledger.append(usageRecord({ ...fields, timestamp: '2026-01-02T00:00:01.000Z' })),
      ledger.append(usageRecord({ ...fields, in_session: false, timestamp: '2026-01-02T00:00:02.000Z' })),
      ledger.append(usageRecord({ key_id: '' })),
    ])
    expect(await lastUsed(kv, 'key', [SESSION, 'other', ''])).toEqual(['2026-01-02T00:00:02.000Z', null, null])
    expect(await lastUsed(kv, 'session', [SESSION, ''])).toEqual(['2026-01-02T00:00:01.000Z', null])
    expect(await lastUsed(kv, 'session', [])).toEqual([])
  })
})

describe('unusual ids', () => {
  it('of models and users do not break a flush, and each is counted', async () => {
    const { kv, ledger } = await setUp()
    const long = 'x'.repeat(10_000)
    // Cut to 200 characters, both `halves` end in an unpaired surrogate, and stores cannot distinguish these.
    const models = [long, `${long}y`, 'a/b/c', '', '..', 'ü😀', '\u0000', '\ud83d', '\ud83e', ' ', '日'.repeat(300)]
    const halves = ['😀', '🧀'].map((end) => 'x'.repeat(192) + end)
    const users = ['a/b', 'a', '', 'A', 'a b', 'probe', 'ü😀', '~', 'é'.repeat(100), '日'.repeat(200)]
    await Promise.all([
      ...[...models, ...halves].map((model) => ledger.append(usageRecord({ model }))),
      ...users.map((user_id) => ledger.append(usageRecord({ user_id }))),
    ])
    const requests = async (model: string): Promise<number> =>
      (await ledger.hours('model', `openai/${model}`, new Date('2026-01-01'))).reduce(
        (n, { totals }) => n + totals.requests,
        0,
      )
    expect(await requests(long)).toBe(2)
    expect(await requests('日'.repeat(300))).toBe(1)
    expect(await requests('a/b/c')).toBe(1)
    expect(await requests(halves[0]!)).toBe(2)
    for (const user of users) {
      expect(await ledger.totals('user', user), user).toMatchObject({ requests: 1 })
      expect((await ledger.records(user)).items, user).toEqual([usageRecord({ user_id: user })])
    }
    expect((await ledger.records('ada')).items.some(({ model }) => model === long)).toBe(true)
    await expectClean(kv)
  })

  it('do not repeat a counter in a commit', async () => {
    const { commits, ledger } = await setUp()
    await Promise.all(['\ud83d', '\ud83e', 'x'].map((model) => ledger.append(usageRecord({ model }))))
    const names = commits[0]!.sum!.map(({ key }) => new TextEncoder().encode(key.join('/')).join())
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('a record that cannot be stored', () => {
  it.each([
    ['a part of a token', { prompt_tokens: 0.5 }],
    ['less than nothing', { completion_tokens: -1 }],
    ['more tokens than sums could take', { prompt_tokens: Number.MAX_SAFE_INTEGER }],
    ['more dollars than any answer costs', { cost_nano_usd: 1e15 + 1 }],
    ['a cost that is no number', { cost_nano_usd: NaN }],
    ['a count that is no number', { completion_tokens: NaN }],
    ['a user whose id is no key', { user_id: 'x'.repeat(3_000) }],
  ])('fails alone: %s', async (_, fields) => {
    const { kv, ledger } = await setUp()
    ledger.failed({ provider: 'google', kind: 'timeout', timestamp: '2026-01-02T00:10:00.000Z' })
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) =>
        ledger.append(usageRecord(i % 20 === 7 ? fields : { request_id: String(i) })),
      ),
    )
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual(results.map((_, i) => i % 20 !== 7))
    expect(await ledger.totals('user', 'ada')).toMatchObject({ requests: 38 })
    expect((await kv.get(['usage-total', 'provider', 'google']))!.value).toEqual({ failed_timeout: 1 })
    await ledger.ready()
    await expectClean(kv)
  })

  it('if it has more than a thousand million tokens', async () => {
    const { ledger } = await setUp()
    await ledger.append(usageRecord({ prompt_tokens: 1e9, completion_tokens: 1e9 }))
    for (const fields of [{ prompt_tokens: 1e9 + 1 }, { completion_tokens: 1e9 + 1 }])
      await expect(ledger.append(usageRecord(fields))).rejects.toMatchObject({ cause: expect.any(RangeError) as Error })
    expect(await ledger.totals('all', '')).toMatchObject({ requests: 1, tokens: 2e9 })
  })

  it('never keeps others out by what it adds to the sums', async () => {
    const { kv, ledger } = await setUp()
    const full = { prompt_tokens: Number.MAX_SAFE_INTEGER, cost_milli_usd: Number.MAX_SAFE_INTEGER }
    await kv.commit({ sum: [{ key: ['usage-total', 'all'], add: full }] })
    await ledger.append(usageRecord({ user_id: 'bob', cost_nano_usd: 5_000_001 }))
    expect(await ledger.totals('user', 'bob')).toMatchObject({ requests: 1, cost_nano_usd: 5_000_001 })
    expect((await kv.get(['usage-total', 'all']))!.value).toMatchObject({ ...full, requests: 1, cost_rest: 1 })
  })

  it('is no reason to try the store again before the next request, nor is a hold', async () => {
    const { ledger } = await setUp()
    await expect(ledger.append(usageRecord({ prompt_tokens: 0.5 }))).rejects.toMatchObject({ status: 500 })
    const budget = { of: 'key', id: 'k', budget: { usd: 1e300 } } as const
    await expect(ledger.hold(usageRecord({ cost_nano_usd: 1e300 }), [budget])).rejects.toMatchObject({ status: 500 })
    expect(ledger.ready()).toBeUndefined()
  })
})
