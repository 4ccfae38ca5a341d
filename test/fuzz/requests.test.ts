import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRequest } from '../support/decode.js'
import { flaws } from './arbitrary-request.js'
import { families, gatewayTo } from './families.js'
import { kindsOf } from './kinds.js'
import { parameters } from './parameters.js'

const list = (text: string): string[] => text.trim().split(/,\s+/)

/** What every family is asked for at least once. */
const common = list(`
  system message, developer message, user message, assistant message, tool message, function message,
  developer message in the middle, assistant without content, field name of user, field refusal of assistant,
  text of system, text of developer, text of user, text of assistant, text of tool, refusal of assistant,
  image_url of user by data, file of user, a call, calls at once, field function_call of assistant,
  a tool with parameters, a tool without parameters, a strict tool, parallel_tool_calls,
  tool_choice auto, tool_choice none, tool_choice required, tool_choice function, tool_choice allowed_tools,
  functions, function_call auto, function_call none, function_call by name,
  response_format text, response_format json_object, response_format json_schema,
  reasoning_effort none, reasoning_effort minimal, reasoning_effort low, reasoning_effort medium,
  reasoning_effort high, reasoning_effort xhigh, reasoning_effort max,
  system, stream, stream_options, max_tokens, max_completion_tokens, temperature, top_p, n, stop, a list of stops,
  seed, frequency_penalty, presence_penalty, logprobs, top_logprobs, logit_bias, user, safety_identifier,
  metadata, store, service_tier, verbosity, modalities, null for a field
`)
/** What OpenAI itself has not. */
const foreign = list('top_k, made_up, a signature, a long id, a cached part, a cached tool')

interface Expectation {
  family: keyof typeof families
  /** What is also accepted of the family. */
  accepted: string[]
  /** Words of every refusal of what only other families take. */
  refused: RegExp[]
  /** Fields that it is never told of (docs/providers.md). */
  dropped: string[]
}

const expectations: Expectation[] = [
  {
    family: 'OpenAI',
    accepted: list('image_url of user by https, a custom tool, a custom call'),
    refused: [/takes no input_audio/],
    dropped: [],
  },
  {
    family: 'Claude',
    accepted: [...foreign, 'image_url of user by https'],
    refused: [/input_audio/, /video_url/, /file without data/],
    dropped: list(
      'seed, frequency_penalty, presence_penalty, logprobs, logit_bias, metadata, store, verbosity, made_up',
    ),
  },
  {
    family: 'Gemini',
    accepted: [...foreign, 'input_audio of user', 'video_url of user'],
    refused: [/does not fetch https/],
    dropped: list('logit_bias, user, metadata, store, service_tier, verbosity, made_up'),
  },
]

const messageOf = (text: string): string => (JSON.parse(text) as { error: { message: string } }).error.message

describe.each(expectations)('any request to $family', ({ family, accepted, refused, dropped }) => {
  it('is translated to a valid request, or refused with 400 before any call', async () => {
    const ask = await gatewayTo(families[family])
    const kinds = new Set<string>()
    const refusals = new Set<string>()
    await fc.assert(
      fc.asyncProperty(families[family].requests, async (request) => {
        checkRequest(JSON.parse(JSON.stringify(request)) as object)
        const { status, text, warnings, sent } = await ask(request)
        if (sent.length === 0) {
          expect(status).toBe(400)
          refusals.add(messageOf(text))
          return
        }
        expect(status, text).toBe(200)
        if (request.stream) expect(text).toMatch(/data: \[DONE\]\n\n$/)
        for (const body of sent) expect(body).toEqual(sent[0])
        const named = /dropped=([^;]*)/.exec(warnings)?.[1]?.split(',')
        for (const field of dropped) if ((request[field] ?? null) !== null) expect(named).toContain(field)
        for (const kind of kindsOf(request)) kinds.add(kind)
      }),
      parameters,
    )
    // Fewer runs do not meet every kind.
    if (parameters.numRuns < 300) return
    expect([...common, ...accepted].filter((kind) => !kinds.has(kind))).toEqual([])
    expect(refused.filter((words) => ![...refusals].some((refusal) => words.test(refusal)))).toEqual([])
  }, 600_000)
})

it('OpenAI receives the choice of a custom tool, and its call is returned', async () => {
  const custom = { type: 'custom', custom: { name: 'free' } }
  const ask = await gatewayTo(families.OpenAI)
  for (const stream of [false, true]) {
    const { status, text } = await ask({ model: 'gpt-4o', tools: [custom], tool_choice: custom, stream })
    expect(status).toBe(200)
    expect(text).toContain('"custom":{"name":"free"')
  }
})

describe.each(['Claude', 'Gemini'] as const)('any request to %s', (family) => {
  it.each(Object.entries(flaws))(
    'is a 400 with %s, before any call',
    async (_, [flaw, words]) => {
      const ask = await gatewayTo(families[family])
      let named = 0
      await fc.assert(
        fc.asyncProperty(families[family].requests, async (request) => {
          const flawed = { ...request, ...flaw }
          checkRequest(JSON.parse(JSON.stringify(flawed)) as object)
          const { status, text, sent } = await ask(flawed)
          expect(sent).toEqual([])
          expect(status).toBe(400)
          if (words.test(messageOf(text))) named++
        }),
        { ...parameters, numRuns: Math.ceil(parameters.numRuns / 10) },
      )
      // Of several flaws only one is named.
      expect(named).toBeGreaterThan(0)
    },
    600_000,
  )
})
