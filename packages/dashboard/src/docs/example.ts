import type { Api, Operation, Schema } from './document.js'
import { resolve } from './document.js'

const texts: Record<string, string> = {
  uuid: '01900000-0000-7000-8000-000000000000',
  'date-time': '2026-01-01T00:00:00.000Z',
  uri: 'https://example.org/',
  email: 'ada@example.org',
}

/** A value that a schema allows, with the required fields only; a recursive schema ends after `depth` levels. */
function sample(api: Api, given: Schema, depth = 4): unknown {
  const schema = resolve(api, given)
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first) return sample(api, first, depth)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'string') return texts[schema.format ?? ''] ?? 'text'
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return false
  if (type === 'array') return schema.items && depth > 0 ? [sample(api, schema.items, depth - 1)] : []
  if (type !== 'object' || depth === 0) return type === 'object' ? {} : null
  const { properties = {}, required = [] } = schema
  return Object.fromEntries(required.map((name) => [name, sample(api, properties[name] ?? {}, depth - 1)]))
}

/** The body of an operation. */
export interface Body {
  mediaType: string
  schema: Schema
  /** That of the document, or one made from the schema. */
  example: unknown
}

/** The body of an operation; undefined where it has none. */
export function bodyOf({ api, requestBody }: Operation): Body | undefined {
  const [found] = Object.entries(requestBody?.content ?? {})
  if (!found) return undefined
  const [mediaType, { schema = {}, example }] = found
  return { mediaType, schema, example: example ?? sample(api, schema) }
}

/** Whether a field of a form is a file. */
export const isFile = ({ contentMediaType }: Schema): boolean => contentMediaType !== undefined
