import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { variant } from './variant.js'

const options = [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({ type: v.picklist(['audio', 'video']), seconds: v.pipe(v.number(), v.minValue(1)) }),
] as const
const ours = variant('type', options)
const theirs = v.variant('type', options)

describe('a variant', () => {
  it.each<[what: string, input: unknown]>([
    ['a literal', { type: 'text', text: 'Hi', more: 1 }],
    ['one of a picklist', { type: 'video', seconds: 2 }],
    ['a field that is missing', { type: 'text' }],
    ['two wrong fields', { type: 'audio', seconds: '1' }],
    ['a value out of bounds', { type: 'audio', seconds: 0 }],
    ['an unknown discriminator', { type: 'smell' }],
    ['no discriminator', {}],
    ['a discriminator of another type', { type: 1 }],
    ['null', null],
    ['an array', []],
    ['a string', 'text'],
  ])('says of %s what valibot says', (_, input) => {
    const { success, output, issues } = v.safeParse(ours, input)
    const expected = v.safeParse(theirs, input)
    expect({ success, output, issues }).toEqual({
      success: expected.success,
      output: expected.output,
      issues: expected.issues,
    })
  })
})

it('does not try the options that are not meant', () => {
  let tried = 0
  const counted = v.looseObject({ type: v.literal('a'), x: v.custom(() => ++tried > 0) })
  Object.assign(counted.entries.type, { '~run': () => ++tried })
  expect(v.is(variant('type', [counted, v.looseObject({ type: v.literal('b') })]), { type: 'b' })).toBe(true)
  expect(tried).toBe(0)
})
