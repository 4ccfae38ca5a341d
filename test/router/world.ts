import type { Capability, Price, UpstreamFailure } from '@turnpike/core'
import * as fc from 'fast-check'

/** How long a call takes, and what becomes of it. */
export interface Outcome {
  latency: number
  /** What the answer reports; absent where there is none. */
  usage?: { prompt: number; completion: number }
  failure?: Omit<UpstreamFailure, 'provider'>
}

/** A provider: one model, what it can do, and what becomes of its calls, again and again. */
export interface Place {
  provider: string
  model: string
  context: number
  maxOutput: number
  abilities: Capability[]
  refusesSeed: boolean
  outcomes: Outcome[]
}

/** Requests that come at one moment. */
export interface Step {
  /** Milliseconds after the last step. */
  after: number
  count: number
  provider: 'auto' | undefined
  fields: {
    messages: { role: 'user'; content: string }[]
    max_tokens: number | undefined
    n: number | undefined
    seed: number | undefined
    response_format: object | undefined
  }
  /** What a model must be able to do. */
  needs: Capability[]
  /** Prices that hold from here on, and from when the requests of this step are under way. */
  before: Row[] | undefined
  during: Row[] | undefined
}

/** A price of each provider; undefined = not known. */
export type Row = Price | undefined

export interface World {
  places: Place[]
  prices: Row[]
  retries: number
  maxWaitMs: number
  steps: Step[]
}

const models: [provider: string, model: string, context: number, maxOutput: number][][] = [
  [
    ['openai', 'gpt-4o', 128_000, 16_384],
    ['openai', 'gpt-4.1', 1_047_576, 32_768],
  ],
  [
    ['anthropic', 'claude-haiku-4-5', 200_000, 64_000],
    ['anthropic', 'claude-sonnet-4-6', 1_000_000, 64_000],
  ],
  [['google', 'gemini-2.5-pro', 1_048_576, 65_536]],
]
const extras: Capability[] = ['tools', 'json_schema']

const latency = fc.nat(40)
const fails = (failure: NonNullable<Outcome['failure']>): fc.Arbitrary<Outcome> =>
  latency.map((ms) => ({ latency: ms, failure }))
const serves: fc.Arbitrary<Outcome> = fc.record({
  latency,
  usage: fc.record({ prompt: fc.integer({ min: 1, max: 600 }), completion: fc.nat(2_000) }),
})
const busy = { kind: 'status', status: 429, accepted: false } as const
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 6, arbitrary: serves },
  { weight: 2, arbitrary: fails({ kind: 'unavailable', accepted: false }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, 2, 5, 60).chain((s) => fails({ ...busy, retryAfter: s })) },
  { weight: 1, arbitrary: fails(busy) },
  { weight: 1, arbitrary: fails({ kind: 'status', status: 503, accepted: false }) },
  { weight: 2, arbitrary: fails({ kind: 'status', status: 500, accepted: false }) },
  { weight: 1, arbitrary: fails({ kind: 'status', status: 401, accepted: false, credential: true }) },
  { weight: 1, arbitrary: fails({ kind: 'status', status: 400, accepted: false, caller: true }) },
  { weight: 2, arbitrary: fails({ kind: 'timeout', accepted: true }) },
  { weight: 2, arbitrary: fails({ kind: 'truncated', accepted: true }) },
  { weight: 1, arbitrary: fails({ kind: 'unavailable', accepted: true }) },
  { weight: 1, arbitrary: fails({ ...busy, accepted: true }) },
)
/** Some outcomes several times in a row, so that breakers open; of some models they close again. */
const outcomes = fc
  .tuple(
    fc.array(fc.tuple(outcome, fc.constantFrom(1, 1, 2, 6)), { minLength: 1, maxLength: 8 }),
    fc.option(
      serves.map((served): [Outcome, number] => [served, 3]),
      { nil: undefined },
    ),
  )
  .map(([runs, end]) =>
    [...runs, ...(end ? [end] : [])].flatMap(([one, times]) => Array.from({ length: times }, () => one)),
  )

const place = (known: (typeof models)[number]): fc.Arbitrary<Place> =>
  fc
    .record({
      known: fc.constantFrom(...known),
      abilities: fc.constantFrom(extras, extras, ['tools'], []) as fc.Arbitrary<Capability[]>,
      refusesSeed: fc.boolean(),
      outcomes,
    })
    .map(({ known: [provider, model, context, maxOutput], ...rest }) => ({
      provider,
      model,
      context,
      maxOutput,
      ...rest,
    }))

/** Five digits behind the point, so that sums are rounded; few enough values that some are equal. */
const rate = fc.constantFrom(0, 0.03751, 1, 1.00001, 2.5, 7, 40)
const price: fc.Arbitrary<Price> = fc.oneof(
  fc.record({ input: rate, output: rate }),
  fc.record({
    input: rate,
    output: rate,
    tiers: fc.tuple(
      fc.record({ above: fc.constant(100), input: rate, output: rate }),
      fc.record({ above: fc.constant(300), input: rate, output: rate }),
    ),
  }),
)
const prices = fc.array(fc.option(price, { nil: undefined, freq: 5 }), { minLength: 3, maxLength: 3 })

const fields = fc
  .record({
    content: fc.nat(1_600).map((length) => 'x'.repeat(length + 1)),
    max_tokens: fc.constantFrom(undefined, 1, 500, 16_384, 16_385, 64_001, 65_537),
    n: fc.constantFrom(undefined, 1, 3),
    seed: fc.constantFrom(undefined, undefined, 7),
    schema: fc.constantFrom(false, false, true),
  })
  .map(({ content, schema, ...rest }) => ({
    needs: (schema ? ['json_schema'] : []) as Capability[],
    fields: {
      ...rest,
      messages: [{ role: 'user' as const, content }],
      response_format: schema
        ? { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }
        : undefined,
    },
  }))

const step: fc.Arbitrary<Step> = fc
  .record({
    after: fc.constantFrom(0, 1, 900, 1_000, 5_000, 30_000, 61_000),
    count: fc.constantFrom(1, 1, 1, 2, 4),
    provider: fc.constantFrom('auto' as const, 'auto' as const, 'auto' as const, undefined),
    request: fields,
    before: fc.option(prices, { nil: undefined, freq: 3 }),
    during: fc.option(prices, { nil: undefined, freq: 3 }),
  })
  .map(({ request, ...rest }) => ({ ...rest, ...request }))

export const worlds: fc.Arbitrary<World> = fc.record({
  places: fc.tuple(place(models[0]!), place(models[1]!), place(models[2]!)),
  prices,
  retries: fc.nat(2),
  maxWaitMs: fc.constantFrom(0, 500, 2_000),
  steps: fc.array(step, { minLength: 1, maxLength: 25, size: '+1' }),
})
