import { extend, isObject } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'

type Schema = Record<string, unknown>

/** Keywords whose value has a schema by name. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])
/** Keywords whose value is data. */
const data = new Set(['enum', 'const', 'default', 'examples', 'example', 'required'])

const mapped = (object: Schema, change: (value: unknown, name: string) => unknown): Schema =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]))

/** Replaces the schemas directly within a schema. @param change receives the name of a property of the schema, else undefined */
const replaced = (schema: Schema, change: (inner: Schema, property: string | undefined) => unknown): Schema =>
  mapped(schema, (value, keyword) => {
    const one = (inner: unknown, property?: string): unknown => (isObject(inner) ? change(inner, property) : inner)
    if (data.has(keyword)) return value
    if (Array.isArray(value)) return value.map((inner) => one(inner))
    if (maps.has(keyword) && isObject(value))
      return mapped(value, (inner, name) => one(inner, keyword === 'properties' ? name : undefined))
    return one(value)
  })

const refOf = ({ $ref }: Schema): string | undefined => (typeof $ref === 'string' ? $ref : undefined)

/** Whether a value may have a reference. Most schemas have none, and are sent as they are. */
const mentionsRef = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(mentionsRef)
    : isObject(value) && ('$ref' in value || Object.values(value).some(mentionsRef))

const PREFIX = '#/$defs/'

/** A reference to the root, and its name among the definitions. */
const ROOT = '#'

/** The name of the definition that a reference is to, once these are in `$defs`. */
function targetOf(schema: Schema): string | undefined {
  const ref = refOf(schema)
  if (ref === ROOT) return ROOT
  return ref?.startsWith(PREFIX) ? ref.slice(PREFIX.length) : undefined
}

/** Longest reference to something, in characters. */
const LONGEST_REFERENCE = 1_000

/** Most names of a JSON pointer. `items` and `properties` are names, too, so that this is a property twenty levels down. */
const POINTER_NAMES = 50

const unescaped = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** What a JSON pointer within a document refers to (RFC 6901); undefined if there is no such schema, or if it has more than `POINTER_NAMES`. */
function resolve(root: Schema, ref: string): Schema | undefined {
  const names = ref.split('/', POINTER_NAMES + 2).slice(1)
  if (names.length > POINTER_NAMES) return undefined
  let target: unknown = root
  for (const name of names.map(unescaped)) {
    if (typeof target !== 'object' || !target || !Object.hasOwn(target, name)) return undefined
    target = (target as Schema)[name]
  }
  return isObject(target) ? target : undefined
}

/** Removes, as often as it can, the nodes without an edge to another one that is left. */
function trim(nodes: Set<string>, edges: Map<string, Set<string>>): void {
  const back = new Map<string, string[]>()
  const left = new Map<string, number>()
  for (const node of nodes) {
    const targets = [...(edges.get(node) ?? [])].filter((target) => nodes.has(target))
    left.set(node, targets.length)
    for (const target of targets) {
      const sources = back.get(target)
      if (sources) sources.push(node)
      else back.set(target, [node])
    }
  }
  const bare = [...nodes].filter((node) => left.get(node) === 0)
  for (const node of bare) {
    nodes.delete(node)
    for (const source of back.get(node) ?? []) {
      left.set(source, left.get(source)! - 1)
      if (left.get(source) === 0) bare.push(source)
    }
  }
}

/** The definitions that are in circles of references, or between two circles. */
function circles(defs: Map<string, Schema>): Set<string> {
  const there = new Map<string, Set<string>>()
  const back = new Map<string, Set<string>>([...defs.keys()].map((name) => [name, new Set()]))
  const collect = (schema: Schema, from: string): void => {
    const name = targetOf(schema)
    if (name !== undefined) {
      there.get(from)!.add(name)
      back.get(name)?.add(from)
    }
    replaced(schema, (inner) => collect(inner, from))
  }
  for (const [name, schema] of defs) {
    there.set(name, new Set())
    collect(schema, name)
  }
  const nodes = new Set(defs.keys())
  trim(nodes, there)
  trim(nodes, back)
  return nodes
}

/**
 * Most schemas within those that have references, of all tools of a request, and of its format: twice the properties that OpenAI takes, whose structured outputs are the largest that vendors
 * allow.
 */
const MOST_SCHEMAS = 10_000

/** Keywords that a schema has for nothing; each further one counts as a schema. */
const KEYWORDS = 8

/** How many schemas were found so far. */
export interface SchemaCount {
  found: number
}

/** How many schemas one counts as, without those within it: by its keywords, and by what stands in place of schemas. */
function countOf(schema: Schema): number {
  const named = Object.entries(schema).flatMap(([keyword, value]) =>
    maps.has(keyword) && isObject(value) ? Object.values(value).filter((inner) => !isObject(inner)) : [],
  )
  return 1 + Math.max(0, Object.keys(schema).length - KEYWORDS) + named.length
}

/** @throws ApiError 400 beyond {@link MOST_SCHEMAS} */
function addFound(count: SchemaCount, schemas: number): void {
  if ((count.found += schemas) > MOST_SCHEMAS)
    throw unsupported(`Gemini is sent schemas with references of at most ${MOST_SCHEMAS} parts`)
}

/** All schemas within one, itself first, and those that `$id` and `$anchor` name, by the references to them. */
function schemasOf(root: Schema, count: SchemaCount): { all: Set<Schema>; identified: Map<string, Schema> } {
  const all = new Set<Schema>()
  const identified = new Map<string, Schema>()
  const collect = (schema: Schema): void => {
    all.add(schema)
    addFound(count, countOf(schema))
    const { $id, $anchor } = schema
    if (typeof $id === 'string') identified.set($id, schema)
    if (typeof $anchor === 'string') identified.set(`#${$anchor}`, schema)
    replaced(schema, collect)
  }
  collect(root)
  return { all, identified }
}

/** A schema without definitions of its own. */
function bare(schema: Schema): Schema {
  const { $defs: _, definitions: __, ...own } = schema
  return own
}

/**
 * The root with its references to `$defs`, and these, which have no definitions of their own. What a reference is to is there alone, also where it
 * stood within another schema, so that the result is not larger than what was given. What no reference is to has no effect, and is left out.
 */
function definitionsOf(root: Schema, count: SchemaCount): { top: Schema; defs: Map<string, Schema> } {
  const { all, identified } = schemasOf(root, count)
  /** What references are to, and the shortest one, so that the others do not become longer. */
  const shortest = new Map<Schema, string>()
  const names = new Map<Schema, string>()
  const taken = new Set<string>()
  /** The last number that was tried behind a name. */
  const numbers = new Map<string, number>()
  const base = typeof root['$id'] === 'string' ? root['$id'].replace(/#$/, '') : ''

  /** What a reference is to; undefined for one that is to another document or to nothing, or too long. */
  const find = (given: string): { ref: string; target: Schema } | undefined => {
    if (given.length > LONGEST_REFERENCE) return undefined
    const ref = base !== '' && given.startsWith(`${base}#`) ? given.slice(base.length) : given
    if (ref === ROOT || ref === base) return { ref, target: root }
    const target = ref.startsWith('#/') ? resolve(root, ref) : identified.get(ref)
    return target && all.has(target) ? { ref, target } : undefined
  }
  const aims = new Map<string, ReturnType<typeof find>>()
  /** What the reference of a schema is to. Each text is looked up once. */
  const aimOf = (schema: Schema): ReturnType<typeof find> => {
    const given = refOf(schema)
    if (given === undefined) return undefined
    if (!aims.has(given)) aims.set(given, find(given))
    return aims.get(given)
  }
  const addName = (target: Schema, ref: string): void => {
    const last = ref.slice(Math.max(ref.lastIndexOf('/'), ref.lastIndexOf('#')) + 1)
    const plain = unescaped(last).replace(/[^\w.-]/g, '_')
    let name = plain
    let number = numbers.get(plain) ?? 0
    while (taken.has(name)) name = `${plain}_${++number}`
    numbers.set(plain, number)
    taken.add(name)
    names.set(target, name)
  }
  const seen = new Set<Schema>()
  const collect = (schema: Schema): void => {
    if (seen.has(schema)) return
    seen.add(schema)
    const aim = aimOf(schema)
    if (aim && aim.target !== root && aim.ref.length < (shortest.get(aim.target)?.length ?? Infinity))
      shortest.set(aim.target, aim.ref)
    replaced(bare(schema), collect)
  }
  collect(root)
  // Further ones are added while these are read.
  for (const target of shortest.keys()) collect(target)
  for (const [target, ref] of shortest) addName(target, ref)

  const renamed = (schema: Schema): Schema => {
    // `$id` and `$anchor` have no effect where nothing refers to them.
    const {
      $id: _,
      $anchor: __,
      ...inner
    } = replaced(bare(schema), (within) => {
      const name = names.get(within)
      return name === undefined ? renamed(within) : { $ref: PREFIX + name }
    })
    const aim = aimOf(schema)
    if (!aim) return inner
    return { ...inner, $ref: aim.target === root ? ROOT : PREFIX + names.get(aim.target)! }
  }

  let top = renamed(root)
  const defs = new Map([...names].map(([target, name]) => [name, renamed(target)]))
  // A reference at the root, beside which there are other keywords, and those that its target begins with. All are joined at once, the nearest last.
  const chain = new Set<Schema>()
  for (let link: Schema | undefined = top; link && !chain.has(link); link = defs.get(targetOf(link) ?? ''))
    chain.add(link)
  const [last, ...nearer] = [...chain].toReversed()
  // Without a prototype, because JSON can have a key `__proto__`.
  const joined = Object.assign(Object.create(null) as Schema, last)
  for (const { $ref: _, ...own } of nearer) Object.assign(joined, own)
  top = extend(joined, {})
  return { top, defs }
}

/** A schema as Gemini takes it, and whether it allows more than the given one. */
interface Converted {
  schema: Schema
  looser: boolean
}

/** What was converted, with its schemas: a request is translated for each of its targets, and before it is held. */
const converted = new WeakMap<Schema, { result: Converted; found: number }>()

/**
 * Converts a JSON Schema to what Gemini takes of references: definitions are in `$defs`; `$ref` has no siblings but those with `$`; and what
 * refers to itself is not required (Google's reference of `responseJsonSchema`, November 2026).
 * @param count of the schemas of all that is sent together; default of this one
 */
export function toSchema(root: Schema, count: SchemaCount = { found: 0 }): Converted {
  if (!mentionsRef(root)) return { schema: root, looser: false }
  const known = converted.get(root)
  if (known) {
    addFound(count, known.found)
    return known.result
  }
  const before = count.found
  const { top, defs } = definitionsOf(root, count)
  const circular = circles(new Map([...defs, [ROOT, top]]))
  let looser = false
  /** What was made to fit, by whether it is optional: each is done once, however many properties around it have to be left out. */
  const done = [new Map<Schema, Schema | undefined>(), new Map<Schema, Schema | undefined>()]

  /**
   * Makes a schema fit.
   * @param inCircle whether it is of a definition that is in a circle
   * @param optional whether it is within a property that is not required
   * @returns the schema; undefined for a reference that is a part of a circle, and within no such property
   */
  const fitted = (schema: Schema, inCircle: boolean, optional: boolean): Schema | undefined => {
    const known = done[Number(optional)]!
    if (!known.has(schema)) known.set(schema, fit(schema, inCircle, optional))
    return known.get(schema)
  }

  const fit = (schema: Schema, inCircle: boolean, optional: boolean): Schema | undefined => {
    const name = targetOf(schema)
    if (name !== undefined) {
      if (inCircle && !optional && circular.has(name)) return undefined
      const siblings = Object.entries(schema).filter(([keyword]) => !keyword.startsWith('$'))
      return siblings.length === 0 ? schema : Object.fromEntries([...siblings, ['anyOf', [{ $ref: refOf(schema) }]]])
    }
    const { allOf, anyOf, ...rest } = schema
    // As pydantic 1 writes a reference with siblings. Gemini has no `allOf`.
    if (Array.isArray(allOf) && allOf.length === 1 && anyOf === undefined)
      return fitted({ ...rest, anyOf: allOf }, inCircle, optional)
    const given = schema['required']
    const required = new Set<unknown>(Array.isArray(given) ? given : [])
    let broken = false
    const inner = replaced(schema, (part, property) => {
      const fits = fitted(part, inCircle, optional || (property !== undefined && !required.has(property)))
      if (fits) return fits
      if (property === undefined) {
        broken = true
        return part
      }
      looser = true
      required.delete(property)
      return fitted(part, inCircle, true)
    })
    if (broken) return undefined
    return Array.isArray(given) && required.size < given.length ? extend(inner, { required: [...required] }) : inner
  }

  /** In a circle without a property to leave out, a definition allows everything. */
  const defined = (schema: Schema, name: string): Schema => {
    const fits = fitted(schema, circular.has(name), false)
    looser ||= !fits
    return fits ?? {}
  }
  const schema = defined(top, ROOT)
  const $defs = Object.fromEntries([...defs].map(([name, one]) => [name, defined(one, name)]))
  const result = { schema: defs.size > 0 ? extend(schema, { $defs }) : schema, looser }
  converted.set(root, { result, found: count.found - before })
  return result
}
