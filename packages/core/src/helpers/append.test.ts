import { expect, it } from 'vitest'
import { append } from './append.js'

it('append adds more items than a call takes arguments', () => {
  const list = [1, 2]
  append(list, Array<number>(300_000).fill(3))
  expect([list.length, list.slice(0, 4)]).toEqual([300_002, [1, 2, 3, 3]])
})
