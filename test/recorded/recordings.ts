import { readdirSync, readFileSync } from 'node:fs'
import { fixtures, recordedTraffic } from '../support/needs.js'
import { families } from './families.js'

/** Every recording, as `family/name`, also of families that are not known here. */
export const recordings = recordedTraffic.isMissing
  ? []
  : readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(json|chunks\.txt)$/.test(name))

export const isStream = (name: string): boolean => name.endsWith('.chunks.txt')

export const familyOf = (name: string) => families[name.split('/')[0]!]!

/** The lines of a stream, each an event, or the one text that a whole answer is. */
export function textsOf(name: string): string[] {
  const text = readFileSync(new URL(name, fixtures), 'utf8')
  return isStream(name) ? text.trim().split('\n') : [text]
}

/** The bytes of a recording as they come over the wire. */
export function wireOf(name: string, texts: string[]): Uint8Array {
  const { frame, last } = familyOf(name)
  const frames = isStream(name) ? [...texts.map(frame), ...(last ? [`data: ${last}\n\n`] : [])] : texts
  return new TextEncoder().encode(frames.join(''))
}

const eventsOf = (name: string): unknown[] => textsOf(name).map((text) => JSON.parse(text) as unknown)

/** The model that answered, as it called itself; undefined where it did not. */
export const modelOf = (name: string): string | undefined =>
  /"model(?:Version)?":\s*"([^"]+)"/.exec(textsOf(name).join())?.[1]

type Fields = Record<string, unknown>

/** Every report of usage in a part of an answer, oldest first. */
function usagesIn(value: unknown): Fields[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === 'usage' || key === 'usageMetadata') && inner ? [inner as Fields] : usagesIn(inner),
  )
}

/** The usage of a recording; what a later report says replaces an earlier one. Undefined where there is none. */
export function usageOf(name: string): Fields | undefined {
  const reports = usagesIn(eventsOf(name))
  return reports.length > 0 ? (Object.assign({}, ...reports) as Fields) : undefined
}

/** The fields of a usage, whether they count anything, and the words in it. */
const fieldsOf = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => fieldsOf(inner, Array.isArray(value) ? path : `${path}.${key}`))
    : [typeof value === 'number' ? `${path}${value > 0 ? '>' : '='}0` : `${path}=${String(value)}`]

/**
 * How a recording tells of usage, apart from the numbers: its family, whether it is streamed, the tier of service and the fields of its
 * different reports.
 */
export function shapeOf(name: string): string {
  const tiers = textsOf(name)
    .join()
    .matchAll(/"service_?[Tt]ier":\s*"(\w+)"/g)
  const reports = usagesIn(eventsOf(name)).map((usage) => fieldsOf(usage).toSorted().join(' '))
  const told = new Set([...[...tiers].map(([, tier]) => tier), ...reports])
  return [name.split('/')[0], isStream(name) ? 'stream' : 'whole', ...told].join('; ')
}
