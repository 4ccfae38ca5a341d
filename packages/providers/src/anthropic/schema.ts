type Schema = Record<string, unknown>

/** Keywords that the family does not enforce; they are told to the model in words. Source: wire-formats.md 2.1. */
const unenforced =
  /^(minimum|maximum|exclusiveM(in|ax)imum|multipleOf|(min|max)(Length|Items|Properties)|pattern|uniqueItems|not)$/
const formats = /^(date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (schemas: Schema): Schema =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strictSchema(schema)]))

/**
 * A JSON Schema in the part of the language that the family holds answers to: objects are closed, `oneOf` is `anyOf`,
 * and what it cannot hold to stands in the description, so that nothing is lost on the model.
 */
export function strictSchema(schema: unknown): unknown {
  if (!isSchema(schema)) return schema
  const words: string[] = []
  const entries: [string, unknown][] = []
  for (const [key, value] of Object.entries(schema)) {
    const unknownFormat = key === 'format' && !formats.test(String(value))
    if (unenforced.test(key) || unknownFormat) words.push(`${key}: ${JSON.stringify(value)}`)
    else if (key === 'properties' || key === '$defs' || key === 'definitions')
      entries.push([key, isSchema(value) ? mapValues(value) : value])
    else if (key === 'oneOf' || key === 'anyOf' || key === 'allOf')
      entries.push([key === 'oneOf' ? 'anyOf' : key, Array.isArray(value) ? value.map(strictSchema) : value])
    else if (key === 'items') entries.push([key, strictSchema(value)])
    else if (key !== 'additionalProperties' && key !== 'description') entries.push([key, value])
  }
  if (schema['type'] === 'object' || isSchema(schema['properties'])) entries.push(['additionalProperties', false])
  const description = [schema['description'], ...(words.length > 0 ? [`(${words.join(', ')})`] : [])]
    .filter(Boolean)
    .join(' ')
  if (description) entries.push(['description', description])
  return Object.fromEntries(entries)
}
