import { afterEach, describe, expect, it, vi } from 'vitest'
import { consumeMore, memoryRateLimiter } from './rate-limiter.js'

function limiter(start = 1_000_000) {
  const clock = { now: start }
  const { consume } = memoryRateLimiter({ now: () => clock.now })
  return { clock, consume }
}

afterEach(() => vi.restoreAllMocks())

describe('memoryRateLimiter', () => {
  it('admits as many requests as the limit, and reports the end of the window', async () => {
    const { clock, consume } = limiter()
    expect(await consume('k', 2)).toEqual({ ok: true, retryAfter: 60, remaining: 1 })
    clock.now += 20_500
    expect(await consume('k', 2)).toEqual({ ok: true, retryAfter: 40, remaining: 0 })
    expect(await consume('k', 2)).toEqual({ ok: false, retryAfter: 40, remaining: 0 })
    clock.now += 39_499
    expect(await consume('k', 2)).toEqual({ ok: false, retryAfter: 1, remaining: 0 })
    clock.now += 1
    expect(await consume('k', 2)).toEqual({ ok: true, retryAfter: 60, remaining: 1 })
  })

  it('admits a request after the reported seconds', async () => {
    const { clock, consume } = limiter()
    await consume('k', 1)
    clock.now += 12_345
    const { ok, retryAfter } = await consume('k', 1)
    expect(ok).toBe(false)
    clock.now += retryAfter * 1_000
    expect(await consume('k', 1)).toMatchObject({ ok: true })
  })

  it('begins anew where the clock was set back', async () => {
    const { clock, consume } = limiter(10_000_000)
    await consume('k', 1)
    clock.now -= 3_600_000
    expect(await consume('k', 1)).toEqual({ ok: true, retryAfter: 60, remaining: 0 })
    expect(await consume('k', 1)).toMatchObject({ ok: false })
  })

  it('counts each key separately', async () => {
    const { consume } = limiter()
    expect(await consume('a', 1)).toMatchObject({ ok: true })
    expect(await consume('b', 1)).toMatchObject({ ok: true })
    expect(await consume('a', 1)).toMatchObject({ ok: false })
  })

  it.each([1, 7, 20])('admits exactly %i of 20 parallel calls', async (limit) => {
    const { consume } = limiter()
    const results = await Promise.all(Array.from({ length: 20 }, async () => consume('k', limit)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(limit)
  })

  it('applies a limit that changes within a window', async () => {
    const { consume } = limiter()
    await consume('k', 1)
    expect(await consume('k', 1)).toMatchObject({ ok: false })
    expect(await consume('k', 2)).toMatchObject({ ok: true })
    expect(await consume('k', 2)).toMatchObject({ ok: false })
  })

  it('removes expired windows, and only those', async () => {
    const { clock, consume } = limiter()
    await consume('old', 1)
    clock.now += 30_000
    await consume('young', 1)
    const deleted = vi.spyOn(Map.prototype, 'delete')
    clock.now += 30_000
    await consume('other', 1)
    expect(deleted.mock.calls.map(([key]) => key as string)).toEqual(['old'])
    expect(await consume('young', 1)).toMatchObject({ ok: false })
  })
})

describe('consumeMore', () => {
  it('counts the calls of a request beyond its first', async () => {
    const { consume } = limiter()
    await consume('k', 10)
    expect(await consumeMore({ consume }, 'k', 10, 4)).toMatchObject({ ok: true })
    await consume('k', 10)
    expect(await consumeMore({ consume }, 'k', 10, 5)).toMatchObject({ ok: true })
    expect(await consumeMore({ consume }, 'k', 10, 2)).toMatchObject({ ok: true })
    expect(await consumeMore({ consume }, 'k', 10, 2)).toEqual({ ok: false, retryAfter: 60, remaining: 0 })
  })

  it('counts none where a minute has fewer', async () => {
    const { consume } = limiter()
    await consume('k', 10)
    expect(await consumeMore({ consume }, 'k', 10, 11)).toEqual({ ok: false, retryAfter: 60 })
    expect(await consumeMore({ consume }, 'k', 10, 10)).toMatchObject({ ok: true })
  })
})
