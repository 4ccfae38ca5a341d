import { parseJson } from '../upstream/json.js'

type Schema = Record<string, unknown>

/** Sample strings for the formats that clients validate. */
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

/** Maximum length of generated strings in UTF-16 units. */
const LONGEST = 1_000

function sampleString({ format, minLength = 0, maxLength = Infinity }: Schema, name: string): string {
  const text = formatted[format as string] ?? name
  return text.padEnd(Math.min(minLength as number, LONGEST), 'x').slice(0, maxLength as number)
}

/** 1, or the nearest value within the limits. */
function sampleNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): number {
  const limit = (inclusive: unknown, exclusive: unknown, inwards: number, none: number): number => {
    if (typeof inclusive === 'number') return inclusive
    return typeof exclusive === 'number' ? exclusive + inwards : none
  }
  const least = limit(minimum, exclusiveMinimum, 1, -Infinity)
  return Math.max(least, Math.min(1, limit(maximum, exclusiveMaximum, -1, Infinity)))
}

/** Maximum number of subschemas visited, because nested references can grow exponentially. */
const PARTS = 10_000

/** Generates a small, deterministic value that matches a JSON Schema, for the tool arguments and JSON answers of a simulated model. */
export function sampleJson(schema: unknown): unknown {
  let left = PARTS
  /** Undefined for infinite recursion: a subschema that contains itself through one of the `followed` `$ref`s. */
  const sample = (part: unknown, name: string, followed: string[]): unknown => {
    if (left-- <= 0) return undefined
    const given = (part ?? {}) as Schema
    const { $ref, type, const: only, enum: allowed, allOf, properties, items, minItems = 1 } = given
    if (typeof $ref === 'string') {
      if (followed.includes($ref)) return undefined
      const keys = $ref.split('/').slice(1)
      const target = keys.reduce<unknown>((inner, key) => (inner as Schema | undefined)?.[key], schema)
      return sample(target, name, [...followed, $ref])
    }
    if (only !== undefined) return only
    if (Array.isArray(allowed)) return allowed[0]
    const options = given['anyOf'] ?? given['oneOf']
    if (Array.isArray(options))
      return options.map((option) => sample(option, name, followed)).find((value) => value !== undefined)
    if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map((option) => sample(option, name, followed)))
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
        const length = Math.min(Math.max(1, minItems as number), PARTS)
        return Array.from({ length }, () => sample(items, name, followed)).filter((item) => item !== undefined)
      }
      default: {
        const entries = Object.entries((properties ?? {}) as Schema)
        const sampled = entries.map(([key, inner]) => [key, sample(inner, key, followed)] as const)
        return Object.fromEntries(sampled.filter(([, value]) => value !== undefined))
      }
    }
  }
  return sample(schema, 'value', [])
}

/** The JSON answer of a simulated model whose instructions ask for JSON, possibly with a schema; undefined if they do not. */
export function askedJson(texts: string[]): string | undefined {
  const asked = texts.find((text) => /\banswer with (a )?json\b/i.test(text))
  if (asked === undefined) return undefined
  const schema = parseJson(/JSON Schema: (\{.*\})/s.exec(asked)?.[1] ?? '')
  return JSON.stringify(schema ? sampleJson(schema) : { simulated: true })
}
