import type { Json } from '../families/family.js'
import { city } from './define.js'

/** A schema of what most tools have. */
export const forecast = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Name of the city' },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    days: { type: 'array', items: { type: 'integer' } },
    place: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
  },
  required: ['city', 'unit'],
  additionalProperties: false,
}

/** A schema with references, each to {@link city}. */
export const withReference = {
  type: 'object',
  properties: { from: { $ref: '#/$defs/place' }, to: { $ref: '#/$defs/place' } },
  required: ['from', 'to'],
  $defs: { place: city },
}

/** A schema as generators make it of optional fields. */
export const withAlternatives = {
  type: 'object',
  properties: {
    query: { type: 'string', default: '' },
    limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    by: { type: ['string', 'null'] },
  },
  required: ['query'],
}

/** What a model must learn from a JSON Schema: the dialect of the vendor, such as types in capitals or references, does not matter. */
export interface Meaning {
  type?: string
  description?: string
  enum?: unknown[]
  required?: string[]
  items?: Meaning
  properties?: Record<string, Meaning>
}

/** Reads the meaning of a schema; references into `root` are resolved. */
export function meaningOf(schema: unknown, root: unknown = schema): Meaning {
  const { $ref, type, description, enum: allowed, required, items, properties } = (schema ?? {}) as Json
  if (typeof $ref === 'string') {
    const path = $ref.split('/').slice(1)
    return meaningOf(
      path.reduce((at: unknown, name) => (at as Json | undefined)?.[name], root),
      root,
    )
  }
  return {
    ...(typeof type === 'string' && { type: type.toLowerCase() }),
    ...(typeof description === 'string' && { description }),
    ...(Array.isArray(allowed) && { enum: allowed }),
    ...(Array.isArray(required) && required.length > 0 && { required: required as string[] }),
    ...(items !== undefined && { items: meaningOf(items, root) }),
    ...(typeof properties === 'object' && {
      properties: Object.fromEntries(
        Object.entries(properties as Json).map(([name, inner]) => [name, meaningOf(inner, root)]),
      ),
    }),
  }
}
