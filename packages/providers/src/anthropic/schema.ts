type Schema = Record<string, unknown>

/** Keywords that the family does not enforce; they are told to the model in words. Source: wire-formats.md 2.1. */
const unenforced = /^((exclusiveM|m)(in|ax)imum|multipleOf|(min|max)(Length|Items|Properties)|pattern|uniqueItems|not)$/
const formats = /^(date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keywords whose values are schemas by name, and those whose values are schemas or lists of them. */
const named = /^(properties|\$defs|definitions)$/
const nested = /^(oneOf|anyOf|allOf|items)$/

/**
 * A JSON Schema in the part of the language that the family holds answers to: objects are closed, `oneOf` is `anyOf`,
 * and what it cannot hold to stands in the description, so that nothing is lost on the model.
 */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictSchema)
  if (!isSchema(schema)) return schema
  const { description, additionalProperties, ...rest } = schema
  const words: string[] = []
  const made: Schema = {}
  const say = (key: string, value: unknown): void => void words.push(`${key}: ${JSON.stringify(value)}`)
  for (const [key, value] of Object.entries(rest)) {
    if (unenforced.test(key) || (key === 'format' && !formats.test(String(value)))) say(key, value)
    else if (named.test(key) && isSchema(value))
      made[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strictSchema(inner)]))
    else made[key === 'oneOf' ? 'anyOf' : key] = nested.test(key) ? strictSchema(value) : value
  }
  if (isSchema(additionalProperties)) say('additionalProperties', additionalProperties)
  if ([rest['type']].flat().includes('object') || isSchema(rest['properties'])) made['additionalProperties'] = false
  if (words.length > 0)
    made['description'] = `${(description as string | undefined) ?? ''} (${words.join(', ')})`.trim()
  else if (description) made['description'] = description
  return made
}
