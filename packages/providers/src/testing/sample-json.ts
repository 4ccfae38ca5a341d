import { parseJson } from '../json.js'

type Schema = Record<string, unknown>

/** Strings of the formats that clients check. */
const formatted: Record<string, string> = {
  date: '2026-01-31',
  time: '12:00:00Z',
  'date-time': '2026-01-31T12:00:00Z',
  duration: 'PT1M',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '01234567-89ab-4def-8123-456789abcdef',
}

function sampleString({ format, minLength = 0, maxLength = Infinity }: Schema, name: string): string {
  const text = formatted[format as string] ?? name
  return text.padEnd(minLength as number, 'x').slice(0, maxLength as number)
}

/** 1, or what is nearest to it within the limits. */
function sampleNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): number {
  const limit = (inclusive: unknown, exclusive: unknown, inwards: number, none: number): number => {
    if (typeof inclusive === 'number') return inclusive
    return typeof exclusive === 'number' ? exclusive + inwards : none
  }
  const least = limit(minimum, exclusiveMinimum, 1, -Infinity)
  return Math.max(least, Math.min(1, limit(maximum, exclusiveMaximum, -1, Infinity)))
}

/**
 * A small value that fits a JSON Schema, the same one each time: what a simulated model calls a tool with, and answers.
 * Undefined where it would be without end: the schema is within itself by a `$ref` that is being `followed`.
 */
export function sampleJson(schema: unknown, name = 'value', root = schema, followed: unknown[] = []): unknown {
  const given = (schema ?? {}) as Schema
  const inner = (part: unknown, key = name): unknown => sampleJson(part, key, root, followed)
  const { $ref, type, const: only, enum: allowed, allOf, properties, items, minItems = 1 } = given
  if (typeof $ref === 'string') {
    if (followed.includes($ref)) return undefined
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((part, key) => (part as Schema | undefined)?.[key], root)
    return sampleJson(target, name, root, [...followed, $ref])
  }
  if (only !== undefined) return only
  if (Array.isArray(allowed)) return allowed[0]
  const options = given['anyOf'] ?? given['oneOf']
  if (Array.isArray(options)) return options.map((option) => inner(option)).find((value) => value !== undefined)
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map((part) => inner(part)))
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return sampleString(given, name)
    case 'number':
    case 'integer':
      return sampleNumber(given)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array': {
      const item = inner(items)
      return item === undefined ? [] : Array<unknown>(Math.max(1, minItems as number)).fill(item)
    }
    default: {
      const entries = Object.entries((properties ?? {}) as Schema).map(
        ([key, part]) => [key, inner(part, key)] as const,
      )
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    }
  }
}

/** What a simulated model says where it is told in words to answer with JSON, and maybe of which schema; undefined where it is not. */
export function askedJson(texts: string[]): string | undefined {
  const asked = texts.find((text) => /\banswer with (a )?json\b/i.test(text))
  if (asked === undefined) return undefined
  const schema = parseJson(/JSON Schema: (\{.*\})/s.exec(asked)?.[1] ?? '')
  return JSON.stringify(schema ? sampleJson(schema) : { simulated: true })
}
