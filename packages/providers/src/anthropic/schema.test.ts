import { describe, expect, it } from 'vitest'
import { body, notes, tool } from '../../../../test/support/anthropic.js'
import { complexityOf, strictSchema } from './schema.js'

const string = { type: 'string' }
const object = (properties: object, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const fields = (count: number, schema: object = string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, schema]))
const nullable = { type: ['string', 'null'] }
const either = { anyOf: [string, { type: 'null' }] }
const answerIn = (schema: object) => ({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })
const strictTool = (name: string, parameters: object) => ({
  type: 'function' as const,
  function: { name, strict: true, parameters: parameters as Record<string, unknown> },
})

describe('a schema can be enforced', () => {
  it.each<[what: string, schema: object, optional: number, unions: number]>([
    ['with references and definitions', { $ref: '#/$defs/a', $defs: { a: object({ x: string }, []) } }, 1, 0],
    [
      'with a definition that is used twice',
      object({ a: { $ref: '#/definitions/t' }, b: { $ref: '#/definitions/t' } }),
      0,
      0,
    ],
    [
      'with a name of special characters',
      { ...object({ a: { $ref: '#/$defs/x~1y' } }), $defs: { 'x/y': nullable } },
      0,
      1,
    ],
    ['with enums of scalars', object({ a: { enum: ['x', 1, true, null] }, b: { const: 'y' } }), 0, 0],
    ['with alternatives and lists', object({ a: either, b: { type: 'array', items: { oneOf: [string] } } }, []), 2, 2],
    ['with limits that are described', object({ a: { ...string, minLength: 2, pattern: '^x' } }), 0, 0],
    ['with a property of the name of a keyword', object({ if: string, prefixItems: string }), 0, 0],
  ])('%s', (_, schema, optional, unions) => {
    const whole = { definitions: { t: string }, ...schema }
    expect(complexityOf(whole)).toEqual({ optional, unions })
  })

  it('keeps that a list is not empty', () => {
    const list = (minItems: number) => strictSchema({ type: 'array', items: string, minItems })
    expect(list(1)).toEqual({ type: 'array', items: string, minItems: 1 })
    expect(list(2)).toEqual({ type: 'array', items: string, description: '(minItems: 2)' })
  })
})

describe('a schema cannot be enforced', () => {
  it.each<[what: string, schema: object]>([
    ['with maps', object({ a: { type: 'object', additionalProperties: string } })],
    ['with patterns of names', object({ a: { type: 'object', properties: {}, patternProperties: { x: string } } })],
    [
      'that is recursive',
      { ...object({ a: { $ref: '#/$defs/n' } }), $defs: { n: object({ next: { $ref: '#/$defs/n' } }) } },
    ],
    [
      'that is recursive by way of another',
      {
        ...object({ a: { $ref: '#/$defs/a' } }),
        $defs: { a: object({ b: { $ref: '#/$defs/b' } }), b: { anyOf: [{ $ref: '#/$defs/a' }, string] } },
      },
    ],
    ['that refers to itself', object({ next: { $ref: '#' } })],
    ['that refers elsewhere', object({ a: { $ref: 'https://example.com/schema.json' } })],
    ['that refers to nothing', object({ a: { $ref: '#/$defs/none' } })],
    ['that refers to a property', object({ a: string, b: { $ref: '#/properties/a' } })],
    ['with tuples', object({ a: { type: 'array', prefixItems: [string, string] } })],
    ['with tuples of old', object({ a: { type: 'array', items: [string, string] } })],
    ['with an enum of objects', object({ a: { enum: [{ x: 1 }, { x: 2 }] } })],
    ['with an enum of lists', object({ a: { enum: [[1], [2]] } })],
    ['with a constant object', object({ a: { const: { x: 1 } } })],
    ['with references in allOf', { ...object({ a: { allOf: [{ $ref: '#/$defs/s' }] } }), $defs: { s: string } }],
    ['with conditions', { ...object({ a: string }), if: { required: ['a'] }, else: { required: ['b'] } }],
    ['with dependencies', { ...object({ a: string }), dependentRequired: { a: ['b'] } }],
    ['with any value', object({ a: {} })],
    ['with a value that is only described', object({ a: { description: 'Anything' } })],
    ['with a value that may be true', object({ a: true })],
  ])('%s', (_, schema) => {
    expect(complexityOf(schema)).toBeUndefined()
    const sent = body(answerIn(schema), 'claude-opus-4-8')
    expect(sent).toMatchObject({ tools: [{ name: 'json', input_schema: schema }], tool_choice: { type: 'any' } })
    expect(sent).not.toHaveProperty('output_config')
    expect(notes(answerIn(schema), 'claude-opus-4-8')).toEqual(['emulated response_format'])
    const tools = [strictTool('f', schema)]
    expect(notes({ tools })).toEqual(['dropped tools.function.strict'])
  })

  it('that is a recursive definition, and a tool has that definition', () => {
    const node = object({ next: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] } })
    const $defs = { n: node }
    const sent = body(answerIn({ $ref: '#/$defs/n', $defs }))
    expect(sent['tools']).toEqual([{ name: 'json', input_schema: { ...node, $defs } }])
  })

  it.each<[what: string, most: object, more: object]>([
    ['24 optional fields', object(fields(24), []), object(fields(25), [])],
    [
      '24 optional fields at any depth',
      object({ a: object(fields(23), []) }, []),
      object({ a: object(fields(24), []) }, []),
    ],
    ['16 types with alternatives', object(fields(16, nullable)), object(fields(17, nullable))],
    ['16 alternatives', object(fields(16, either)), object(fields(17, either))],
  ])('with more than %s', (_, most, more) => {
    expect(body(answerIn(most))).toHaveProperty('output_config')
    expect(body(answerIn(more))).not.toHaveProperty('output_config')
    expect(notes(answerIn(more))).toEqual(['emulated response_format'])
  })

  it('beyond the limits of all strict schemas together, which tools have in their order', () => {
    const tools = [10, 10, 10, 4].map((count, i) => strictTool(`f${i}`, object(fields(count), [])))
    const held = (given: object) =>
      (body({ tools, ...given })['tools'] as { strict?: true }[]).map(({ strict }) => strict)
    expect(held({})).toEqual([true, true, undefined, true])
    expect(notes({ tools })).toEqual(['dropped tools.function.strict'])
    // The schema of the answer comes first.
    expect(held(answerIn(object(fields(12), [])))).toEqual([true, undefined, undefined, undefined])
    const others = [strictTool('g', object(fields(9, nullable))), strictTool('h', object(fields(8, either)))]
    expect(notes({ tools: others })).toEqual(['dropped tools.function.strict'])
    expect(notes({ tools: [...others, tool('f', object(fields(30, either), []))] })).toHaveLength(1)
  })
})
