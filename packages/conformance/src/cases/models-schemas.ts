import type { FamilyName } from '../families/family.js'

/** A schema that a vendor does not take as it is. */
interface Unusual {
  of: FamilyName
  what: string
  /** Has a property `city`. */
  schema: object
  source: string
}

const text = { type: 'string' }
const object = (properties: object, required: string[] = ['city'], more: object = {}) => ({
  type: 'object',
  properties: { city: text, ...properties },
  required,
  additionalProperties: false,
  ...more,
})
const many = (count: number, schema: object): object =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, schema]))

const limits = 'Anthropic, structured outputs: schema complexity limits'
const keywords = 'Anthropic, structured outputs: JSON Schema limitations'
const references =
  'Gemini API reference, responseJsonSchema: $defs, $ref without siblings, circular only where not required'

const node = object({ next: { $ref: '#/$defs/node' } })

export const schemas: Unusual[] = [
  { of: 'anthropic', what: '30 optional fields', schema: object(many(30, text)), source: limits },
  {
    of: 'anthropic',
    what: '18 fields of two types',
    schema: object(many(18, { type: ['string', 'null'] }), ['city', ...Object.keys(many(18, text))]),
    source: limits,
  },
  {
    of: 'anthropic',
    what: 'recursion',
    schema: object({ next: { $ref: '#/$defs/node' } }, ['city'], { $defs: { node } }),
    source: keywords,
  },
  {
    of: 'anthropic',
    what: 'prefixItems',
    schema: object({ at: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] } }),
    source: keywords,
  },
  {
    of: 'anthropic',
    what: 'an enum of objects',
    schema: object({ size: { enum: [{ s: 1 }, { s: 2 }] } }),
    source: keywords,
  },
  {
    of: 'anthropic',
    what: 'two items at least',
    schema: object({ names: { type: 'array', items: text, minItems: 2 } }),
    source: keywords,
  },
  {
    of: 'anthropic',
    what: 'allOf with a reference',
    schema: object({ near: { allOf: [{ $ref: '#/$defs/place' }] } }, ['city'], { $defs: { place: object({}) } }),
    source: keywords,
  },
  {
    of: 'google',
    what: 'a described reference',
    schema: object({ near: { $ref: '#/$defs/place', description: 'Near it' } }, ['city'], {
      $defs: { place: object({}) },
    }),
    source: references,
  },
  {
    of: 'google',
    what: 'definitions',
    schema: object({ near: { $ref: '#/definitions/place' } }, ['city'], { definitions: { place: object({}) } }),
    source: references,
  },
  {
    of: 'google',
    what: 'recursion in a required field',
    schema: object({ next: { $ref: '#/$defs/node' } }, ['city'], {
      $defs: { node: object({ next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }, ['city', 'next']) },
    }),
    source: references,
  },
  {
    of: 'google',
    what: 'a reference to itself',
    schema: object({ nested: { type: 'array', items: { $ref: '#' } } }, ['city', 'nested']),
    source: references,
  },
]
