import { describe, expect, it } from 'vitest'
import { sortedKeys } from './sorted-keys.js'

/** A seeded random number generator, so that a failure can be reproduced. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe('sortedKeys', () => {
  it('is empty at first', () => {
    expect([...sortedKeys().from('')]).toEqual([])
    expect([...sortedKeys().from('z', true)]).toEqual([])
  })

  it('begins at the start key, which only forward iteration includes', () => {
    const keys = sortedKeys()
    for (const key of ['b', 'd', 'a', 'c', 'b']) keys.add(key)
    expect([...keys.from('b')]).toEqual(['b', 'c', 'd'])
    expect([...keys.from('bb')]).toEqual(['c', 'd'])
    expect([...keys.from('b', true)]).toEqual(['a'])
    expect([...keys.from('bb', true)]).toEqual(['b', 'a'])
    keys.delete('c')
    keys.delete('x')
    expect([...keys.from('')]).toEqual(['a', 'b', 'd'])
  })

  it.each([1, 2, 3, 4, 5])('agrees with a sorted array over many runs (seed %i)', (seed) => {
    const next = random(seed)
    const keys = sortedKeys()
    const model = new Set<string>()
    // Grows to several runs, shrinks to none, and grows again.
    for (const [steps, additions] of [
      [4_000, 9],
      [6_000, 1],
      [1_500, 7],
    ] as const) {
      for (let i = 0; i < steps; i++) {
        const key = String(next(3_000))
        if (next(10) < additions) {
          keys.add(key)
          model.add(key)
        } else {
          keys.delete(key)
          model.delete(key)
        }
      }
      const sorted = [...model].toSorted()
      expect([...keys.from('')]).toEqual(sorted)
      for (const start of ['', '0', '2', '1500', '~', ...Array.from({ length: 20 }, () => String(next(3_000)))]) {
        expect([...keys.from(start)]).toEqual(sorted.filter((key) => key >= start))
        expect([...keys.from(start, true)]).toEqual(sorted.filter((key) => key < start).toReversed())
      }
    }
  })

  it.each([0, 1, 255, 256, 257, 1_000])('is filled with %i keys at once, and changed afterwards', (count) => {
    const all = Array.from({ length: count }, (_, i) => String((i * 7_919) % 10_007))
    const keys = sortedKeys()
    keys.fill(all)
    expect([...keys.from('')]).toEqual(all.toSorted())
    const added = Array.from({ length: 400 }, (_, i) => `${i}+`)
    for (const key of added) keys.add(key)
    for (const key of all) keys.delete(key)
    expect([...keys.from('')]).toEqual(added.toSorted())
  })

  it('accepts ascending and descending keys', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => String(i).padStart(4, '0'))
    const [up, down] = [sortedKeys(), sortedKeys()]
    for (const name of names) up.add(name)
    for (const name of names.toReversed()) down.add(name)
    expect([...up.from('')]).toEqual(names)
    expect([...down.from('')]).toEqual(names)
    for (const name of names) up.delete(name)
    expect([...up.from('')]).toEqual([])
    up.add('again')
    expect([...up.from('~', true)]).toEqual(['again'])
  })
})
