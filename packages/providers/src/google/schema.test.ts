import { describe, expect, it } from 'vitest'
import { ask } from '../../../../test/support/google.js'
import { expectNoSlower } from '../../../../test/support/linear.js'
import { googleRefusal } from '../testing/google-rules.js'
import { toSchema } from './schema.js'

const object = (properties: object, required: string[] = [], more: object = {}) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  ...more,
})
const text = { type: 'string' }
const to = (name: string, more: object = {}) => ({ $ref: `#/$defs/${name}`, ...more })
const older = (name: string, more: object = {}) => ({ $ref: `#/definitions/${name}`, ...more })

describe('references of a schema', () => {
  it.each<[title: string, given: object, sent: object, looser?: boolean]>([
    ['none', object({ a: text }), object({ a: text })],
    [
      'to $defs',
      object({ a: to('A') }, ['a'], { $defs: { A: text } }),
      object({ a: to('A') }, ['a'], { $defs: { A: text } }),
    ],
    [
      'to definitions (zod, Pydantic 1)',
      object({ a: older('A'), list: { type: 'array', items: older('A') } }, [], { definitions: { A: text } }),
      object({ a: to('A'), list: { type: 'array', items: to('A') } }, [], { $defs: { A: text } }),
    ],
    [
      'to definitions that refer to others, of both names',
      object({ a: older('A') }, [], { definitions: { A: object({ b: to('B') }) }, $defs: { B: text } }),
      object({ a: to('A') }, [], { $defs: { A: object({ b: to('B') }), B: text } }),
    ],
    [
      'with siblings (Pydantic)',
      object({ a: to('A', { description: 'Home', default: null }) }, [], { $defs: { A: text } }),
      object({ a: { description: 'Home', default: null, anyOf: [to('A')] } }, [], { $defs: { A: text } }),
    ],
    [
      'with siblings in a list and in a definition',
      object({ a: { anyOf: [to('A', { title: 'x' }), text] } }, [], {
        $defs: { A: object({ b: to('B', { title: 'y' }) }), B: text },
      }),
      object({ a: { anyOf: [{ title: 'x', anyOf: [to('A')] }, text] } }, [], {
        $defs: { A: object({ b: { title: 'y', anyOf: [to('B')] } }), B: text },
      }),
    ],
    [
      'at the root (zod-to-json-schema)',
      { $schema: 'x', $ref: '#/definitions/A', definitions: { A: object({ b: text }) } },
      { $schema: 'x', ...object({ b: text }), $defs: { A: object({ b: text }) } },
    ],
    ['to the root', object({ child: { $ref: '#' } }), object({ child: { $ref: '#' } })],
    [
      'to the root, required and with siblings',
      object({ child: { $ref: '#', description: 'x' } }, ['child']),
      object({ child: { description: 'x', anyOf: [{ $ref: '#' }] } }, [], { required: [] }),
      true,
    ],
    [
      'to a property',
      object({ a: object({ b: text }), c: { $ref: '#/properties/a' } }),
      object({ a: to('a'), c: to('a') }, [], { $defs: { a: object({ b: text }) } }),
    ],
    [
      'that are circular and not required',
      object({ node: to('N') }, ['node'], { $defs: { N: object({ v: text, next: to('N') }, ['v']) } }),
      object({ node: to('N') }, ['node'], { $defs: { N: object({ v: text, next: to('N') }, ['v']) } }),
    ],
    [
      'that are circular and required',
      object({ node: to('N') }, ['node'], { $defs: { N: object({ v: text, next: to('N') }, ['v', 'next']) } }),
      object({ node: to('N') }, ['node'], {
        $defs: { N: object({ v: text, next: to('N') }, ['v'], { required: ['v'] }) },
      }),
      true,
    ],
    [
      'that are circular in a required list',
      object({ t: to('T') }, [], { $defs: { T: object({ kids: { type: 'array', items: to('T') } }, ['kids']) } }),
      object({ t: to('T') }, [], {
        $defs: { T: object({ kids: { type: 'array', items: to('T') } }, [], { required: [] }) },
      }),
      true,
    ],
    [
      'that are circular over two definitions',
      object({ a: to('A') }, ['a'], { $defs: { A: object({ b: to('B') }, ['b']), B: object({ a: to('A') }, ['a']) } }),
      object({ a: to('A') }, ['a'], {
        $defs: { A: object({ b: to('B') }, [], { required: [] }), B: object({ a: to('A') }, [], { required: [] }) },
      }),
      true,
    ],
    [
      'that are circular without a property',
      object({ l: to('L') }, [], { $defs: { L: { type: 'array', items: to('L') } } }),
      object({ l: to('L') }, [], { $defs: { L: {} } }),
      true,
    ],
    [
      'that are circular within an optional property',
      object({ n: to('N') }, [], { $defs: { N: object({ o: object({ next: to('N') }, ['next']) }) } }),
      object({ n: to('N') }, [], { $defs: { N: object({ o: object({ next: to('N') }, ['next']) }) } }),
    ],
    [
      'as the only one of allOf (Pydantic 1)',
      object({ a: { title: 'x', allOf: [older('A')] } }, ['a'], { definitions: { A: text } }),
      object({ a: { title: 'x', anyOf: [to('A')] } }, ['a'], { $defs: { A: text } }),
    ],
    [
      'by an $id (TypeBox)',
      object({ tree: { $id: 'T0', ...object({ kids: { type: 'array', items: { $ref: 'T0' } } }, ['kids']) } }, [
        'tree',
      ]),
      object({ tree: to('T0') }, ['tree'], {
        $defs: { T0: object({ kids: { type: 'array', items: to('T0') } }, [], { required: [] }) },
      }),
      true,
    ],
    [
      'by the $id of the root',
      {
        $id: 'T',
        ...object({ kids: { type: 'array', items: { $ref: 'T' } }, a: { $ref: 'T#/$defs/A' } }),
        $defs: { A: text },
      },
      object({ kids: { type: 'array', items: { $ref: '#' } }, a: to('A') }, [], { $defs: { A: text } }),
    ],
    [
      'by an $anchor',
      object({ a: { $ref: '#here' } }, ['a'], { $defs: { A: { $anchor: 'here', ...text } } }),
      object({ a: to('here') }, ['a'], { $defs: { here: text } }),
    ],
    [
      'beside properties of such names',
      object({ $id: text, $anchor: to('A') }, [], { $defs: { A: text } }),
      object({ $id: text, $anchor: to('A') }, [], { $defs: { A: text } }),
    ],
    ['to nothing', object({ a: to('No') }), object({ a: to('No') })],
    [
      'that are the name of a property, or data',
      object({ $ref: text, a: { enum: ['x'], default: { $ref: '#/$defs/A' } } }),
      object({ $ref: text, a: { enum: ['x'], default: { $ref: '#/$defs/A' } } }),
    ],
    [
      'by several names, and to what is within something that a reference is to',
      object(
        {
          a: to('A'),
          b: { $ref: '#/%24defs/A' },
          c: { $ref: '#/$defs/A/properties/~0' },
          d: { $ref: '#/$defs/A/properties/~' },
        },
        [],
        {
          $defs: { A: object({ '~': object({ x: text }), y: text }) },
        },
      ),
      object({ a: to('A'), b: { $ref: '#/%24defs/A' }, c: to('_'), d: to('_') }, [], {
        $defs: { A: object({ '~': to('_'), y: text }), _: object({ x: text }) },
      }),
    ],
    [
      'to what is no schema',
      object({ a: { $ref: '#/properties' }, b: { $ref: '#/properties/c/default' }, c: { default: { x: 1 } } }),
      object({ a: { $ref: '#/properties' }, b: { $ref: '#/properties/c/default' }, c: { default: { x: 1 } } }),
    ],
  ])('%s', (_, given, sent, looser = false) => {
    // Without the objects that two places here share.
    const parsed = JSON.parse(JSON.stringify(given)) as Record<string, unknown>
    expect(toSchema(parsed)).toEqual({ schema: sent, looser })
    expect(parsed).toEqual(given)

    const tools = [{ type: 'function', function: { name: 'f', parameters: parsed } }]
    const asTool = ask({ tools }, 'gemini-3.1-pro-preview')
    expect(asTool.notes).toEqual(looser ? [{ field: 'tools', action: 'clamped' }] : [])
    expect(googleRefusal('gemini-3.1-pro-preview', asTool.body)).toBeUndefined()
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: parsed } }
    const asAnswer = ask({ response_format }, 'gemini-2.5-pro')
    expect(asAnswer.body['generationConfig']).toMatchObject({ responseJsonSchema: sent })
    expect(asAnswer.notes).toEqual(looser ? [{ field: 'response_format', action: 'clamped' }] : [])
    expect(googleRefusal('gemini-2.5-pro', asAnswer.body)).toBeUndefined()
  })

  it('threat 104: are to nothing where they have more than 1,000 characters, and are not read', () => {
    const named = (length: number) => {
      const name = 'a'.repeat(length - '#/$defs/'.length)
      return toSchema(object({ a: to(name) }, ['a'], { $defs: { [name]: text } })).schema
    }
    expect(named(1_000)).toHaveProperty('$defs')
    expect(named(1_001)).not.toHaveProperty('$defs')
  })

  it('threat 104: are to nothing where their pointers have more than 50 names', () => {
    const below = (names: number) => {
      const inner = Array.from({ length: names - 1 }).reduce<object>((schema) => ({ not: schema }), text)
      return toSchema({ a: { $ref: `#/b${'/not'.repeat(names - 1)}` }, b: inner }).schema['a']
    }
    expect(below(50)).toEqual({ $ref: '#/$defs/not' })
    expect(below(51)).toEqual({ $ref: `#/b${'/not'.repeat(50)}` })
  })

  it('of thousands of definitions in a row take no stack', () => {
    const size = 3_000
    const $defs = Object.fromEntries(
      Array.from({ length: size }, (_, i) => [`D${i}`, object({ next: to(`D${(i + 1) % size}`) }, ['next'])]),
    )
    expect(toSchema({ ...object({ a: to('D0') }), $defs }).looser).toBe(true)
  })

  it('threat 168: are refused where the schema has more than 10,000 parts; without references it may have any number', () => {
    const parts = (size: number, part: object) => ({
      type: 'object',
      properties: { a: { anyOf: Array.from({ length: size }, () => ({ ...part })) } },
    })
    expect(() => toSchema(parts(10_000, { $ref: '#' }))).toThrow('at most 10000 parts')
    expect(toSchema(parts(9_000, { $ref: '#' })).looser).toBe(false)
    expect(toSchema(parts(20_000, { type: 'string' })).looser).toBe(false)
    // All tools of a request together.
    const count = { found: 0 }
    expect(toSchema(parts(6_000, { $ref: '#' }), count).looser).toBe(false)
    expect(() => toSchema(parts(6_000, { $ref: '#' }), count)).toThrow('at most 10000 parts')
  })

  it('threat 168: are refused where schemas have thousands of keywords, or of names in place of schemas', () => {
    const many = Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`k${i}`, 1]))
    for (const part of [many, { properties: many }])
      expect(() => toSchema(object({ a: part, b: { $ref: '#' } }))).toThrow('at most 10000 parts')
  })

  it('threat 168: cost no more where circles have to be broken on each of many levels', () => {
    const nested = (levels: number) => {
      const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, text]))
      let schema: object = object(properties)
      for (let i = 0; i < levels; i++) schema = object({ p: schema }, ['p'], { not: { $ref: '#' } })
      return { ...object({ p: schema }, ['p']) }
    }
    expectNoSlower(
      () => toSchema(nested(56)),
      () => toSchema(nested(1)),
    )
  })

  it('threat 171: have the name of the shortest of them, so that none becomes longer', () => {
    const $defs = { ['x'.repeat(900)]: { $anchor: 'a', type: 'string' } }
    const { schema } = toSchema({ $defs, anyOf: [{ $ref: `#/$defs/${'x'.repeat(900)}` }, { $ref: '#a' }] })
    expect(schema).toEqual({ $defs: { a: { type: 'string' } }, anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] })
  })
})
