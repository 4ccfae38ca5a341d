import { describe, expect, it } from 'vitest'
import { nano, ofKey, twoLedgers } from '../../../../test/support/two-ledgers.js'
import type { Fields } from './totals.js'
import type { TokensOf } from './holds.js'
import type { UsageLedger } from './ledger.js'
import type { UsageRecord } from './usage-record.js'

const ada = (tokens: number): TokensOf => ({ of: 'user', id: 'ada', tokens })

/** A record of `ada` with so many tokens. */
const used = (tokens: number, fields: Partial<UsageRecord> = {}): UsageRecord =>
  nano(tokens, { prompt_tokens: 0, completion_tokens: tokens, tokens, ...fields })

describe('a limit of tokens', () => {
  it('admits requests while any are left, and counts what they used', async () => {
    const { first, expectClean } = await twoLedgers()
    const hold = (await first.hold(used(300), [ada(1_000)]))!
    expect(await first.used(ada(1_000))).toEqual({ spent: 0, held: 300 })
    await first.append(used(999), hold)
    expect(await first.used(ada(1_000))).toEqual({ spent: 999, held: 0 })
    const last = (await first.hold(used(5_000), [ada(1_000)]))!
    expect(last).not.toBeNull()
    await first.append(used(1), last)
    expect(await first.used(ada(1_000))).toEqual({ spent: 1_000, held: 0 })
    expect(await first.hold(used(0), [ada(1_000)])).toBeNull()
    expect(await first.hold(used(5), [ada(1_001)])).not.toBeNull()
    await expectClean()
  })

  it('admits nothing where there are none', async () => {
    const { first, keysBelow } = await twoLedgers()
    expect(await first.hold(used(1), [ada(0)])).toBeNull()
    expect(await first.hold(used(1), [ada(-1_000)])).toBeNull()
    expect(await keysBelow('hold')).toEqual([])
  })

  it('is exceeded by no more than what was running, by 50 concurrent requests in two processes', async () => {
    const { first, second, keysBelow, expectClean } = await twoLedgers()
    const ledgers = [first, second]
    const run = async (ledger: UsageLedger): Promise<boolean> => {
      const hold = await ledger.hold(used(300), [ada(1_000)])
      if (hold) await ledger.append(used(400), hold)
      return hold !== null
    }
    const admitted = (await Promise.all(Array.from({ length: 50 }, (_, i) => run(ledgers[i % 2]!)))).filter(Boolean)
    // 0, 300, 600 and 900 were held when they were admitted, or more; had they run one after the other, 3 would have been.
    expect(admitted.length).toBeGreaterThanOrEqual(3)
    expect(admitted.length).toBeLessThanOrEqual(4)
    expect(await first.used(ada(1_000))).toEqual({ spent: 400 * admitted.length, held: 0 })
    expect(await keysBelow('hold')).toEqual([])
    await expectClean()
  })

  it('admits one of 50 concurrent requests that are expected to use all of it', async () => {
    const { first, second, expectClean } = await twoLedgers()
    const holds = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 ? first : second).hold(used(1_024), [ada(1_000)])),
    )
    expect(holds.filter((hold) => hold !== null)).toHaveLength(1)
    for (const ledger of [first, second]) expect(await ledger.used(ada(1_000))).toEqual({ spent: 0, held: 1_024 })
    await expectClean()
  })

  it('sees what another process has used since', async () => {
    const { first, second } = await twoLedgers()
    const hold = (await first.hold(used(10), [ada(1_000)]))!
    expect(await second.hold(used(10), [ada(10)])).toBeNull()
    await second.append(used(990))
    expect(await first.hold(used(10), [ada(1_000)])).toBeNull()
    await first.drop(hold)
    expect(await first.hold(used(10), [ada(1_000)])).not.toBeNull()
  })

  it.each<[string, number, (ledger: UsageLedger, hold: never) => Promise<unknown>]>([
    ['append', 70, (ledger, hold) => ledger.append(used(70), hold)],
    ['drop', 0, (ledger, hold) => ledger.drop(hold)],
    ['sweep', 300, (ledger) => ledger.sweep(0)],
  ])('is credited with the hold by %s', async (_, spent, end) => {
    const { first, second, kv, expectClean } = await twoLedgers()
    const hold = await first.hold(used(300), [ada(1_000)])
    const fields = async () => (await kv.get<Fields>(['usage-total', 'user', 'ada']))!.value
    expect(await fields()).toEqual({ held_tokens: 300 })
    await expectClean()
    await end(second, hold as never)
    expect((await fields())['held_tokens']).toBe(0)
    expect(await first.used(ada(1_000))).toEqual({ spent, held: 0 })
    expect(await first.totals('user', 'ada')).toMatchObject({ tokens: spent, requests: spent > 0 ? 1 : 0 })
    await expectClean()
  })

  it('and a budget are both checked, or nothing is held', async () => {
    const { first, used: spentOf, expectClean } = await twoLedgers()
    expect(await first.hold(used(600), [ofKey(5e-7), ada(1_000)])).toBeNull()
    expect(await first.used(ada(1_000))).toEqual({ spent: 0, held: 0 })
    const hold = (await first.hold(used(600), [ofKey(1e-6), ada(500)]))!
    expect(await first.hold(used(1), [ofKey(1e-6), ada(500)])).toBeNull()
    expect(await spentOf('key', 'k', 'all')).toEqual({ spent: 0, held: 600 })
    expect(await first.used(ada(500))).toEqual({ spent: 0, held: 600 })
    await first.append(used(100), hold)
    expect(await spentOf('key', 'k', 'all')).toEqual({ spent: 100, held: 0 })
    expect(await first.used(ada(500))).toEqual({ spent: 100, held: 0 })
    await expectClean()
  })

  it('that refuses some holds of a group does not delay the others', async () => {
    let busy = 0
    const { first, kv } = await twoLedgers(async (commit) => {
      // Another process changes the counter of the one who is refused.
      if (commit.set?.some(({ key }) => key[0] === 'hold') && busy++ === 0)
        await kv.commit({ sum: [{ key: ['usage-total', 'user', 'bob'], add: { prompt_tokens: 1 } }] })
      return kv.commit(commit)
    })
    const [refused, made] = await Promise.all([
      first.hold(used(5, { user_id: 'bob' }), [{ of: 'user', id: 'bob', tokens: 0 }]),
      first.hold(used(5), [ada(10)]),
    ])
    expect([refused, made?.tokens]).toEqual([null, ['usage-total', 'user', 'ada']])
    expect(busy).toBe(1)
  })
})
