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
  expect(choiceIndex(given, 3)).toBe(index)
})
