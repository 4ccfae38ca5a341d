import { isObject } from '@turnpike/core/helpers'

type Schema = Record<string, unknown>

/** A name in a JSON Pointer (RFC 6901). */
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Keywords that the API does not enforce; they move to the description. Source: wire-formats.md 2.1. */
const unenforced = /^((exclusiveM|m)(in|ax)imum|multipleOf|(min|max)(Length|Items|Properties)|pattern|uniqueItems|not)$/
const formats = /^(date-time|time|date|duration|email|hostname|uri|ipv4|ipv6|uuid)$/

/** Keywords whose values are maps of schemas (`named`), and those whose values are a schema or a list of schemas (`nested`). */
const named = /^(properties|\$defs|definitions)$/
const nested = /^(oneOf|anyOf|allOf|items)$/

/** Keywords that leave nothing to enforce without them. */
const inexpressible =
  /^(prefixItems|additionalItems|contains|patternProperties|propertyNames|depend(encies|entSchemas|entRequired)|if|then|else|unevaluated(Items|Properties)|\$(dynamic|recursive)Ref)$/

/** One of these says which values a schema allows. */
const allowing = ['type', 'properties', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf']

/** The properties that are not required, and the schemas that allow several types, which are what the API counts. */
export interface Complexity {
  optional: number
  unions: number
}

/** The most that all enforced schemas of a request may have together. Source: Claude's docs, "Structured outputs", schema complexity limits. */
export const MOST_COMPLEX: Complexity = { optional: 24, unions: 16 }

/** Takes a complexity from what is left. @returns false, and takes nothing, if it is more */
export function takes({ optional, unions }: Complexity, left: Complexity): boolean {
  if (optional > left.optional || unions > left.unions) return false
  left.optional -= optional
  left.unions -= unions
  return true
}

/** An object whose fields can have any name. Closed, it would have no fields. */
const isOpen = ({ type, properties, additionalProperties }: Schema): boolean =>
  isObject(additionalProperties) ||
  ([type].flat().includes('object') && properties === undefined && additionalProperties !== false)

/** The definitions of a schema by their references. */
function definitionsOf(root: Schema): Map<unknown, unknown> {
  const groups = ['$defs', 'definitions'].map((group) => [group, root[group]] as const)
  return new Map(
    groups.flatMap(([group, named]) =>
      Object.entries(isObject(named) ? named : {}).map(([name, schema]) => [`#/${group}/${escaped(name)}`, schema]),
    ),
  )
}

/** A schema with the definition that it is, if it is only a reference, in place of it: tools must have an object as their schema. */
export function withRoot({ $ref, ...rest }: Schema): Schema {
  const root = definitionsOf(rest).get($ref)
  return isObject(root) ? { ...root, ...rest } : { ...rest, ...($ref !== undefined && { $ref }) }
}

/** Whether references go round in a circle. @param uses the references in each definition */
function isRecursive(uses: Map<unknown, Set<unknown>>): boolean {
  const users = new Map<unknown, unknown[]>([...uses.keys()].map((one) => [one, []]))
  for (const [one, used] of uses) for (const other of used) users.get(other)!.push(one)
  // In the order in which each comes after all that it uses. It has no place for a circle.
  const order = [...uses.keys()].filter((one) => uses.get(one)!.size === 0)
  const left = new Map([...uses].map(([one, used]) => [one, used.size]))
  for (const one of order)
    for (const user of users.get(one)!) {
      left.set(user, left.get(user)! - 1)
      if (left.get(user) === 0) order.push(user)
    }
  return order.length < uses.size
}

/**
 * The complexity of a schema; undefined if the API cannot enforce it: where it is {@link MOST_COMPLEX | too complex}, is recursive or refers to anything but its definitions, allows any value,
 * objects with fields of any name, or objects and lists as values of an enum, or has an {@link inexpressible} keyword. Source: Claude's docs, "Structured outputs", JSON Schema limitations.
 */
export function complexityOf(root: unknown): Complexity | undefined {
  const total: Complexity = { optional: 0, unions: 0 }
  const definitions = definitionsOf(isObject(root) ? root : {})

  /** @param references receives those in the schema */
  const isHeld = (schema: unknown, references: Set<unknown>): boolean => {
    if (!isObject(schema) || isOpen(schema) || !allowing.some((key) => key in schema)) return false
    const { type, properties, required, enum: values = [], const: value } = schema
    if (isObject(properties)) {
      const names = new Set(Array.isArray(required) ? (required as unknown[]) : [])
      for (const name in properties) if (!names.has(name) && ++total.optional > MOST_COMPLEX.optional) return false
    }
    if (schema['anyOf'] || schema['oneOf'] || (Array.isArray(type) && type.length > 1)) total.unions++
    if ([...[values].flat(), value].some((one) => typeof one === 'object' && one !== null)) return false
    return Object.entries(schema).every(([key, inner]) => {
      if (inexpressible.test(key)) return false
      if (key === '$ref') return definitions.has(inner) && Boolean(references.add(inner))
      if (key === '$defs' || key === 'definitions') return schema === root
      if (key === 'properties') return isObject(inner) && Object.values(inner).every((one) => isHeld(one, references))
      if (key === 'items') return isHeld(inner, references)
      if (!nested.test(key)) return true
      return (
        Array.isArray(inner) && inner.every((one) => isHeld(one, references) && !(key === 'allOf' && '$ref' in one))
      )
    })
  }

  const uses = new Map([...definitions.keys()].map((one) => [one, new Set<unknown>()]))
  const held = isHeld(root, new Set()) && [...definitions].every(([one, schema]) => isHeld(schema, uses.get(one)!))
  return held && !isRecursive(uses) ? total : undefined
}

/**
 * Reduces a JSON Schema that has a {@link complexityOf} to the subset that the API enforces: objects are closed, `oneOf` becomes `anyOf`, and unsupported keywords
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
    const isKept = key === 'minItems' && (value === 0 || value === 1)
    if ((unenforced.test(key) && !isKept) || (key === 'format' && !formats.test(String(value)))) describe(key, value)
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
