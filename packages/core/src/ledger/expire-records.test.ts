import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import type { KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import { expireRecords } from './expire-records.js'
import type { Fields } from './totals.js'
import { sumOf } from './totals.js'
import type { UsageRecord } from './usage-record.js'
import { usageLedger } from './usage-ledger.js'

const HOUR = 3_600_000
const START = Date.parse('2026-01-31T09:30:00.000Z')

// Groups of records are dated by the clock of the process.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }))
afterEach(() => void vi.useRealTimers())

/** A store with a record of three users, one of whom is called as the entry that tests the store, in each of six hours. */
async function filled() {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  const record = (user_id: string, n: number): UsageRecord =>
    usageRecord({
      request_id: `${user_id}-${n}`,
      user_id,
      timestamp: new Date().toISOString(),
      project_id: 'p',
      in_project: true,
      cost_nano_usd: n === 0 ? null : n,
    })
  for (let n = 0; n < 6; n++, vi.setSystemTime(Date.now() + HOUR)) {
    for (const user of ['ada', 'probe', 'zoe']) await ledger.append(record(user, n))
    ledger.failed({ provider: 'openai', kind: 'rate_limit', timestamp: new Date().toISOString() })
  }
  // The failed calls of the last hour are stored with it.
  await ledger.append(record('ada', 6))
  await kv.commit({ set: [{ key: ['usage', 'probe'], value: true }] })
  return { kv, ledger, append: (user: string, n: number) => ledger.append(record(user, n)) }
}

const ids = async (kv: KV, user: string): Promise<string[]> =>
  (await usageLedger(kv).records(user, { limit: 100 })).items.map(({ request_id }) => request_id)

const problems = async (kv: KV): Promise<string[]> => {
  const all: string[] = []
  for await (const problem of verifyStore(kv)) all.push(problem)
  return all
}

/** All sums: over all time, and those of each hour. */
async function sums(kv: KV): Promise<Record<string, Fields>> {
  const all: Record<string, Fields> = {}
  for await (const { key, value } of entriesOf<Fields>(kv))
    if (/^usage-(total|hour|part)$/.test(key[0]!)) all[key.join(' ')] = value
  return all
}

/** The sums with those of hours, as far as they are before one, in the first hour of their day. */
function byDay(all: Record<string, Fields>, before: string): Record<string, Fields> {
  const merged: Record<string, Fields> = {}
  for (const [key, value] of Object.entries(all)) {
    const day = key.replace(/ (\d{4}-\d\d-\d\d)-\d\d(?=$| )/, (hour, day: string) =>
      hour.slice(1) < before ? ` ${day}-00` : hour,
    )
    merged[day] = sumOf([merged[day] ?? {}, value])
  }
  return merged
}

describe('expireRecords', () => {
  it('removes the records from before the hour of a time, of all users, and adds their hours up to days', async () => {
    const { kv, ledger } = await filled()
    const before = await sums(kv)
    const day = byDay(before, '2026-01-31-12')
    expect([Object.keys(before).length, Object.keys(day).length]).toEqual([85, 61])
    await expireRecords(kv, new Date(START + 3 * HOUR))
    expect(await ids(kv, 'ada')).toEqual(['ada-6', 'ada-5', 'ada-4', 'ada-3'])
    expect(await ids(kv, 'probe')).toEqual(['probe-5', 'probe-4', 'probe-3'])
    expect(await ids(kv, 'zoe')).toEqual(['zoe-5', 'zoe-4', 'zoe-3'])
    expect(await sums(kv)).toEqual(day)
    expect(await ledger.totals('user', 'zoe')).toMatchObject({ requests: 6, unpriced: 1, cost_nano_usd: 15 })
    expect(await kv.get(['usage', 'probe'])).toMatchObject({ value: true })
  })

  it('leaves a store that is verified: the sums of hours stand for their records', async () => {
    const { kv, append } = await filled()
    await expireRecords(kv, new Date(START + 3 * HOUR))
    expect(await problems(kv)).toEqual([])
    await append('ada', 7)
    expect(await problems(kv)).toEqual([])
    // What is wrong is found still: of hours whose records are there, and of sums over all time.
    await kv.commit({ sum: [{ key: ['usage-hour', 'user', 'ada', '2026-01-31-14'], add: { requests: 1 } }] })
    await kv.commit({ sum: [{ key: ['usage-total', 'project', 'p'], add: { prompt_tokens: -2 } }] })
    expect(await problems(kv)).toEqual([
      'prompt_tokens of usage-total project p is 2 less than what it sums',
      'requests of usage-hour user ada 2026-01-31-14 is 1 more than what it sums',
    ])
  })

  it('goes on where it was cut off, and never brings back an hour', async () => {
    const { kv } = await filled()
    let commits = 0
    const cut: KV = {
      ...kv,
      commit: async (commit) => {
        if (++commits === 3) throw new Error('the process is killed')
        return kv.commit(commit)
      },
    }
    await expect(expireRecords(cut, new Date(START + 3 * HOUR))).rejects.toThrow('killed')
    expect(await problems(kv)).toEqual([])
    await expireRecords(kv, new Date(START + 3 * HOUR))
    await expireRecords(kv, new Date(START + 2 * HOUR))
    expect(await ids(kv, 'zoe')).toEqual(['zoe-5', 'zoe-4', 'zoe-3'])
    expect(await problems(kv)).toEqual([])
  })

  it('keeps a record of before that was stored with later ones', async () => {
    const { kv, ledger } = await filled()
    const late = usageRecord({
      request_id: 'late',
      user_id: 'ada',
      timestamp: new Date(START + 2 * HOUR).toISOString(),
    })
    await ledger.append(late)
    await expireRecords(kv, new Date(START + 3 * HOUR))
    await expireRecords(kv, new Date(START + HOUR))
    expect(await ids(kv, 'ada')).toContain('late')
    expect(await problems(kv)).toEqual([])
  })

  it('adds up hours from where the last call ended, also where hours are added to meanwhile', async () => {
    const { kv } = await filled()
    const before = await sums(kv)
    await expireRecords(kv, new Date(START + 2 * HOUR))
    await expireRecords(kv, new Date(START + 3 * HOUR))
    expect(await sums(kv)).toEqual(byDay(before, '2026-01-31-12'))
    // A request that took long is counted in the hour in which it began.
    let late = false
    const busy: KV = {
      ...kv,
      commit: async (commit) => {
        if (!late && commit.sum?.some(({ key }) => key[0] === 'usage-hour')) {
          late = true
          const key = ['usage-hour', 'user', 'ada', '2026-01-31-13']
          await kv.commit({
            sum: [
              { key, add: { requests: 1 } },
              { key: ['usage-hour', 'key', 'key', '2026-01-31-13'], add: { requests: 1 } },
            ],
          })
        }
        return kv.commit(commit)
      },
    }
    await expireRecords(busy, new Date(START + 6 * HOUR))
    expect(late).toBe(true)
    const after = await sums(kv)
    expect(after['usage-hour user ada 2026-01-31-00']).toMatchObject({ requests: 7 })
    expect(after['usage-hour key key 2026-01-31-00']).toMatchObject({ requests: 19 })
  })

  it('removes any number of them', async () => {
    const kv = await memoryKV()
    const ledger = usageLedger(kv)
    for (let n = 0; n < 100; n++) await ledger.append(usageRecord({ request_id: `${n}`, user_id: 'ada' }))
    await expireRecords(kv, new Date(START + 2 * HOUR))
    expect(await ids(kv, 'ada')).toEqual([])
  })
})
