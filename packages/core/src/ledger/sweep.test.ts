import { describe, expect, it } from 'vitest'
import {
  ends,
  estimated,
  losing,
  lost,
  nano,
  ofKey,
  outcomes,
  twoLedgers,
} from '../../../../test/support/two-ledgers.js'

describe('a sweep', () => {
  it('records older holds as estimated, oldest first', async () => {
    const { clock, first, second, used, keysBelow, expectClean } = await twoLedgers()
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

  it('includes holds of the current millisecond, and those without a budget, if the age is 0', async () => {
    const { first, second, expectClean } = await twoLedgers()
    await first.hold(nano(null), [])
    expect(await second.sweep(0)).toBe(1)
    expect(await second.totals('user', 'ada')).toMatchObject({ requests: 1, unpriced: 1 })
    await expectClean()
  })

  it('adds estimates to the totals of what they count in', async () => {
    const { first, second, expectClean } = await twoLedgers()
    const tags = { project_id: 'p', task_id: 't', conversation_id: 'c', session_id: 's' }
    const counts = { in_project: true, in_task: true, in_conversation: true, in_session: true } as const
    await first.hold(nano(5, { ...tags, ...counts }), [ofKey(1)])
    await first.hold(nano(9, tags), [])
    const hold = (await first.hold(nano(8, { ...tags, ...counts }), []))!
    await first.append(nano(1, { ...tags, ...counts }), hold)
    expect(await second.sweep(0)).toBe(2)
    for (const [of, id] of Object.entries({ project: 'p', task: 't', conversation: 'c', session: 's' } as const))
      expect(await second.totals(of as 'project', id), of).toMatchObject({ requests: 2, cost_nano_usd: 6 })
    await expectClean()
  })

  it('by several processes records each hold once, and counts it once', async () => {
    const { first, second, used, expectClean } = await twoLedgers()
    await Promise.all(Array.from({ length: 20 }, () => first.hold(estimated(7), [ofKey(1)])))
    const counts = await Promise.all([first, second, first, second].map((ledger) => ledger.sweep(0)))
    expect(counts.reduce((a, b) => a + b)).toBe(20)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 140, held: 0 })
    expect(await first.totals('user', 'ada')).toMatchObject({ requests: 20 })
    await expectClean()
  })

  it('and the late end of its request record it once, whichever is first, and what the request used wins', async () => {
    for (let round = 0; round < 20; round++)
      for (const end of ['append', 'drop'] as const) {
        const { first, second, used, keysBelow, expectClean } = await twoLedgers()
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
        const spent = end === 'append' ? 300 : count === 1 ? 500 : 0
        expect(await used('key', 'k', 'all')).toEqual({ spent, held: 0 })
        expect((await first.records('ada')).items.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual(
          spent ? [spent] : [],
        )
        expect(await keysBelow('hold')).toEqual([])
        await expectClean()
      }
  })

  it('is corrected by a request that ends much later, once, in the same flush as other records', async () => {
    const { clock, first, second, used, expectClean } = await twoLedgers()
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
    expect(booked.toSorted()).toEqual(['free', 'swept', 'swept, too', 'third', 'young'])
    expect(await used('key', 'k', 'all')).toEqual({ spent: 11, held: 0 })
    expect(await first.totals('user', 'ada')).toMatchObject({ requests: 5, cost_nano_usd: 15 })
    await first.ready()
    await expectClean()
  })

  it('is corrected by a request that ends weeks later', async () => {
    const { clock, first, second, used, expectClean } = await twoLedgers()
    const hold = (await first.hold(estimated(500), [ofKey(1)]))!
    expect(await second.sweep(0)).toBe(1)
    clock.now += 25 * 24 * 3_600_000
    await first.append(nano(2), hold)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 2, held: 0 })
    await expectClean()
  })

  it.each(outcomes)('that is interrupted is completed by the next: %s', async (outcome) => {
    const losses = losing(ends, outcome)
    const { first, second, used, expectClean } = await twoLedgers(losses.fault)
    await Promise.all([1, 2].map(() => first.hold(estimated(500), [ofKey(1)])))
    await expect(first.sweep(0)).rejects.toBe(lost)
    await first.ready()
    expect(await second.sweep(0)).toBe(outcome === 'applied' ? 1 : 2)
    if (losses.late) expect(await losses.late()).toBe(false)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 1_000, held: 0 })
    expect(await first.totals('user', 'ada')).toMatchObject({ requests: 2 })
    await expectClean()
  })

  it('does not change the last use of keys', async () => {
    const { first, kv } = await twoLedgers()
    await first.hold(estimated(5), [])
    expect(await first.sweep(0)).toBe(1)
    expect(await kv.get(['last-used', 'key', 'key'])).toBeNull()
  })

  it('settles a hold of an earlier version that is larger than any answer, as the largest', async () => {
    const { kv, clock, first, used, expectClean } = await twoLedgers()
    const hold = (await first.hold(nano(5, { tokens: 500 }), [ofKey(1), { of: 'user', id: 'ada', tokens: 9_000 }]))!
    const key = ['hold', hold.id]
    const estimate = { ...hold.estimate, completion_tokens: 2e9 }
    await kv.commit({ set: [{ key, value: { ...hold, estimate } }] })
    clock.now += 1
    await first.hold(nano(7), [ofKey(1)])
    expect(await first.sweep(0)).toBe(2)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 12, held: 0 })
    expect(await first.totals('user', 'ada')).toMatchObject({ requests: 2, completion_tokens: 1e9 + 3 })
    await expectClean()
  })

  it('goes on past a hold that cannot be stored, and tells of it', async () => {
    const { kv, clock, first, used, keysBelow } = await twoLedgers()
    const broken = (await first.hold(nano(5), [ofKey(1)]))!
    await kv.commit({ set: [{ key: ['hold', broken.id], value: { ...broken, amount: 0.5 } }] })
    clock.now += 1
    await first.hold(nano(7), [ofKey(1)])
    await expect(first.sweep(0)).rejects.toThrow(RangeError)
    expect(await keysBelow('hold')).toEqual([broken.id])
    expect((await used('key', 'k', 'all')).spent).toBe(7)
  })

  it('ends the hold of a request that asked for more than any answer has', async () => {
    const { kv, first, keysBelow, expectClean } = await twoLedgers()
    const hold = (await first.hold(nano(5, { completion_tokens: 2e9, tokens: 2e9 + 10 }), [ofKey(1)]))!
    expect(hold.estimate).toMatchObject({ completion_tokens: 1e9, tokens: 1e9 + 10 })
    expect((await kv.get(['hold', hold.id]))!.value).toEqual(hold)
    expect(await first.sweep(0)).toBe(1)
    expect(await keysBelow('hold')).toEqual([])
    await expectClean()
  })
})
