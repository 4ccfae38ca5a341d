import { ApiError } from '@turnpike/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { parse } from './input.js'

const part = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.picklist(['image', 'audio']) }),
])

const schema = v.strictObject({
  name: v.optional(v.pipe(v.string(), v.minLength(2), v.maxLength(4))),
  text: v.optional(v.pipe(v.string(), v.nonEmpty())),
  on: v.optional(v.boolean()),
  n: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9))),
  list: v.optional(v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2))),
  format: v.optional(v.picklist(['json', 'text', 'srt', 'vtt'])),
  only: v.optional(v.literal('function')),
  parts: v.optional(v.array(part)),
  id: v.optional(v.pipe(v.string(), v.uuid())),
  at: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  color: v.optional(v.pipe(v.string(), v.hexColor())),
  word: v.optional(v.pipe(v.string(), v.regex(/^[a-z]+$/))),
  code: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{2}$/, 'Expected two letters'))),
  map: v.optional(v.record(v.string(), v.number())),
  either: v.optional(v.union([v.string(), v.number()])),
  nested: v.optional(v.object({ needed: v.string() })),
})

const messageOf = (input: unknown, what = 'request body'): string => {
  try {
    parse(schema, input, what)
    return 'valid'
  } catch (error) {
    return ApiError.is(error) ? error.message : 'thrown'
  }
}

describe('a fault is a sentence that begins with the field', () => {
  it.each<[input: unknown, message: string]>([
    [{ nested: {} }, 'nested.needed is missing'],
    [{ name: 5 }, 'name must be a string, not 5'],
    [{ name: null }, 'name must be a string, not null'],
    [{ name: ['x'] }, 'name must be a string, not an array'],
    [{ name: 'x' }, 'name must have at least 2 characters'],
    [{ name: 'xxxxx' }, 'name must have at most 4 characters'],
    [{ text: '' }, 'text must not be empty'],
    [{ on: 'yes' }, 'on must be true or false, not "yes"'],
    [{ n: '1' }, 'n must be a number, not "1"'],
    [{ n: 1.5 }, 'n must be a whole number, not 1.5'],
    [{ n: 0 }, 'n must be at least 1, not 0'],
    [{ n: 10 }, 'n must be at most 9, not 10'],
    [{ list: 'x' }, 'list must be an array, not "x"'],
    [{ list: [] }, 'list must not be empty'],
    [{ list: ['a', 'b', 'c'] }, 'list must have at most 2 entries'],
    [{ list: ['a', {}] }, 'list.1 must be a string, not an object'],
    [{ format: 'verbose_json' }, 'format must be one of "json", "text", "srt", "vtt", not "verbose_json"'],
    [{ only: 'custom' }, 'only must be "function", not "custom"'],
    [{ parts: [{ type: 'text' }] }, 'parts.0.text is missing'],
    [{ parts: [null] }, 'parts.0 must be an object, not null'],
    [{ parts: ['x'] }, 'parts.0 must be an object, not "x"'],
    [{ parts: [{ type: 'x' }] }, 'parts.0.type must be one of "text", "image", "audio", not "x"'],
    [{ parts: [{}] }, 'parts.0.type is missing'],
    [{ id: 'x' }, 'id must be a UUID, not "x"'],
    [{ at: 'today' }, 'at must be a time such as "2026-01-31T12:00:00Z", not "today"'],
    [{ color: 'red' }, 'color must be a colour such as "#1a2b3c", not "red"'],
    [{ word: 'A' }, 'word must match /^[a-z]+$/'],
    [{ code: 'eng' }, 'code must be two letters'],
    [{ map: 5 }, 'map must be an object, not 5'],
    [{ map: { a: 'x' } }, 'map.a must be a number, not "x"'],
    [{ either: true }, 'either must be one of string, number, not true'],
    [{ more: 1 }, 'more is not known'],
    [5, 'The request body must be an object, not 5'],
    [[], 'The request body must be an object, not an array'],
    [{ name: { x: 1 } }, 'name must be a string, not an object'],
    [{ n: 'x'.repeat(1_000) }, 'n must be a number'],
  ])('%j', (input, message) => expect(messageOf(input)).toBe(message))

  it('of a form, a query or a path', () => {
    expect(messageOf(null, 'form')).toBe('The form must be an object, not null')
    expect(messageOf({ n: 'x' }, 'query')).toBe('n must be a number, not "x"')
  })
})
