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
const of = (weights: Record<string, number>, name = 'x') => new Rotation(name, new Map(Object.entries(weights)))
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

describe('the order for a session', () => {
  const weights = { a: 5, b: 3, c: 2 }
  const sessions = Array.from({ length: 10_000 }, (_, i) => `session-${i}`)
  const first = (rotation: Rotation<string>, session: string): string => rotation.order(session)[0]!

  it('is always the same, also in another process, whatever was called', () => {
    const rotation = of(weights)
    for (const session of ['', 'a', '1', '2', 'x'.repeat(100_000)]) {
      const order = rotation.order(session)
      expect(order.toSorted()).toEqual(['a', 'b', 'c'])
      rotation.charge(order[0]!, true)
      expect([rotation.order(session), of(weights).order(session)]).toEqual([order, order])
    }
  })

  it('shares many sessions by weight, and those of one that rests by the weights of the others', () => {
    const rotation = of(weights)
    const all = counts(sessions.map((session) => first(rotation, session)).join(''))
    for (const [one, part] of Object.entries({ a: 0.5, b: 0.3, c: 0.2 }))
      expect(Math.abs(all[one]! / sessions.length / part - 1), one).toBeLessThan(0.05)
    const orphans = sessions.filter((session) => first(rotation, session) === 'a')
    const next = counts(orphans.map((session) => rotation.order(session)[1]!).join(''))
    expect(Math.abs(next['b']! / orphans.length / 0.6 - 1)).toBeLessThan(0.05)
  })

  it('stays for the sessions of the others where one is added or has another weight', () => {
    const more = of({ ...weights, d: 2 })
    const heavier = of({ ...weights, c: 4 })
    for (const session of sessions.slice(0, 1_000)) {
      const one = first(of(weights), session)
      expect(['d', one]).toContain(first(more, session))
      expect(['c', one]).toContain(first(heavier, session))
    }
  })

  it('does not depend on the choice of another rotation', () => {
    const [one, other] = [of({ a: 1, b: 1 }, 'one'), of({ a: 1, b: 1 }, 'other')]
    const both = counts(
      sessions
        .filter((session) => first(one, session) === 'a')
        .map((session) => first(other, session))
        .join(''),
    )
    expect(Math.abs(both['a']! / both['b']! - 1)).toBeLessThan(0.1)
  })
})
