import { describe, expect, it } from 'vitest'
import { Shares } from './shares.js'

describe('Shares', () => {
  it('are fair below all of it divided by the holders and one more', () => {
    const shares = new Shares(12)
    shares.take('ada', 5)
    expect([shares.isBelow('ada'), shares.isBelow('bob')]).toEqual([true, true])
    shares.take('bob', 4)
    expect([shares.isBelow('ada'), shares.isBelow('bob'), shares.isBelow('eve')]).toEqual([false, false, true])
    expect([shares.taken, shares.of('ada'), shares.of('eve')]).toEqual([9, 5, 0])
  })

  it('forget a holder that has given everything back', () => {
    const shares = new Shares(12)
    for (const holder of ['ada', 'bob', 'eve']) shares.take(holder, 6)
    expect(shares.isBelow('ada')).toBe(false)
    for (const holder of ['bob', 'eve']) shares.take(holder, -6)
    shares.take('ada', -1)
    expect([shares.taken, shares.isBelow('ada')]).toEqual([5, true])
  })
})
