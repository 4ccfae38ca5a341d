import { expect, it } from 'vitest'
import { expectLinear } from '../../../test/support/linear.js'
import { piecesOf } from './pieces.js'

it.each([
  ['a short text', 'a\nb', 1],
  ['lines', 'word word\n'.repeat(2_000), 6],
  ['a line without a space', 'x'.repeat(10_000), 3],
  ['characters of two units', `x${'😀'.repeat(5_000)}`, 3],
])('cuts %s into pieces of 4,000 characters at most', (_, text, count) => {
  const pieces = piecesOf(text)
  expect(pieces.join('')).toBe(text)
  expect(pieces).toHaveLength(count)
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(4_000)
    expect(piece.isWellFormed()).toBe(true)
  }
})

it('changes the last piece only while a text grows', () => {
  const text = 'word word\n'.repeat(2_000)
  for (let length = 0; length <= text.length; length += 37) {
    const pieces = piecesOf(text.slice(0, length))
    expect(piecesOf(text).slice(0, pieces.length - 1)).toEqual(pieces.slice(0, -1))
  }
})

it('threat 81: takes linear time for one line', () =>
  expectLinear((n) => {
    const text = 'x'.repeat(n * 300)
    return () => piecesOf(text)
  }))
