import { expect, it } from 'vitest'
import { randomOf } from '../../../../test/support/random.js'
import { runs } from '../../../../test/support/scope.js'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { StorageError } from '../errors.js'
import type { KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import type { Hold, LimitOf } from './holds.js'
import { budgetUse, limitKey, useOf } from './holds.js'
import type { Fields } from './totals.js'
import type { UsageLedger } from './ledger.js'
import { usageLedger } from './usage-ledger.js'
import type { UsageRecord } from './usage-record.js'

/** Processes share a store whose commits fail, get lost or are applied late; the results they saw must match the stored records. */

const RUNS = runs(30, 500)
const FIRST_SEED = Number(process.env['FUZZ_SEED'] ?? 1)

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 31, 23, 59)

/** The results of a request, as its process saw them. */
interface Request {
  id: string
  budgets: string[][]
  hold: 'asked' | 'held' | 'refused' | 'failed'
  end?: 'appended' | 'dropped' | 'append failed' | 'drop failed'
}

interface World {
  random: () => number
  clock: { now: number }
  store: KV
  /** By the first three parts of the keys of their counters. */
  limits: Map<string, LimitOf>
  /** The share of commits and reads with a fault. */
  rate: number
  /** Commits that timed out for their clients, and may be applied at any time. */
  late: (() => Promise<void>)[]
  met: Set<string>
  /** Violations of an invariant. */
  wrong: string[]
}

const turns = async (count: number): Promise<void> => {
  for (; count > 0; count--) await new Promise(setImmediate)
}

/** The connection of one process to the store, with faults. */
function faulty({ random, store, limits, late, met, wrong, ...world }: World): { kv: KV; die(): void } {
  let dead = false
  const never = new Promise<never>(() => undefined)
  const pause = async (): Promise<void> => {
    await turns(Math.floor(random() * 3))
    if (dead) await never
  }
  const apply: KV['commit'] = async (commit) => {
    const applied = await store.commit(commit)
    if (!applied || !commit.set?.some(({ key }) => key[0] === 'hold')) return applied
    // Right after holds are created, no budget is exceeded, and the limit of tokens by the last of them at most.
    const last = commit.set.at(-1)!.value as Hold
    for (const { key } of commit.sum ?? []) {
      const limit = limits.get(key.slice(0, 3).join('/'))!
      const { spent, held } = useOf(limit, (await store.get<Fields>(key))!.value)
      const most = 'tokens' in limit ? limit.tokens - 1 + last.estimate.tokens : Math.round(limit.budget.usd * 1e9)
      if (spent + held > most) wrong.push(`${key.join('/')} is over: ${spent} and ${held}`)
    }
    return applied
  }
  const read = async <T>(answer: () => Promise<T>): Promise<T> => {
    await pause()
    if (random() < world.rate / 3) throw new StorageError('No answer', 'none')
    const found = await answer()
    await pause()
    return found
  }
  const faults = ['none', 'unknown', 'applied and unknown', 'late', 'dies'] as const
  return {
    die: () => void (dead = true),
    kv: {
      ...store,
      get: (key) => read(() => store.get(key)),
      getMany: (keys) => read(() => store.getMany(keys)),
      list: (prefix, options) => read(() => store.list(prefix, options)),
      async commit(commit) {
        await pause()
        const fault = random() < world.rate ? faults[Math.floor(random() * faults.length)]! : undefined
        if (fault) met.add(fault)
        switch (fault) {
          case undefined: {
            const applied = await apply(commit)
            await pause()
            return applied
          }
          case 'none':
            throw new StorageError('Refused', 'none')
          case 'unknown':
            throw new StorageError('Lost', 'unknown')
          case 'applied and unknown':
            await apply(commit)
            throw new StorageError('The answer was lost', 'unknown')
          case 'late':
            late.push(async () => void (await apply(commit)))
            throw new StorageError('Timed out', 'unknown')
          case 'dies':
            if (random() < 0.5) await apply(commit)
            dead = true
            return never
        }
      },
    },
  }
}

async function run(seed: number, met: Set<string>): Promise<void> {
  const random = randomOf(seed)
  const clock = { now: START }
  const store = await memoryKV({ now: () => clock.now })
  const keys = ['k1', 'k2', 'k3']
  const all: LimitOf[] = [
    { of: 'key', id: 'k1', budget: { usd: 0.000_009, per: 'day' } },
    { of: 'key', id: 'k2', budget: { usd: 0.000_007, per: 'month' } },
    { of: 'user', id: 'ada', budget: { usd: 0.000_02 } },
    { of: 'user', id: 'ada', tokens: 700 },
  ]
  const limits = new Map(all.map((limit) => [limitKey(limit, START).slice(0, 3).join('/'), limit]))
  const rate = random() < 0.2 ? 0 : random() * 0.3
  const world: World = { random, clock, store, limits, rate, late: [], met, wrong: [] }
  const requests: Request[] = []
  let sweeps = 0
  let counted = 0
  let broken = 0

  const sweep = async (ledger: UsageLedger, olderThanMs: number): Promise<void> => {
    sweeps++
    // A sweep that fails, or whose process dies, does not return its count.
    broken++
    const swept = await ledger.sweep(olderThanMs)
    counted += swept
    broken--
  }

  const request = async (ledger: UsageLedger, id: string): Promise<void> => {
    const key_id = keys[Math.floor(random() * keys.length)]!
    const wanted = all.filter(({ of, id }) => of === 'user' || id === key_id)
    const budgets = wanted.flatMap((limit) => ('budget' in limit ? [limitKey(limit, clock.now)] : []))
    const cost = Math.floor(random() * 3_000)
    const record = (fields: Partial<UsageRecord>): UsageRecord =>
      usageRecord({ request_id: id, key_id, timestamp: new Date(clock.now).toISOString(), ...fields })
    const tokens = Math.floor(random() * 90)
    const estimate = record({ cost_nano_usd: cost, accuracy: 'estimated', prompt_tokens: tokens, tokens: tokens + 3 })
    const made: Request = { id, hold: 'asked', budgets }
    requests.push(made)
    try {
      const hold = await ledger.hold(estimate, wanted)
      made.hold = hold ? 'held' : 'refused'
      if (!hold) return
      await turns(Math.floor(random() * 8))
      if (random() < 0.3) {
        made.end = 'drop failed'
        await ledger.drop(hold)
        made.end = 'dropped'
      } else {
        made.end = 'append failed'
        await ledger.append(record({ cost_nano_usd: Math.floor(cost * random() * 1.3) }), hold)
        made.end = 'appended'
      }
    } catch {
      if (made.hold === 'asked') made.hold = 'failed'
    }
  }

  const comeThrough = async (): Promise<void> => {
    for (const commit of world.late.splice(0)) if (random() < 0.7) await commit()
  }

  for (let round = 0; round < 3; round++) {
    const processes = Array.from({ length: 1 + Math.floor(random() * 3) }, () => faulty(world))
    const work = processes.flatMap(({ kv }, p) => {
      const ledger = usageLedger(kv, { now: () => clock.now })
      const clients = Array.from({ length: 6 }, async (_, c) => {
        for (let i = 0; i < 3; i++) {
          await request(ledger, `${round}-${p}-${c}-${i}`)
          clock.now += Math.floor(random() * 40_000)
        }
      })
      return random() < 0.5 ? clients : [...clients, turns(20 * random()).then(() => sweep(ledger, random() * 9_000))]
    })
    const done = Promise.allSettled(work)
    // The requests of processes that died never settle.
    await Promise.race([done, turns(150)])
    for (const process of processes) process.die()
    await turns(5)
    await comeThrough()
  }

  world.rate = 0
  const last = usageLedger(faulty(world).kv, { now: () => clock.now })
  await Promise.all([sweep(last, 0), sweep(last, 0)])
  for (const commit of world.late.splice(0)) await commit()
  await sweep(last, 0)
  clock.now += 100 * HOUR
  expect(await last.sweep(0)).toBe(0)

  for await (const problem of verifyStore(store)) world.wrong.push(problem)
  expect(world.wrong).toEqual([])
  for await (const { key } of entriesOf(store, ['hold'])) throw new Error(`${key.join('/')} is left`)
  const booked = new Map<string, UsageRecord[]>()
  for await (const { value } of entriesOf<UsageRecord[]>(store, ['usage', 'ada']))
    for (const record of value) booked.set(record.request_id, [...(booked.get(record.request_id) ?? []), record])
  const spent = new Map<string, number>()
  let estimates = 0
  for (const { id, hold, end, budgets: held } of requests) {
    const records = booked.get(id) ?? []
    const what = `request ${id}: ${hold}, ${end}, booked ${records.map(({ accuracy }) => accuracy).join() || 'never'}`
    const [record] = records
    expect(records.length, what).toBeLessThan(2)
    if (record?.accuracy === 'estimated') estimates++
    if (hold === 'refused') expect(record, what).toBeUndefined()
    if (hold === 'failed') expect(record?.accuracy, what).not.toBe('reported')
    // Either its record was stored, or a sweep recorded the estimate after a crash or a failed append.
    if (hold === 'held' && (end === undefined || end === 'append failed' || end === 'appended'))
      expect(records.length, what).toBe(1)
    if (end === 'dropped' || end === 'drop failed') expect(record?.accuracy, what).not.toBe('reported')
    if (end === 'dropped' && sweeps === 3) expect(record, what).toBeUndefined()
    // Also where a sweep came first: the record replaced the estimate.
    if (end === 'appended') expect(record?.accuracy, what).toBe('reported')
    for (const key of record ? held : []) {
      const name = key.join('/')
      spent.set(name, (spent.get(name) ?? 0) + record!.cost_nano_usd!)
    }
  }
  for await (const { key, value } of entriesOf<Fields>(store, ['budget']))
    expect(budgetUse(value), key.join('/')).toEqual({ spent: spent.get(key.join('/')) ?? 0, held: 0 })
  if (broken === 0) expect(estimates).toBeLessThanOrEqual(counted)
}

it('records each request once and releases each hold, for all store failures', { timeout: 3_600_000 }, async () => {
  const met = new Set<string>()
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++)
    try {
      await run(seed, met)
    } catch (cause) {
      throw new Error(`Seed ${seed}: ${(cause as Error).message}`, { cause })
    }
  expect([...met].toSorted()).toEqual(['applied and unknown', 'dies', 'late', 'none', 'unknown'])
})
