import { expect, it } from 'vitest'
import { best, rank } from './rank.js'

it('finds all words, wherever they are', () => {
  expect(rank(' website ', 'Website', 'a project')).toBe(0)
  expect(rank('web', 'Website')).toBe(1)
  expect(rank('new we', 'A new website')).toBe(2)
  expect(rank('new proj', 'New', 'a project')).toBe(2)
  expect(rank('site', 'Website')).toBe(3)
  expect(rank('web shop', 'Website')).toBeUndefined()
  expect(rank('', 'Website')).toBe(1)
})

it('has the best first, and as many as are wanted', () => {
  const all = ['Keys', 'Monkeys', 'All keys', 'Usage', 'Key'].map((name) => ({ name }))
  const found = (wanted: string, most: number) => best(wanted, all, most).map(({ name }) => name)
  expect(found('key', 4)).toEqual(['Key', 'Keys', 'All keys', 'Monkeys'])
  expect(found('key', 1)).toEqual(['Key'])
  expect(found('', 2)).toEqual(['Keys', 'Monkeys'])
})
