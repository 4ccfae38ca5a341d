import { describe, expect, it } from 'vitest'
import { askedJson, sampleJson } from './sample-json.js'

const tree = {
  $ref: '#/$defs/Node',
  $defs: {
    Node: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { type: 'array', items: { $ref: '#/$defs/Node' } },
        parent: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] },
        twin: { $ref: '#/$defs/Node' },
      },
      required: ['name'],
    },
  },
}

describe('a sample of a JSON Schema', () => {
  it.each<[schema: object | undefined, sample: unknown]>([
    [undefined, {}],
    [
      { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
      { city: 'city', days: 1 },
    ],
    [{ type: ['string', 'null'] }, 'value'],
    [{ type: 'string', format: 'uuid' }, '01234567-89ab-4def-8123-456789abcdef'],
    [{ type: 'string', format: 'email' }, 'name@example.com'],
    [{ type: 'string', format: 'of-our-own' }, 'value'],
    [{ type: 'string', minLength: 7 }, 'valuexx'],
    [{ type: 'string', maxLength: 2 }, 'va'],
    [{ type: 'number', minimum: 5 }, 5],
    [{ type: 'number', exclusiveMinimum: 5 }, 6],
    [{ type: 'number', maximum: 0 }, 0],
    [{ type: 'integer', minimum: -9, exclusiveMaximum: 1 }, 0],
    [{ type: 'integer', minimum: -9, maximum: 9 }, 1],
    [{ type: 'boolean' }, true],
    [{ const: null }, null],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
    [{ type: 'array' }, [{}]],
    [
      {
        allOf: [
          { type: 'object', properties: { a: { const: 1 } } },
          { type: 'object', properties: { b: { const: 2 } } },
        ],
      },
      { a: 1, b: 2 },
    ],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [tree, { name: 'name', children: [], parent: null }],
  ])('%j: %j', (schema, sample) => expect(sampleJson(schema)).toEqual(sample))

  it('terminates for any schema', () => {
    const chain = Array.from({ length: 40 }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, { type: 'object', properties: { a: next, b: next } }]
    })
    const schema = { $ref: '#/$defs/d0', $defs: Object.fromEntries(chain) as object }
    expect(sampleJson(schema)).toHaveProperty('a.a.a.a')
    const most = { type: 'array', minItems: 1e12, items: { type: 'string', minLength: 1e12 } }
    expect(JSON.stringify(sampleJson(most)).length).toBeLessThan(2e7)
  })

  it('is used where the prompt asks for JSON', () => {
    const schema = JSON.stringify({ type: 'object', properties: { n: { type: 'integer' } } })
    expect(askedJson(['Be brief.', 'Answer with a JSON object and nothing else.'])).toBe('{"simulated":true}')
    expect(askedJson([`Answer with JSON. It must match this JSON Schema: ${schema}`])).toBe('{"n":1}')
    expect(askedJson(['Be brief.', 'What is JSON?'])).toBeUndefined()
  })
})
