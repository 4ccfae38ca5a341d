/** Values of a JSON Schema as fast-check arbitraries, and what is wrong with a value on its way. */
import * as fc from 'fast-check'

export type Schema = { readonly [key: string]: unknown }

/** The value of somebody's own that a request names: an id, an e-mail, a model. It is looked up when the request is sent. */
export class Known {
  constructor(
    readonly name: string,
    readonly pick: number,
  ) {}
}

/** JSON as it is written, such as a number that JavaScript has not. */
class Raw {
  constructor(readonly text: string) {}
}

/** The file of a form. */
export class Binary {
  constructor(readonly bytes: Uint8Array) {}
}

export const known = (name: string): fc.Arbitrary<Known> => fc.nat(20).map((pick) => new Known(name, pick))

const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
)

/** What strings with a pattern may be where fast-check does not know how to make one. */
const makers = [fc.stringMatching(/^[a-z]{2}$/), fc.stringMatching(/^\w{1,20}$/), fc.emailAddress(), fc.uuid(), text]

function matching(pattern: string): fc.Arbitrary<string> {
  const matches = new RegExp(pattern, 'u')
  const fits = (value: string): boolean => matches.test(value)
  try {
    const made = fc.stringMatching(matches, { maxLength: 100 }).filter(fits)
    if (fc.sample(made, 1).length === 1) return made
  } catch {
    // It has what `stringMatching` does not support.
  }
  return makers.find((maker) => fc.sample(maker, { numRuns: 20, seed: 1 }).every(fits)) ?? text
}

const formats: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  'date-time': fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((it) => it.toISOString()),
}

function stringOf({
  format,
  pattern,
  minLength = 0,
  maxLength = 200,
  contentMediaType,
}: Schema): fc.Arbitrary<unknown> {
  if (contentMediaType !== undefined || format === 'binary')
    return fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => new Binary(bytes))
  if (typeof pattern === 'string')
    return matching(pattern).filter(({ length }) => length >= (minLength as number) && length <= (maxLength as number))
  if (typeof format === 'string' && formats[format]) return formats[format]
  const [least, most] = [minLength as number, maxLength as number]
  const short = text.filter(({ length }) => length >= least && length <= most)
  return fc.oneof(
    { weight: 20, arbitrary: short },
    { weight: 1, arbitrary: fc.constant('x'.repeat(Math.min(most, 20_000))) },
  )
}

/** The arbitraries of a document. */
export function valuesOf(
  document: { components: { schemas: Record<string, unknown> } },
  isKnown: (name: string) => boolean,
) {
  const objectOf = ({ properties = {}, required = [] }: Schema, depth: number): fc.Arbitrary<unknown> => {
    const fields = Object.entries(properties as Record<string, Schema>).map(
      ([name, schema]): [string, fc.Arbitrary<unknown>] => {
        const value = valueOf(schema, depth)
        return [
          name,
          isKnown(name) ? fc.oneof({ weight: 4, arbitrary: known(name) }, { weight: 1, arbitrary: value }) : value,
        ]
      },
    )
    if (fields.length === 0)
      return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 2 }), {
        maxKeys: 4,
        noNullPrototype: true,
      })
    const optional = fields.map(([name]) => name).filter((name) => !(required as string[]).includes(name))
    const few = fc.subarray(optional, { maxLength: Math.min(optional.length, 2) })
    return fc
      .tuple(
        fc.record(Object.fromEntries(fields), { noNullPrototype: true }),
        fc.oneof({ weight: 3, arbitrary: few }, { weight: 1, arbitrary: fc.subarray(optional) }),
      )
      .map(([all, chosen]) =>
        Object.fromEntries(
          Object.entries(all).filter(([name]) => (required as string[]).includes(name) || chosen.includes(name)),
        ),
      )
  }

  /** The values of a schema; null where it is nested too deeply. */
  const valueOf = (schema: Schema, depth = 0): fc.Arbitrary<unknown> => {
    const { $ref, type, anyOf, oneOf, items = {} } = schema
    if (depth > 30) return fc.constant(null)
    if (typeof $ref === 'string')
      return valueOf(document.components.schemas[$ref.split('/').pop()!] as Schema, depth + 1)
    if ('const' in schema) return fc.constant(schema['const'])
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
    const ways = (anyOf ?? oneOf) as Schema[] | undefined
    if (ways)
      return fc.oneof(
        ...ways.map((way) => ({ weight: way['type'] === 'null' ? 1 : 4, arbitrary: valueOf(way, depth + 1) })),
      )
    const {
      minimum = -(2 ** 40),
      maximum = 2 ** 40,
      minItems = 0,
      maxItems = Infinity,
    } = schema as Record<string, number>
    if (type === 'null') return fc.constant(null)
    if (type === 'boolean') return fc.boolean()
    // Beyond what JavaScript counts, fast-check does not end.
    if (type === 'integer')
      return fc.integer({
        min: Math.max(minimum, Number.MIN_SAFE_INTEGER),
        max: Math.min(maximum, Number.MAX_SAFE_INTEGER),
      })
    if (type === 'number') return fc.double({ min: minimum, max: maximum, noNaN: true })
    if (type === 'string') return stringOf(schema)
    if (type === 'array')
      return fc.array(valueOf(items as Schema, depth + 1), {
        minLength: minItems,
        maxLength: Math.min(maxItems, minItems + 3),
      })
    return type === 'object' ? objectOf(schema, depth + 1) : fc.jsonValue({ maxDepth: 2 })
  }
  return valueOf
}

/** JSON that seldom fits. */
const junk = fc.oneof(
  fc
    .constantFrom(
      'null',
      'true',
      '0',
      '-1',
      '-0',
      '1e400',
      '1e308',
      '9007199254740993',
      '0.1',
      '""',
      '"\\u0000"',
      '[]',
      '{}',
    )
    .map((it) => new Raw(it)),
  fc
    .constantFrom(
      '"\\ud800"',
      '"\\udc00x"',
      '"\u2028"',
      '"__proto__"',
      '{"__proto__":{"role":"admin"}}',
      '{"toString":1}',
      '[[]]',
      'NaN',
    )
    .map((it) => new Raw(it)),
  fc.integer({ min: 1, max: 400 }).map((depth) => new Raw('['.repeat(depth) + ']'.repeat(depth))),
  fc.constantFrom(1, 300, 70_000).map((length) => 'x'.repeat(length)),
  fc.jsonValue({ maxDepth: 3 }),
)

/** A change of a value: at which of its places, and what is put there. */
export interface Change {
  kind: 'replace' | 'remove' | 'add'
  at: number
  key: string
  value: unknown
}

export const change: fc.Arbitrary<Change> = fc.record(
  {
    kind: fc.constantFrom('replace', 'remove', 'add'),
    at: fc.nat(200),
    key: fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'toString', 'id', 'role', ''),
      fc.string({ maxLength: 8 }),
    ),
    value: junk,
  },
  { noNullPrototype: true },
)

const isBranch = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && ![Known, Raw, Binary].some((kind) => value instanceof kind)

/** A copy whose objects have what inherited setters would swallow. */
const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy)
  return isBranch(value) ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copy(part)])) : value
}

/** All places in a value: the object or array, and the key. */
const placesOf = (branch: Record<string, unknown>): [Record<string, unknown>, string][] =>
  Object.entries(branch).flatMap(([key, part]) => [
    [branch, key] as [typeof branch, string],
    ...(isBranch(part) ? placesOf(part) : []),
  ])

const put = (branch: object, key: string, value: unknown): void =>
  void Object.defineProperty(branch, key, { value, enumerable: true, configurable: true, writable: true })

/** The value with changes. */
export function changed(value: unknown, changes: Change[]): unknown {
  const root: Record<string, unknown> = { root: copy(value) }
  for (const { kind, at, key, value } of changes) {
    const places = placesOf(root)
    const [branch, name] = places[at % places.length] ?? [root, 'root']
    if (kind === 'replace') put(branch, name, value)
    else if (kind === 'remove') delete branch[name]
    else if (isBranch(branch[name])) put(branch[name], key, value)
  }
  return root['root']
}

/** The JSON of a value. @param lookUp what stands for a {@link Known} */
export const jsonOf = (value: unknown, lookUp: (known: Known) => unknown): string => {
  const written = JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Known) return lookUp(part)
    if (part instanceof Binary) return Buffer.from(part.bytes).toString('base64')
    return part instanceof Raw ? `\u0001${Buffer.from(part.text).toString('base64')}` : part
  })
  // `undefined`, where all of the value was removed.
  return (written ?? '').replace(/"\\u0001([\w+/=]*)"/g, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString(),
  )
}
