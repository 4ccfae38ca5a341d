type Schema = Record<string, unknown>

/** A small value that fits a JSON Schema, the same one each time: what a simulated model calls a tool with. */
export function sampleJson(schema: unknown, name = 'value'): unknown {
  const { type, enum: allowed, const: only, properties, items, anyOf, oneOf, minimum } = (schema ?? {}) as Schema
  if (only !== undefined) return only
  if (Array.isArray(allowed)) return allowed[0]
  const [first] = (anyOf ?? oneOf ?? []) as unknown[]
  if (first !== undefined) return sampleJson(first, name)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return name
    case 'number':
    case 'integer':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return [sampleJson(items, name)]
    default:
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Schema).map(([key, inner]) => [key, sampleJson(inner, key)]),
      )
  }
}
