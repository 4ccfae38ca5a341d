import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { StorageError } from '../errors.js'
import type { Commit, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import type { BudgetOf, BudgetUse } from './holds.js'
import { useOf } from './holds.js'
import type { Fields } from './totals.js'
import type { UsageLedger } from './ledger.js'
import { usageLedger } from './usage-ledger.js'
import type { UsageRecord } from './usage-record.js'

const DAY = 86_400_000

/** A store that two processes have, each of whose calls takes a turn; `fault` stands between the first one and it. */
async function setUp(fault?: (commit: Commit, kv: KV) => Promise<boolean>) {
  const clock = { now: Date.UTC(2026, 0, 31, 23, 30) }
  const kv = await memoryKV({ now: () => clock.now })
  const turn = (): Promise<void> => new Promise(setImmediate)
  const slow: KV = {
    ...kv,
    getMany: (keys) => turn().then(() => kv.getMany(keys)),
    commit: (commit) => turn().then(() => kv.commit(commit)),
  }
  const open = (store: KV): UsageLedger => usageLedger(store, { now: () => clock.now })
  const first = open(fault ? { ...slow, commit: (commit) => turn().then(() => fault(commit, kv)) } : slow)
  const second = open(slow)
  const used = async (...key: string[]): Promise<BudgetUse> => useOf((await kv.get<Fields>(['budget', ...key]))?.value)
  const keysBelow = async (name: string): Promise<string[]> => {
    const found: string[] = []
    for await (const { key } of entriesOf(kv, [name])) found.push(key[1]!)
    return found
  }
  const expectClean = async (): Promise<void> => {
    for await (const problem of verifyStore(kv)) throw new Error(problem)
  }
  return { clock, kv, first, second, used, keysBelow, expectClean }
}

const nano = (cost_nano_usd: number | null, fields: Partial<UsageRecord> = {}): UsageRecord =>
  usageRecord({ cost_nano_usd, ...fields })
const estimated = (cost: number): UsageRecord => nano(cost, { accuracy: 'estimated' })

const ofKey = (usd: number, per?: 'day' | 'month'): BudgetOf => ({
  of: 'key',
  id: 'k',
  budget: { usd, ...(per && { per }) },
})

describe('a budget', () => {
  it('is never exceeded, and used to the last, by holds of two processes at once', async () => {
    const { first, second, used, keysBelow, expectClean } = await setUp()
    // 2.01 dollars, of which there is no number of nano-dollars but a rounded one.
    const budget = ofKey(2.01)
    const holds = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 ? first : second).hold(nano(201_000_000), [budget])),
    )
    const made = holds.filter((hold) => hold !== null)
    expect(made).toHaveLength(10)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 2_010_000_000 })
    expect((await keysBelow('hold')).toSorted()).toEqual(made.map(({ id }) => id).toSorted())
    await expectClean()
  })

  it('takes what fits of those that come at once', async () => {
    const { first, used } = await setUp()
    const holds = await Promise.all([600, 500, 400].map((cost) => first.hold(nano(cost), [ofKey(1e-6)])))
    expect(holds.map((hold) => hold?.amount)).toEqual([600, undefined, 400])
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 1_000 })
  })

  it('gets back what is held, and counts what was spent, more or less', async () => {
    const { first, second, used, keysBelow, expectClean } = await setUp()
    const budget = ofKey(1e-6)
    const hold = (await first.hold(nano(600), [budget]))!
    expect(await second.hold(nano(500), [budget])).toBeNull()
    expect(await second.hold(nano(400), [budget])).not.toBeNull()
    await first.append(nano(100), hold)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 100, held: 400 })
    const dropped = (await first.hold(nano(500), [budget]))!
    expect(await first.hold(nano(1), [budget])).toBeNull()
    await first.drop(dropped)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 100, held: 400 })
    await first.drop(dropped)
    const dear = (await first.hold(nano(500), [budget]))!
    await first.append(nano(5_000_000), dear)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 5_000_100, held: 400 })
    expect(await first.hold(nano(0), [budget])).toBeNull()
    const unknown = await first.hold(nano(7), [ofKey(1)])
    // What it cost is not known: what was held is taken for it.
    await first.append(nano(null), unknown!)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 5_000_107, held: 400 })
    expect(await keysBelow('hold')).toHaveLength(1)
    await expectClean()
  })

  it('leaves nothing but its sums behind where requests end by themselves', async () => {
    const { first, kv } = await setUp()
    const holds = await Promise.all([1, 2].map(() => first.hold(nano(6), [ofKey(1)])))
    await first.append(nano(5), holds[0]!)
    await first.drop(holds[1]!)
    for await (const { key } of entriesOf(kv)) expect(key[0]).not.toMatch(/^hold/)
  })

  it('is one of each day and of each month, in UTC, in which the hold was made', async () => {
    const { clock, first, used, expectClean } = await setUp()
    const [daily, monthly] = [ofKey(1e-6, 'day'), { ...ofKey(2e-6, 'month'), of: 'user' } as const]
    const hold = (await first.hold(nano(1_000), [daily, monthly]))!
    clock.now = Date.UTC(2026, 0, 31, 23, 59, 59, 999)
    expect(await first.hold(nano(1), [daily])).toBeNull()
    expect(await first.hold(nano(1_001), [monthly])).toBeNull()
    clock.now += 1
    expect(await first.hold(nano(1_000), [daily, monthly])).not.toBeNull()
    await first.append(nano(900), hold)
    expect(await used('key', 'k', '2026-01-31')).toEqual({ spent: 900, held: 0 })
    expect(await used('key', 'k', '2026-02-01')).toEqual({ spent: 0, held: 1_000 })
    expect(await used('user', 'k', '2026-01')).toEqual({ spent: 900, held: 0 })
    expect(await used('user', 'k', '2026-02')).toEqual({ spent: 0, held: 1_000 })
    expect(await first.used(daily)).toEqual({ spent: 0, held: 1_000 })
    expect(await first.used(monthly)).toEqual({ spent: 0, held: 1_000 })
    clock.now += DAY
    expect(await first.used(daily)).toEqual({ spent: 0, held: 0 })
    expect(await first.hold(nano(1_000), [daily, monthly])).not.toBeNull()
    clock.now += DAY
    expect(await first.used(monthly)).toEqual({ spent: 0, held: 2_000 })
    expect(await first.hold(nano(1), [daily, monthly])).toBeNull()
    await expectClean()
  })

  it('of a key and one of its user are both kept, or nothing is held', async () => {
    const { first, used, keysBelow, expectClean } = await setUp()
    const user: BudgetOf = { of: 'user', id: 'ada/odd', budget: { usd: 1e-6 } }
    expect(await first.hold(nano(700), [ofKey(1), user])).not.toBeNull()
    expect(await first.hold(nano(700), [ofKey(1), user])).toBeNull()
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 700 })
    expect(await used('user', 'ada/odd', 'all')).toEqual({ spent: 0, held: 700 })
    expect(await keysBelow('hold')).toHaveLength(1)
    await expectClean()
  })
})

describe('a hold that other processes keep from being made', () => {
  it('keeps no record waiting, and is made with those that came meanwhile', async () => {
    let busy = true
    let tries = 0
    const commits: Commit[] = []
    const { first, keysBelow, expectClean } = await setUp(async (commit, kv) => {
      if (busy && makes(commit)) return tries++ < 0
      commits.push(commit)
      return kv.commit(commit)
    })
    const early = first.hold(nano(5), [ofKey(1e-8)])
    await first.append(nano(1))
    await first.append(nano(1))
    expect(tries).toBeGreaterThan(0)
    const late = [1, 2].map(() => first.hold(nano(5), [ofKey(1e-8)]))
    await first.append(nano(1))
    commits.splice(0)
    busy = false
    expect((await Promise.all([early, ...late])).map((hold) => hold !== null)).toEqual([true, true, false])
    expect(commits).toHaveLength(1)
    expect(await keysBelow('hold')).toHaveLength(2)
    await expectClean()
  })
})

const lost = new StorageError('Lost', 'unknown')

/** Whether a commit makes or ends holds. */
const makes = ({ set = [] }: Commit): boolean => set.some(({ key }) => key[0] === 'hold')
const ends = ({ del = [] }: Commit): boolean => del.some((key) => key[0] === 'hold')

describe('a commit of unknown outcome', () => {
  it.each(['applied', 'not applied', 'applied late'])('that makes a hold leaves none: %s', async (outcome) => {
    let late: (() => Promise<boolean>) | undefined
    const { clock, first, used, keysBelow, expectClean } = await setUp(async (commit, kv) => {
      if (!makes(commit)) return kv.commit(commit)
      if (outcome === 'applied') await kv.commit(commit)
      if (outcome === 'applied late') late = () => kv.commit(commit)
      throw lost
    })
    await expect(first.hold(nano(5), [ofKey(1)])).rejects.toMatchObject({ code: 'ledger_unavailable' })
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    if (late) expect(await late()).toBe(false)
    expect(await keysBelow('hold')).toEqual([])
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 0 })
    clock.now += DAY
    expect(await first.sweep(0)).toBe(0)
    await expectClean()
  })

  it.each(['applied', 'not applied', 'applied late'])('that ends a hold does so once: %s', async (outcome) => {
    for (const end of ['append', 'drop'] as const) {
      let late: (() => Promise<boolean>) | undefined
      let failed = 0
      const { first, used, keysBelow, expectClean } = await setUp(async (commit, kv) => {
        if (!ends(commit) || failed++ > 0) return kv.commit(commit)
        if (outcome === 'applied') await kv.commit(commit)
        if (outcome === 'applied late') late = () => kv.commit(commit)
        throw lost
      })
      const hold = (await first.hold(nano(500), [ofKey(1)]))!
      await (end === 'append' ? first.append(nano(300), hold) : first.drop(hold))
      if (late) expect(await late()).toBe(false)
      expect(await used('key', 'k', 'all')).toEqual({ spent: end === 'append' ? 300 : 0, held: 0 })
      expect((await first.records('ada')).items).toHaveLength(end === 'append' ? 1 : 0)
      expect(await keysBelow('hold')).toEqual([])
      expect(await first.sweep(0)).toBe(0)
      await expectClean()
    }
  })

  it('that is not applied in three tries leaves the hold to a sweep', async () => {
    let broken = false
    const { clock, first, second, used, expectClean } = await setUp((commit, kv) =>
      broken && ends(commit) ? Promise.reject(lost) : kv.commit(commit),
    )
    const holds = await Promise.all([1, 2].map(() => first.hold(estimated(500), [ofKey(1)])))
    broken = true
    await expect(first.append(nano(300), holds[0]!)).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await expect(first.drop(holds[1]!)).rejects.toBe(lost)
    clock.now += 1
    expect(await second.sweep(0)).toBe(2)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 1_000, held: 0 })
    expect((await second.records('ada')).items.map(({ accuracy }) => accuracy)).toEqual(['estimated', 'estimated'])
    await expectClean()
  })

  it('drops nothing where nothing can have been made', async () => {
    const refused = new StorageError('Refused', 'none')
    const { first, keysBelow } = await setUp((commit, kv) =>
      makes(commit) ? Promise.reject(refused) : kv.commit(commit),
    )
    await expect(first.hold(nano(5), [])).rejects.toMatchObject({ cause: refused })
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    expect(await keysBelow('hold-end')).toEqual([])
  })
})

describe('a sweep', () => {
  it('books what is older, oldest first, as it was estimated', async () => {
    const { clock, first, second, used, keysBelow, expectClean } = await setUp()
    for (const cost of [1, 2, 3]) {
      await first.hold(nano(cost, { accuracy: 'estimated', request_id: `r${cost}` }), [ofKey(1)])
      clock.now += 1_000
    }
    expect(await second.sweep(3_001)).toBe(0)
    expect(await second.sweep(2_000)).toBe(2)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 3, held: 3 })
    expect((await second.records('ada')).items.map(({ request_id }) => request_id)).toEqual(['r2', 'r1'])
    expect(await second.sweep(0)).toBe(1)
    expect(await second.sweep(0)).toBe(0)
    expect(await keysBelow('hold')).toEqual([])
    expect(await second.totals('user', 'ada')).toMatchObject({ requests: 3, cost_nano_usd: 6 })
    await expectClean()
  })

  it('at once takes also what was held in this very millisecond, and what has no budget', async () => {
    const { first, second, expectClean } = await setUp()
    await first.hold(nano(null), [])
    expect(await second.sweep(0)).toBe(1)
    expect(await second.totals('user', 'ada')).toMatchObject({ requests: 1, unpriced: 1 })
    await expectClean()
  })

  it('of several processes books each hold once, and each is counted by one', async () => {
    const { first, second, used, expectClean } = await setUp()
    await Promise.all(Array.from({ length: 20 }, () => first.hold(estimated(7), [ofKey(1)])))
    const counts = await Promise.all([first, second, first, second].map((ledger) => ledger.sweep(0)))
    expect(counts.reduce((a, b) => a + b)).toBe(20)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 140, held: 0 })
    expect(await first.totals('user', 'ada')).toMatchObject({ requests: 20 })
    await expectClean()
  })

  it('and the late end of its request book it once, whoever is first', async () => {
    for (let round = 0; round < 20; round++)
      for (const end of ['append', 'drop'] as const) {
        const { first, second, used, keysBelow, expectClean } = await setUp()
        const hold = (await first.hold(estimated(500), [ofKey(1)]))!
        const turns = async (count: number): Promise<void> => {
          for (; count > 0; count--) await new Promise(setImmediate)
        }
        const [count] = await Promise.all([
          turns(round % 5).then(() => second.sweep(0)),
          turns(Math.floor(round / 5)).then(() =>
            end === 'append' ? first.append(nano(300), hold) : first.drop(hold),
          ),
        ])
        const spent = count === 1 ? 500 : end === 'append' ? 300 : 0
        expect(await used('key', 'k', 'all')).toEqual({ spent, held: 0 })
        expect((await first.records('ada')).items.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual(
          spent ? [spent] : [],
        )
        expect(await keysBelow('hold')).toEqual([])
        await expectClean()
      }
  })

  it('is not undone by a request that ends much later, and others of its flush are booked', async () => {
    const { clock, first, second, used, expectClean } = await setUp()
    const holds = await Promise.all([1, 2, 3].map(() => first.hold(estimated(500), [ofKey(1)])))
    await first.append(nano(1, { request_id: 'third' }), holds[2]!)
    clock.now += 10_000
    const young = await first.hold(estimated(500), [ofKey(1)])
    expect(await second.sweep(5_000)).toBe(2)
    clock.now += 20 * 3_600_000
    await Promise.all([
      first.append(nano(2, { request_id: 'swept' }), holds[0]!),
      first.append(nano(3, { request_id: 'young' }), young!),
      first.append(nano(4, { request_id: 'free' })),
      first.append(nano(5, { request_id: 'swept, too' }), holds[1]!),
    ])
    const booked = (await first.records('ada')).items.map(({ request_id }) => request_id)
    expect(booked.toSorted()).toEqual(['free', 'r', 'r', 'third', 'young'])
    expect(await used('key', 'k', 'all')).toEqual({ spent: 1_004, held: 0 })
    await first.ready()
    await expectClean()
  })

  it.each(['applied', 'not applied', 'applied late'])(
    'that is cut off is finished by the next: %s',
    async (outcome) => {
      let late: (() => Promise<boolean>) | undefined
      let failed = 0
      const { first, second, used, expectClean } = await setUp(async (commit, kv) => {
        if (!ends(commit) || failed++ > 0) return kv.commit(commit)
        if (outcome === 'applied') await kv.commit(commit)
        if (outcome === 'applied late') late = () => kv.commit(commit)
        throw lost
      })
      await Promise.all([1, 2].map(() => first.hold(estimated(500), [ofKey(1)])))
      await expect(first.sweep(0)).rejects.toBe(lost)
      await first.ready()
      expect(await second.sweep(0)).toBe(outcome === 'applied' ? 1 : 2)
      if (late) expect(await late()).toBe(false)
      expect(await used('key', 'k', 'all')).toEqual({ spent: 1_000, held: 0 })
      expect(await first.totals('user', 'ada')).toMatchObject({ requests: 2 })
      await expectClean()
    },
  )

  it('tells nothing of when keys were last used', async () => {
    const { first, kv } = await setUp()
    await first.hold(estimated(5), [])
    expect(await first.sweep(0)).toBe(1)
    expect(await kv.get(['last-used', 'key', 'key'])).toBeNull()
  })
})
