import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { toUsage } from '../../packages/providers/src/google/answer.js'
import { eventReader } from '../../packages/providers/src/google/event-reader.js'
import { parameters } from './parameters.js'

const word = fc.constantFrom(
  'gemini-2.5-flash',
  'abc',
  'a b',
  '',
  '}',
  '"',
  ',"usageMetadata":{"promptTokenCount":1},"a":"b"}',
)
const count = fc.nat(99)
const details = fc.array(fc.record({ modality: fc.constantFrom('TEXT', 'AUDIO'), tokenCount: count }), { maxLength: 2 })
const usageMetadata = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      { promptTokenCount: count, candidatesTokenCount: count, promptTokensDetails: details },
      { requiredKeys: ['promptTokenCount'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ candidatesTokenCount: count }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.record({ promptTokenCount: count, trafficType: fc.record({ a: word }), b: word }) },
  { weight: 1, arbitrary: fc.constantFrom(null, 5, [], 'none') },
)
const args = fc.oneof(word, fc.record({ a: word, usageMetadata }))
const part = fc.oneof(
  { weight: 4, arbitrary: fc.record({ text: fc.oneof(word, fc.string()) }) },
  fc.record({ functionCall: fc.record({ name: word, args }) }),
)
const candidates = fc.array(fc.record({ content: fc.record({ parts: fc.array(part, { maxLength: 2 }) }) }), {
  maxLength: 2,
})

/** The members of a server's events, which are nearly always the same in the same order. */
const members = ['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'error', 'more'] as const
const order = fc.oneof(
  { weight: 3, arbitrary: fc.constant([...members]) },
  fc.shuffledSubarray([...members], { minLength: 2 }),
)
const event = fc.record(
  {
    candidates,
    usageMetadata,
    modelVersion: fc.oneof({ weight: 9, arbitrary: fc.constant('gemini-2.5-flash') }, word),
    responseId: fc.oneof({ weight: 9, arbitrary: fc.constant('abc') }, word),
    error: fc.record({ message: word }),
    more: fc.oneof(usageMetadata, word),
  },
  { requiredKeys: ['candidates', 'usageMetadata'] },
)
/** One text, as nearly all have it. */
const said = fc.oneof(word, fc.string()).map((text) => [{ content: { parts: [{ text }], role: 'model' }, index: 0 }])
const usual = fc.record({
  candidates: fc.oneof({ weight: 4, arbitrary: said }, candidates),
  usageMetadata,
  modelVersion: fc.constant('gemini-2.5-flash'),
  responseId: fc.constant('abc'),
})

/** JSON as Google writes it, with a space after colons or without; `comma` is between the members of an event. */
const write = (value: unknown, space: string, comma = ','): string => {
  if (Array.isArray(value)) return `[${value.map((one) => write(one, space)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const all = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${space}${write(one, space)}`)
  return `{${all.join(comma)}}`
}

/** A report with what earlier ones had and it lacks. */
const later = (earlier: object, report: object): object => ({
  ...earlier,
  ...Object.fromEntries(
    Object.entries(report).filter(([field, value]) => !(field in earlier && (value === 0 || value === null))),
  ),
})

it('an event is read as by JSON.parse, except for reports that another follows', () => {
  let short = 0
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.oneof({ weight: 6, arbitrary: usual }, event),
          fc.oneof({ weight: 4, arbitrary: fc.constant(members) }, order),
          fc.oneof({ weight: 9, arbitrary: fc.constant(',') }, fc.constantFrom(', ', ' ,')),
          fc.boolean(),
        ),
        { maxLength: 10 },
      ),
      fc.constantFrom('', ' '),
      (given, space) => {
        const { read, usage } = eventReader()
        let last: object | undefined
        for (const [fields, keys, comma, followed] of given) {
          const made = keys.flatMap((key) => (key in fields ? [[key, fields[key as keyof typeof fields]]] : []))
          const data = write(Object.fromEntries(made), space, comma)
          const whole = JSON.parse(data) as Record<string, unknown>
          const { usageMetadata: told, ...rest } = whole
          const got = read(data, followed)
          const left = followed && told !== undefined && got?.usageMetadata === undefined
          if (left) short++
          expect(got).toEqual(left ? rest : whole)
          if (toUsage(told as object)) last = later(last ?? {}, told as object)
          expect(usage()).toEqual(toUsage(last))
        }
      },
    ),
    parameters,
  )
  expect(short).toBeGreaterThan(parameters.numRuns / 10)
})
