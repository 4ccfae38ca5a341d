import { setImmediate } from 'node:timers/promises'
import type { RateLimit } from '@turnpike/core'
import { memoryRateLimiter } from '@turnpike/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Taken, Want } from './rate-limiter.js'
import { sharedRateLimiter } from './rate-limiter.js'
import { rateLimiterContract } from './testing.js'

/** A store whose round trips are recorded, and last until the test answers them. */
function slowStore() {
  const trips: { wants: Want[]; answer(taken: Taken[]): void; fail(error: Error): void }[] = []
  const limiter = sharedRateLimiter({
    take: (wants) => new Promise((answer, fail) => trips.push({ wants, answer, fail })),
    close: async () => undefined,
  })
  return { trips, limiter }
}

const many = (count: number, consume: () => RateLimit | Promise<RateLimit>): Promise<RateLimit[]> =>
  Promise.all(Array.from({ length: count }, async () => consume()))

describe('memoryRateLimiter', () => {
  // The contract needs several limiters on one store; in memory, that is one limiter. Shorter windows are simulated by a faster clock.
  const whole = memoryRateLimiter()
  const open = async (window = 60_000) =>
    window === 60_000 ? whole : memoryRateLimiter({ now: () => performance.now() * (60_000 / window) })
  for (const { name, run } of rateLimiterContract.filter(({ name }) => !name.includes('whole seconds')))
    it(name, () => run(open))
})

describe('sharedRateLimiter', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('makes one round trip for all requests of a turn, and one for all that arrive during it', async () => {
    const { trips, limiter } = slowStore()
    const first = many(512, () => limiter.consume('a', 600))
    await setImmediate()
    await setImmediate()
    expect(trips.map(({ wants }) => wants)).toEqual([[{ key: 'a', perMinute: 600, count: 512 }]])
    const second = Promise.all([many(300, () => limiter.consume('a', 600)), many(2, () => limiter.consume('b', 5))])
    await setImmediate()
    expect(trips).toHaveLength(1)
    trips[0]!.answer([{ granted: 512, left: 0, endsInMs: 60_000 }])
    expect((await first).every(({ ok }) => ok)).toBe(true)
    await setImmediate()
    expect(trips[1]?.wants).toEqual([
      { key: 'a', perMinute: 600, count: 300 },
      { key: 'b', perMinute: 5, count: 2 },
    ])
    trips[1]!.answer([
      { granted: 88, left: 0, endsInMs: 59_000 },
      { granted: 2, left: 0, endsInMs: 60_000 },
    ])
    const [a, b] = await second
    expect(a.map(({ ok }) => ok)).toEqual(Array.from({ length: 300 }, (_, i) => i < 88))
    expect(new Set(a.map(({ retryAfter }) => retryAfter))).toEqual(new Set([59]))
    expect(b.every(({ ok }) => ok)).toBe(true)
    expect(trips).toHaveLength(2)
  })

  it('gives back what is left of a grant that no request can use', async () => {
    const { trips, limiter } = slowStore()
    const asked = [6, 3, 4].map((count) => limiter.consume('a', 10, count))
    await setImmediate()
    await setImmediate()
    expect(trips[0]!.wants).toEqual([{ key: 'a', perMinute: 10, count: 13 }])
    trips[0]!.answer([{ granted: 10, left: 0, endsInMs: 1_000 }])
    expect((await Promise.all(asked)).map(({ ok, remaining }) => [ok, remaining])).toEqual([
      [true, 4],
      [true, 1],
      [false, 1],
    ])
    await setImmediate()
    expect(trips[1]!.wants).toEqual([{ key: 'a', perMinute: 10, count: -1 }])
    trips[1]!.answer([{ granted: -1, left: 1, endsInMs: 900 }])
    void limiter.consume('a', 10)
    await setImmediate()
    await setImmediate()
    expect(trips).toHaveLength(3)
  })

  it('refuses a key over its limit without a round trip, until its window ends or its limit rises', async () => {
    const { trips, limiter } = slowStore()
    const asked = async (perMinute: number, granted: number, endsInMs: number): Promise<RateLimit> => {
      const before = trips.length
      const limit = limiter.consume('a', perMinute)
      while (trips.length === before) await setImmediate()
      trips.at(-1)!.answer([{ granted, left: 0, endsInMs }])
      return limit
    }
    expect(await asked(5, 0, 150)).toMatchObject({ ok: false, retryAfter: 1 })
    expect(limiter.consume('a', 5)).toMatchObject({ ok: false, retryAfter: 1 })
    expect(limiter.consume('a', 4)).toMatchObject({ ok: false, retryAfter: 1 })
    expect(await asked(6, 1, 150)).toMatchObject({ ok: true })
    expect(await asked(6, 0, 2_150)).toMatchObject({ ok: false, retryAfter: 3 })
    vi.advanceTimersByTime(200)
    expect(limiter.consume('a', 6)).toMatchObject({ ok: false, retryAfter: 2 })
    expect(trips).toHaveLength(3)
    expect(await asked(7, 0, 50)).toMatchObject({ ok: false })
    vi.advanceTimersByTime(60)
    expect(await asked(7, 1, 60_000)).toMatchObject({ ok: true })
  })

  it('sends one limit per key at a time', async () => {
    const { trips, limiter } = slowStore()
    const limits = Promise.all([3, 8, 3].map((perMinute) => limiter.consume('a', perMinute)))
    for (const [trip, want] of [
      { key: 'a', perMinute: 3, count: 2 },
      { key: 'a', perMinute: 8, count: 1 },
    ].entries()) {
      while (trips.length === trip) await setImmediate()
      expect(trips[trip]!.wants).toEqual([want])
      trips[trip]!.answer([{ granted: 1, left: 0, endsInMs: 60_000 }])
    }
    expect((await limits).map(({ ok }) => ok)).toEqual([true, true, false])
  })

  it('rejects all requests of a failed round trip, and tries again for the next', async () => {
    const { trips, limiter } = slowStore()
    const first = Promise.allSettled([limiter.consume('a', 5), limiter.consume('b', 5)])
    await setImmediate()
    await setImmediate()
    const second = limiter.consume('a', 5)
    const gone = new Error('gone')
    trips[0]!.fail(gone)
    expect(await first).toEqual([
      { status: 'rejected', reason: gone },
      { status: 'rejected', reason: gone },
    ])
    await setImmediate()
    trips[1]!.answer([{ granted: 1, left: 0, endsInMs: 60_000 }])
    expect(await second).toMatchObject({ ok: true, retryAfter: 60 })
  })

  it('rejects only the request with a key that no store accepts', async () => {
    const { trips, limiter } = slowStore()
    const good = limiter.consume('a', 5)
    expect(() => limiter.consume('x'.repeat(3_000), 5)).toThrow(TypeError)
    await setImmediate()
    await setImmediate()
    expect(trips[0]!.wants.map(({ key }) => key)).toEqual(['a'])
    trips[0]!.answer([{ granted: 1, left: 0, endsInMs: 60_000 }])
    expect(await good).toMatchObject({ ok: true })
  })

  it('finishes accepted requests on close, and accepts no more', async () => {
    const { trips, limiter } = slowStore()
    const last = limiter.consume('a', 5)
    const closed = limiter.close()
    await expect(limiter.consume('a', 5)).rejects.toMatchObject({ name: 'StorageError', outcome: 'none' })
    await setImmediate()
    await setImmediate()
    trips[0]!.answer([{ granted: 1, left: 0, endsInMs: 60_000 }])
    await closed
    expect(await last).toMatchObject({ ok: true })
  })
})
