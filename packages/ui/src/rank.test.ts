import { expect, it } from 'vitest'
import { best, rank } from './rank.js'

it('finds all words, wherever they are', () => {
  expect(rank('web', 'Website')).toBe(0)
  expect(rank('new we', 'A new website')).toBe(1)
  expect(rank('site', 'Website')).toBe(2)
  expect(rank('web shop', 'Website')).toBeUndefined()
  expect(rank('', 'Website')).toBe(0)
})

it('has the best first, and as many as are wanted', () => {
  const all = ['Keys', 'Monkeys', 'All keys', 'Usage']
  expect(best('key', all, String, 5)).toEqual(['Keys', 'All keys', 'Monkeys'])
  expect(best('', all, String, 2)).toEqual(['Keys', 'Monkeys'])
})
