import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RateLimit, RateLimiter } from '@turnpike/core'
import { fresh } from './contract-case.js'

/** One requirement of the contract; `run` rejects if the limiter violates it. Each case uses its own keys. */
export interface RateLimiterCase {
  name: string
  /** @param open opens another limiter on the same store, with windows of `window` milliseconds; default 60,000 */
  run(open: (window?: number) => Promise<RateLimiter>): Promise<void>
}

/** Calls `consume` `count` times concurrently. */
const burst = (limiter: RateLimiter, key: string, perMinute: number, count: number): Promise<RateLimit[]> =>
  Promise.all(Array.from({ length: count }, async () => limiter.consume(key, perMinute)))

const passed = (limits: RateLimit[]): number => limits.filter(({ ok }) => ok).length

const strange = ["'", '"', '\\', '{a}', 'a,b', '%s', '\0', ' ', '', 'ü€😀', '\ud800', 'A', 'a', 'x'.repeat(300)]

/**
 * The contract of rate limiters: the cases that each has to pass.
 * @example for (const { name, run } of rateLimiterContract) it(name, () => run(open))
 */
export const rateLimiterContract: RateLimiterCase[] = [
  {
    name: 'admits exactly as many of 200 parallel requests as the limit',
    async run(open) {
      const limiter = await open()
      for (const perMinute of [0, 1, 7, 199, 200, 201])
        assert.equal(passed(await burst(limiter, fresh(), perMinute, 200)), Math.min(perMinute, 200))
    },
  },
  {
    name: 'counts sequential and parallel requests alike, and admits the first ones',
    async run(open) {
      const limiter = await open()
      const key = fresh()
      assert.deepEqual(
        (await burst(limiter, key, 10, 6)).map(({ ok }) => ok),
        Array(6).fill(true),
      )
      const rest: boolean[] = []
      for (let i = 0; i < 6; i++) rest.push((await limiter.consume(key, 10)).ok)
      assert.deepEqual(rest, [true, true, true, true, false, false])
      const other = await burst(limiter, fresh(), 3, 5)
      assert.deepEqual(
        other.map(({ ok }) => ok),
        [true, true, true, false, false],
      )
    },
  },
  {
    name: 'counts each key separately, for any characters',
    async run(open) {
      const limiter = await open()
      const p = fresh()
      for (const end of strange) assert.equal(passed(await burst(limiter, p + end, 1, 2)), 1, JSON.stringify(end))
    },
  },
  {
    name: 'shares counts between all users of the store',
    async run(open) {
      const limiters = await Promise.all([open(), open(), open()])
      const key = fresh()
      const all = await Promise.all(limiters.map((limiter) => burst(limiter, key, 100, 100)))
      assert.equal(passed(all.flat()), 100)
      for (const limiter of limiters) assert.equal((await limiter.consume(key, 100)).ok, false)
    },
  },
  {
    name: 'is exact where several callers use many keys in different orders',
    async run(open) {
      const limiters = await Promise.all([open(), open()])
      for (let round = 0; round < 5; round++) {
        const keys = Array.from({ length: 2_000 }, fresh)
        const orders = [keys, keys.toReversed()]
        const all = await Promise.all(
          limiters.flatMap((limiter, l) =>
            orders[l]!.map(async (key) => ({ key, ok: (await limiter.consume(key, 1)).ok })),
          ),
        )
        assert.deepEqual(
          all
            .filter(({ ok }) => ok)
            .map(({ key }) => key)
            .toSorted(),
          keys.toSorted(),
        )
      }
    },
  },
  {
    name: 'limits a busy key without affecting the others',
    async run(open) {
      const limiter = await open()
      const p = fresh()
      const hot = burst(limiter, `${p}hot`, 10, 300)
      const others = await Promise.all(Array.from({ length: 50 }, (_, i) => burst(limiter, `${p}${i}`, 3, 3)))
      assert.deepEqual(others.map(passed), Array(50).fill(3))
      assert.equal(passed(await hot), 10)
    },
  },
  {
    name: 'starts a window with the first request of a key, and admits requests again after its end',
    async run(open) {
      const window = 400
      const limiter = await open(window)
      const key = fresh()
      for (let round = 0; round < 2; round++) {
        const before = performance.now()
        assert.equal(passed(await burst(limiter, key, 5, 8)), 5)
        const after = performance.now()
        let next: RateLimit
        do {
          await sleep(5)
          next = await limiter.consume(key, 5)
          // Clocks and stores may round by a millisecond.
          if (next.ok) assert.ok(performance.now() - before >= window - 1, 'passed too early')
        } while (!next.ok && performance.now() - after < 10 * window)
        assert.ok(next.ok, 'never passed again')
        assert.equal(passed(await burst(limiter, key, 5, 8)), 4)
        await sleep(1.5 * window)
      }
    },
  },
  {
    name: 'follows a limit that changes within a window',
    async run(open) {
      const limiter = await open()
      const key = fresh()
      assert.equal(passed(await burst(limiter, key, 2, 4)), 2)
      assert.equal(passed(await burst(limiter, key, 5, 4)), 3)
      assert.equal((await limiter.consume(key, 4)).ok, false)
      assert.equal((await limiter.consume(key, 5)).ok, false)
      assert.equal((await limiter.consume(key, 6)).ok, true)
      const mixed = fresh()
      const both = await Promise.all([burst(limiter, mixed, 3, 10), burst(limiter, mixed, 8, 10)])
      assert.equal(passed(both.flat()), 8)
      assert.ok(passed(both[0]) <= 3)
    },
  },
  {
    name: 'counts several units at once: all or none of them',
    async run(open) {
      const limiters = await Promise.all([open(), open()])
      const [one, other] = limiters as [RateLimiter, RateLimiter]
      const key = fresh()
      assert.equal((await one.consume(key, 10, 11)).ok, false)
      assert.equal((await one.consume(key, 10, 7)).ok, true)
      assert.equal((await other.consume(key, 10, 4)).ok, false)
      const last = await other.consume(key, 10, 3)
      assert.equal(last.ok, true)
      if (last.remaining !== undefined) assert.equal(last.remaining, 0)
      const many = await Promise.all(
        Array.from({ length: 40 }, async (_, i) => limiters[i % 2]!.consume(key + 1, 100, 1 + (i % 7))),
      )
      const counted = many.reduce((sum, { ok }, i) => sum + (ok ? 1 + (i % 7) : 0), 0)
      assert.ok(counted <= 100 && counted > 50, `${counted} of 100`)
      // What no request could use is free again, once the next round trip of its limiter has ended.
      await Promise.all(limiters.map((limiter) => limiter.consume(fresh(), 1)))
      let rest = 0
      for (let i = 0; i < 100; i++) if ((await one.consume(key + 1, 100, 1)).ok) rest++
      assert.equal(counted + rest, 100)
    },
  },
  {
    name: 'takes back what was counted, whatever the limit',
    async run(open) {
      const [one, other] = (await Promise.all([open(), open()])) as [RateLimiter, RateLimiter]
      const key = fresh()
      await one.consume(key, 10, 10)
      assert.equal((await other.consume(key, 10, 5)).ok, false)
      await other.adjust(key, 3, -4)
      assert.equal((await one.consume(key, 10, 5)).ok, false)
      assert.equal((await one.consume(key, 10, 4)).ok, true)
      assert.equal((await one.consume(key, 10)).ok, false)
      await one.adjust(key, 10, -1)
      assert.equal((await one.consume(key, 10)).ok, true)
    },
  },
  {
    name: 'reports the end of the window in whole seconds, and at least one',
    async run(open) {
      const [minute, short] = [await open(), await open(1_200)]
      const key = fresh()
      const first = await minute.consume(key, 1)
      assert.deepEqual([first.ok, first.retryAfter], [true, 60])
      const { ok, retryAfter } = await minute.consume(key, 1)
      assert.equal(ok, false)
      assert.ok(retryAfter === 60 || retryAfter === 59, `${retryAfter} s`)
      await burst(short, key + 1, 1, 2)
      await sleep(800)
      const late = await short.consume(key + 1, 1)
      assert.deepEqual([late.ok, late.retryAfter], [false, 1])
    },
  },
  {
    name: 'reports how many requests are left, if it tells',
    async run(open) {
      const limiter = await open()
      const key = fresh()
      const lefts = [await limiter.consume(key, 5), ...(await burst(limiter, key, 5, 5))].map(
        ({ remaining }) => remaining,
      )
      const isTold = lefts[0] !== undefined
      assert.deepEqual(lefts, isTold ? [4, 3, 2, 1, 0, 0] : Array(6).fill(undefined))
      if (isTold) assert.equal((await limiter.consume(key, 8)).remaining, 2)
    },
  },
  {
    name: 'counts several at once: all of them, or none where there is no room',
    async run(open) {
      const limiter = await open()
      const key = fresh()
      const take = async (count: number) => {
        const { ok, remaining = 0 } = await limiter.consume(key, 100, count)
        return [ok, remaining]
      }
      assert.deepEqual(await take(60), [true, 40])
      assert.deepEqual(await take(41), [false, 40])
      // What was refused takes nothing from others, also in the same round trip.
      const some = await Promise.all([take(50), take(30), take(50), take(10), take(1)])
      assert.deepEqual(
        some.map(([ok]) => ok),
        [false, true, false, true, false],
      )
      assert.equal((await limiter.consume(fresh(), 100, 101)).ok, false)
    },
  },
  {
    name: 'corrects what was counted, within the limit',
    async run(open) {
      const limiter = await open()
      const key = fresh()
      await limiter.consume(key, 100, 80)
      assert.equal((await limiter.consume(key, 100, 40)).ok, false)
      await limiter.adjust(key, 100, -50)
      assert.equal((await limiter.consume(key, 100, 40)).ok, true)
      assert.equal(await limiter.adjust(key, 100, 29), 29)
      assert.equal((await limiter.consume(key, 100, 2)).ok, false)
      // 99 are counted, so that there is room for one.
      assert.equal(await limiter.adjust(key, 100, 1_000), 1)
      assert.equal((await limiter.consume(key, 100, 1)).ok, false)
      await limiter.adjust(key, 100, -1_000)
      assert.deepEqual(
        [await limiter.consume(key, 100, 101), await limiter.consume(key, 100, 100)].map(({ ok }) => ok),
        [false, true],
      )
      const other = fresh()
      await limiter.adjust(other, 100, -10)
      assert.deepEqual(
        [await limiter.consume(other, 100, 101), await limiter.consume(other, 100, 90)].map(({ ok }) => ok),
        [false, true],
      )
      const late = fresh()
      assert.equal(await limiter.adjust(late, 100, 1_000), 100)
      assert.equal((await limiter.consume(late, 100, 1)).ok, false)
    },
  },
  {
    name: 'shares what is counted at once and given back between all users of the store',
    async run(open) {
      const limiters = await Promise.all([open(), open(), open()])
      const key = fresh()
      const all = async () => {
        const limits = await Promise.all(Array.from({ length: 60 }, (_, i) => limiters[i % 3]!.consume(key, 100, 7)))
        return passed(limits)
      }
      const first = await all()
      // What one of them could not take as a whole may be in its hands for a moment, where another would have had room.
      assert.ok(first <= 14 && first >= 12, `${first} of 14`)
      await Promise.all(Array.from({ length: first }, (_, i) => limiters[i % 3]!.adjust(key, 100, -7)))
      assert.equal((await limiters[1]!.consume(key, 100, 100)).ok, true)
    },
  },
]
