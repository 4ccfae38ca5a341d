import { describe, expect, it } from 'vitest'
import { revocableCache } from './revocable-cache.js'

/** A cache of ids with a clock. */
function setUp(options?: { size?: number }) {
  const clock = { now: 1_000 }
  const cache = revocableCache<{ id: string }>(() => clock.now, options)
  const load = (id: string) => cache.load(id, () => Promise.resolve({ id }))
  return { clock, cache, load }
}

describe('a revocable cache', () => {
  it('keeps what was looked up for four seconds', async () => {
    const { clock, cache, load } = setUp()
    expect(cache.get('a')).toBeUndefined()
    const value = await load('a')
    expect(value).toEqual({ id: 'a' })
    clock.now += 3_999
    expect(cache.get('a')).toBe(value)
    clock.now += 1
    expect(cache.get('a')).toBeUndefined()
    await load('a')
    expect(cache.get('a')).toEqual({ id: 'a' })
  })

  it('keeps what was looked up again for another period', async () => {
    const { clock, cache, load } = setUp()
    await load('a')
    clock.now += 3_000
    await load('a')
    clock.now += 3_000
    expect(cache.get('a')).toBeDefined()
  })

  it('does not keep null, or the value of a look-up that fails', async () => {
    const { cache } = setUp()
    expect(await cache.load('a', () => Promise.resolve(null))).toBeNull()
    await expect(cache.load('b', () => Promise.reject(new Error('No')))).rejects.toThrow('No')
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, undefined])
  })

  it('loses what is revoked at once, and keeps the rest', async () => {
    const { cache, load } = setUp()
    for (const id of ['a1', 'a2', 'b1']) await load(id)
    cache.revoke(({ id }) => id.startsWith('a'))
    expect(['a1', 'a2', 'b1'].map((id) => cache.get(id)?.id)).toEqual([undefined, undefined, 'b1'])
  })

  it('returns but does not keep what was read while something was revoked', async () => {
    const { cache, load } = setUp()
    let answer: (value: { id: string }) => void = () => undefined
    const loading = cache.load('a', () => new Promise((resolve) => (answer = resolve)))
    cache.revoke(({ id }) => id === 'a')
    answer({ id: 'a' })
    expect(await loading).toEqual({ id: 'a' })
    expect(cache.get('a')).toBeUndefined()
    await load('a')
    expect(cache.get('a')).toEqual({ id: 'a' })
  })

  it('has at most as many values as its size', async () => {
    const { cache, load } = setUp({ size: 3 })
    for (const id of ['a', 'b', 'c']) await load(id)
    expect(['a', 'b', 'c'].filter((id) => cache.get(id))).toEqual(['a', 'b', 'c'])
    await load('d')
    expect(['a', 'b', 'c', 'd'].filter((id) => cache.get(id))).toEqual(['d'])
  })
})
