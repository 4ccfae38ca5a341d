import { expect, it } from 'vitest'
import { choiceIndex } from './chunk-builder.js'

it.each<[given: unknown, index: number]>([
  [0, 0],
  [127, 127],
  [128, 3],
  [4_294_967_290, 3],
  [-1, 3],
  [0.5, 3],
  ['1', 3],
  [null, 3],
  [undefined, 3],
])('threat 114: a choice with the index %j at the place 3 has the index %i', (given, index) => {
  expect(choiceIndex('openai', given, 3)).toBe(index)
})

it('threat 228: a chunk has no more choices than a request may ask for', () => {
  expect(choiceIndex('openai', 0, 127)).toBe(0)
  expect(() => choiceIndex('openai', 0, 128)).toThrow('A chunk has more than 128 choices')
})
