import { describe, expect, it } from 'vitest'
import { nano, ofKey, twoLedgers } from '../../../../test/support/two-ledgers.js'
import { entriesOf } from '../kv/kv.js'
import type { BudgetOf, LimitOf } from './holds.js'

const DAY = 86_400_000

describe('a budget', () => {
  it('is never exceeded, and can be used completely, by holds of two concurrent processes', async () => {
    const { first, second, used, keysBelow, expectClean } = await twoLedgers()
    // 2.01 * 1e9 is not an integer in floating point: the budget must be rounded.
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

  it('accepts those of several concurrent holds that fit', async () => {
    const { first, used } = await twoLedgers()
    const holds = await Promise.all([600, 500, 400].map((cost) => first.hold(nano(cost), [ofKey(1e-6)])))
    expect(holds.map((hold) => hold?.amount)).toEqual([600, undefined, 400])
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 1_000 })
  })

  describe('threat 201: that others share', () => {
    const end = (usd: number, id = 'eve') => ({ of: 'end_user', id, budget: { usd } }) as const
    const most = (cost_nano_usd: number) => ({ cost_nano_usd, tokens: cost_nano_usd })

    it('is not held by who may use less of it, and exceeded by four of them at most', async () => {
      const { first, used, expectClean } = await twoLedgers()
      const shared = ofKey(1e-6)
      const eve = (await first.hold(nano(10), [shared, end(1e-7)], most(800)))!
      expect([await used('key', 'k', 'all'), await used('end_user', 'eve', 'all')]).toEqual([
        { spent: 0, held: 10 },
        { spent: 0, held: 800 },
      ])
      await expectClean()
      // A second one of hers waits, and a fifth one of them; others do not.
      expect(await first.hold(nano(10), [shared, end(1e-7)], most(800))).toBeNull()
      const more = [
        await first.hold(nano(10), [shared, end(1e-7, 'mal')], most(800)),
        await first.hold(nano(10), [shared, end(1e-7, 'oda')], most(800)),
        await first.hold(nano(10), [shared, end(1e-7, 'pia')], most(800)),
      ]
      expect(more.includes(null)).toBe(false)
      expect(await first.hold(nano(10), [shared, end(1e-7, 'una')], most(800))).toBeNull()
      await Promise.all(more.map((one) => first.drop(one!)))
      const others = [
        await first.hold(nano(10), [shared, end(1e-6, 'bob')], most(600)),
        await first.hold(nano(10), [shared], most(390)),
      ]
      expect(others).toMatchObject([{ amount: 600 }, { amount: 390 }])
      await first.append(nano(800), eve)
      await first.drop(others[0]!)
      await first.append(nano(390), others[1]!)
      expect(await used('key', 'k', 'all')).toEqual({ spent: 1_190, held: 0 })
      await expectClean()
    })

    it('is held by half where that is enough, as the limits of a key’s owner are', async () => {
      const { first, used, kv } = await twoLedgers()
      const limits: LimitOf[] = [ofKey(1e-7), { ...ofKey(1e-6), of: 'user' }, { of: 'user', id: 'k', tokens: 1_600 }]
      const half = (await first.hold(nano(10, { tokens: 10 }), limits, most(500)))!
      expect([half.expected, await used('user', 'k', 'all')]).toEqual([undefined, { spent: 0, held: 500 }])
      await first.drop(half)
      const more = (await first.hold(nano(10, { tokens: 10 }), limits, most(900)))!
      expect(await used('user', 'k', 'all')).toEqual({ spent: 0, held: 10 })
      const totals = (await kv.get<Record<string, number>>(['usage-total', 'user', 'k']))!.value
      expect(totals['held_tokens']).toBe(10)
      await first.drop(more)
      expect(await used('user', 'k', 'all')).toEqual({ spent: 0, held: 0 })
    })

    it('is not held by an end user without a budget either', async () => {
      const { first, used } = await twoLedgers()
      const eve = nano(10, { end_user: { key: 'k', id: 'eve' } })
      expect(await first.hold(eve, [ofKey(1e-6)], most(900))).not.toBeNull()
      expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 10 })
      expect(await first.hold(nano(10, { end_user: { key: 'k', id: 'bob' } }), [ofKey(1e-6)], most(400))).not.toBeNull()
    })

    it('admits one that may cost more than half of it beside small ones', async () => {
      const { first, used, expectClean } = await twoLedgers()
      const ask = (id: string, cost: number) =>
        first.hold(nano(10, { end_user: { key: 'k', id } }), [ofKey(1e-6)], most(cost))
      const small = (await ask('eve', 20))!
      const large = (await ask('bob', 600))!
      expect(large).toMatchObject({ expected: [['budget', 'key', 'k', 'all']] })
      expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 30 })
      await expectClean()
      await first.append(nano(600), large)
      await first.drop(small)
      expect(await used('key', 'k', 'all')).toEqual({ spent: 600, held: 0 })
      await expectClean()
      expect(await ask('ada', 600)).not.toBeNull()
    })

    it('that admits a request by itself holds the most of it', async () => {
      const { first, used } = await twoLedgers()
      await first.hold(nano(10), [ofKey(1e-6), end(1e-6)], most(900))
      expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 900 })
    })
  })

  it('is credited for released holds, and charged the actual cost', async () => {
    const { first, second, used, keysBelow, expectClean } = await twoLedgers()
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
    // The cost is unknown: the held amount is charged.
    await first.append(nano(null), unknown!)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 5_000_107, held: 400 })
    expect(await keysBelow('hold')).toHaveLength(1)
    await expectClean()
  })

  it('leaves only its counters after requests have ended', async () => {
    const { first, kv } = await twoLedgers()
    const holds = await Promise.all([1, 2].map(() => first.hold(nano(6), [ofKey(1)])))
    await first.append(nano(5), holds[0]!)
    await first.drop(holds[1]!)
    for await (const { key } of entriesOf(kv)) expect(key[0]).not.toMatch(/^hold/)
  })

  it('applies to the UTC day or month in which the hold was made', async () => {
    const { clock, first, used, expectClean } = await twoLedgers()
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

  it('of a key and one of its user are both checked, or nothing is held', async () => {
    const { first, used, keysBelow, expectClean } = await twoLedgers()
    const user: BudgetOf = { of: 'user', id: 'ada/odd', budget: { usd: 1e-6 } }
    expect(await first.hold(nano(700), [ofKey(1), user])).not.toBeNull()
    expect(await first.hold(nano(700), [ofKey(1), user])).toBeNull()
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 700 })
    expect(await used('user', 'ada/odd', 'all')).toEqual({ spent: 0, held: 700 })
    expect(await keysBelow('hold')).toHaveLength(1)
    await expectClean()
  })
})
