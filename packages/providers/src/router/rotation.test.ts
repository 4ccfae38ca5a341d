import { describe, expect, it } from 'vitest'
import { Rotation } from './rotation.js'

/** Gives calls to who is next of those that do not rest. */
function turns(rotation: Rotation<string>, count: number, rests = ''): string {
  let all = ''
  for (let i = 0; i < count; i++) {
    const next = rotation.order().find((one) => !rests.includes(one))!
    rotation.charge(next, true)
    all += next
  }
  return all
}
const of = (weights: Record<string, number>) => new Rotation(new Map(Object.entries(weights)))
const counts = (all: string): Record<string, number> => {
  const sum: Record<string, number> = {}
  for (const one of all) sum[one] = (sum[one] ?? 0) + 1
  return sum
}

describe('a rotation', () => {
  it('takes turns, in the given order', () => {
    const rotation = of({ a: 1, b: 1, c: 1 })
    expect(turns(rotation, 7)).toBe('abcabca')
    expect(rotation.order()).toEqual(['b', 'c', 'a'])
    expect(rotation.order()).toEqual(['b', 'c', 'a'])
  })

  it('shares by weight, evenly in time', () => {
    const all = turns(of({ a: 5, b: 3, c: 2 }), 1_000)
    expect(counts(all)).toEqual({ a: 500, b: 300, c: 200 })
    for (let i = 0; i < 1_000; i += 10) expect(counts(all.slice(i, i + 10))['a'], `from ${i}`).toBeGreaterThan(3)
  })

  it('shares what one that rests would get by the weights of the others', () => {
    const rotation = of({ a: 2, b: 3, c: 1 })
    turns(rotation, 60)
    expect(counts(turns(rotation, 400, 'a'))).toEqual({ b: 300, c: 100 })
  })

  it('gives one that comes back no more than its share', () => {
    const rotation = of({ a: 1, b: 1 })
    turns(rotation, 1_000, 'a')
    // One call ahead at most.
    expect(turns(rotation, 8)).toBe('aabababa')
  })

  it('counts calls in place of one that failed', () => {
    const rotation = of({ a: 1, b: 1, c: 1 })
    const all: string[] = []
    for (let i = 0; i < 300; i++) {
      const [first, second] = rotation.order() as [string, string]
      rotation.charge(first, true)
      all.push(first)
      if (first !== 'a') continue
      rotation.charge(second, false)
      all.push(second)
    }
    expect(Object.values(counts(all.join(''))).map((count) => Math.round((count / all.length) * 100))).toEqual([
      33, 33, 33,
    ])
  })
})
