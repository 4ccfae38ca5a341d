import { isObject } from '@turnpike/core/internal'

type Schema = Record<string, unknown>

/** Keywords that the API does not enforce; they move to the description. Source: wire-formats.md 2.1. */
const unenforced = /^((exclusiveM|m)(in|ax)imum|multipleOf|(min|max)(Length|Items|Properties)|pattern|uniqueItems|not)$/
const formats = /^(date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/

/** Keywords whose values are maps of schemas (`named`), and those whose values are a schema or a list of schemas (`nested`). */
const named = /^(properties|\$defs|definitions)$/
const nested = /^(oneOf|anyOf|allOf|items)$/

/** Whether a schema has an object whose fields can have any name. Such a schema cannot be enforced: closed, the object would have no fields. */
export function isOpen(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isOpen)
  if (!isObject(schema)) return false
  const { type, properties, additionalProperties, patternProperties } = schema
  if (isObject(additionalProperties) || isObject(patternProperties)) return true
  if ([type].flat().includes('object') && properties === undefined && additionalProperties !== false) return true
  return Object.entries(schema).some(([key, value]) =>
    named.test(key) && isObject(value) ? Object.values(value).some(isOpen) : nested.test(key) && isOpen(value),
  )
}

/**
 * Reduces a JSON Schema that is not {@link isOpen} to the subset that the API enforces: objects are closed, `oneOf` becomes `anyOf`, and unsupported keywords
 * are appended to the description, so that the model still sees them.
 */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictSchema)
  if (!isObject(schema)) return schema
  const { description, additionalProperties: _, ...rest } = schema
  const words: string[] = []
  const made: Schema = {}
  const describe = (key: string, value: unknown): void => void words.push(`${key}: ${JSON.stringify(value)}`)
  for (const [key, value] of Object.entries(rest)) {
    if (unenforced.test(key) || (key === 'format' && !formats.test(String(value)))) describe(key, value)
    else if (named.test(key) && isObject(value))
      made[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strictSchema(inner)]))
    else made[key === 'oneOf' ? 'anyOf' : key] = nested.test(key) ? strictSchema(value) : value
  }
  if ([rest['type']].flat().includes('object') || isObject(rest['properties'])) made['additionalProperties'] = false
  if (words.length > 0)
    made['description'] = `${(description as string | undefined) ?? ''} (${words.join(', ')})`.trim()
  else if (description) made['description'] = description
  return made
}
