import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { expectLinear } from './support/linear.js'
import type { ChatAdapter } from '../packages/providers/src/adapter.js'
import { anthropicChat } from '../packages/providers/src/anthropic/index.js'
import { isOfCaller } from '../packages/providers/src/refusals/callers-words.js'
import { googleChat } from '../packages/providers/src/google/index.js'
import { openaiChat } from '../packages/providers/src/openai/chat.js'
import { toSubtitles } from '../packages/providers/src/openai/subtitles.js'
import { anthropicRefusal } from '../packages/providers/src/testing/anthropic-rules.js'

const families: Record<string, [model: string, adapter: ChatAdapter]> = {
  openai: ['gpt-4o', openaiChat('openai')],
  anthropic: ['claude-sonnet-4-5', anthropicChat('anthropic')],
  google: ['gemini-2.5-flash', googleChat('google')],
}

/** `n` values. */
const many = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))

const hi = { role: 'user', content: 'Hi' }
const call = (id: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const thought = (given: object) => ({ type: 'reasoning.text', text: 'a', format: 'anthropic-claude-v1', ...given })
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'x' })
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const said = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const schema = (inner: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: inner } },
})
const closed = { type: 'object', additionalProperties: false }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } }

/** Requests with `n` of something. */
/** Of schemas with references, which have at most 10,000 parts. */
const within = (n: number): number => Math.floor(n / 8)

const requests: Record<string, (n: number) => object> = {
  'calls of one id': (n) => ({
    messages: [hi, { role: 'assistant', tool_calls: many(n, () => call('same')) }, ...many(n, () => result('same'))],
  }),
  'calls whose ids are cut to one': (n) => ({
    messages: [
      hi,
      { role: 'assistant', tool_calls: many(n, (i) => call(`${'x'.repeat(60)}${i}`)) },
      ...many(n, (i) => result(`${'x'.repeat(60)}${i}`)),
    ],
  }),
  'calls whose ids are those of duplicates': (n) => ({
    messages: [
      hi,
      { role: 'assistant', tool_calls: many(n, (i) => call(i < n / 2 ? `a_${i + 2}` : 'a')) },
      ...many(n, (i) => result(i < n / 2 ? `a_${i + 2}` : 'a')),
    ],
  }),
  'turns with a call of one id': (n) => ({
    messages: [hi, ...many(n, () => [{ role: 'assistant', tool_calls: [call('same')] }, result('same')]).flat()],
  }),
  'calls of functions of any name': (n) => ({
    messages: [
      hi,
      { role: 'assistant', tool_calls: many(n, (i) => call(`c${i}`, `f${i}`)) },
      ...many(n, (i) => result(`c${i}`)),
    ],
  }),
  'results in the other order': (n) => ({
    messages: [
      hi,
      { role: 'assistant', tool_calls: many(n, (i) => call(`c${i}`)) },
      ...many(n, (i) => result(`c${n - i - 1}`)),
    ],
  }),
  'calls with signatures': (n) => ({
    messages: [
      hi,
      {
        role: 'assistant',
        tool_calls: many(n, (i) => ({ ...call(`c${i}`), extra_content: { google: { thought_signature: 's' } } })),
      },
    ],
  }),
  'fragments of thoughts': (n) => ({
    messages: [
      hi,
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: many(n, (i) => thought({ signature: i % 100 ? '' : 's' })),
      },
      hi,
    ],
  }),
  'thoughts before calls': (n) => ({
    messages: [
      hi,
      {
        role: 'assistant',
        tool_calls: many(n, (i) => call(`c${i}`)),
        reasoning_details: many(n, (i) => thought({ signature: 's', id: `c${n - i - 1}` })),
      },
    ],
  }),
  'allowed tools': (n) => ({
    tools: many(n, (i) => tool(`f${i}`)),
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: many(n, (i) => tool(`f${n - i - 1}`)) },
    },
  }),
  'the last tool': (n) => ({ tools: many(n, (i) => tool(`f${i}`)), tool_choice: tool(`f${n - 1}`) }),
  'strict tools': (n) => ({
    tools: many(n, (i) =>
      tool(`f${i}`, { strict: true, parameters: { ...closed, properties: { a: { type: 'string', minLength: 1 } } } }),
    ),
  }),
  'messages of one role': (n) => ({ messages: many(n, () => hi) }),
  'messages of alternating roles': (n) => ({
    messages: many(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: 'a' })),
  }),
  'system messages': (n) => ({ messages: [...many(n, () => ({ role: 'system', content: 'a' })), hi] }),
  'parts of text': (n) => said(many(n, () => ({ type: 'text', text: 'a' }))),
  'blank parts': (n) => said([...many(n, () => ({ type: 'text', text: '' })), { type: 'text', text: 'a' }]),
  pictures: (n) => said(many(n, () => image)),
  'parts with cache_control': (n) =>
    said(many(n, () => ({ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }))),
  'parts of a result': (n) => ({
    messages: [
      hi,
      { role: 'assistant', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: many(n, () => ({ type: 'text', text: 'a' })) },
    ],
  }),
  'stop sequences': (n) => ({ stop: many(n, (i) => `s${i}`) }),
  'biased tokens': (n) => ({ logit_bias: Object.fromEntries(many(n, (i) => [i, 1])) }),
  metadata: (n) => ({ metadata: Object.fromEntries(many(n, (i) => [`k${i}`, 'v'])) }),
  'fields that nobody knows': (n) => Object.fromEntries(many(n, (i) => [`field${i}`, 1])),
  'properties of a schema': (n) =>
    schema({ ...closed, properties: Object.fromEntries(many(n, (i) => [`p${i}`, { type: 'string', pattern: 'a' }])) }),
  'references of a schema': (n) =>
    schema({
      ...closed,
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: Object.fromEntries(
        many(within(n), (i) => [
          `d${i}`,
          { ...closed, properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } },
        ]),
      ),
    }),
  'references that go round': (n) =>
    schema({
      ...closed,
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: Object.fromEntries(
        many(within(n), (i) => [
          `d${i}`,
          { ...closed, properties: { a: { $ref: `#/$defs/d${(i + 1) % within(n)}` } } },
        ]),
      ),
    }),
  'alternatives of a schema': (n) =>
    schema({
      ...closed,
      properties: { a: { oneOf: many(n, () => ({ type: 'string', not: { not: { minLength: 1 } } })) } },
    }),
  'references from the root of a schema to the next': (n) =>
    schema({
      ...closed,
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(many(within(n), (i) => [`d${i}`, { [`k${i}`]: 1, $ref: `#/$defs/d${i + 1}` }])),
    }),
  'definitions whose names are taken': (n) =>
    schema({
      ...closed,
      properties: Object.fromEntries(
        many(within(n), (i) => [`p${i}`, { $ref: `#/$defs/a${String.fromCharCode(0x4e00 + i)}` }]),
      ),
      $defs: Object.fromEntries(many(within(n), (i) => [`a${String.fromCharCode(0x4e00 + i)}`, { type: 'string' }])),
    }),
  'spellings of a reference': (n) =>
    schema({
      ...closed,
      properties: {
        a: {
          anyOf: many(within(n), (i) => ({
            $ref: `#/$defs/${many(14, (bit) => ((i >> bit) & 1 ? '~0' : '~')).join('')}`,
          })),
        },
      },
      $defs: { ['~'.repeat(14)]: { ...closed, properties: Object.fromEntries(many(within(n), (i) => [`p${i}`, {}])) } },
    }),
  'characters of a reference': (n) => {
    const name = 'a'.repeat(20 * n)
    return schema({
      ...closed,
      properties: { a: { $ref: `#/${name}/b` } },
      [name]: { b: { type: 'string' } },
    })
  },
  'slashes of a reference': (n) => schema({ ...closed, properties: { a: { $ref: `#${'/'.repeat(20 * n)}` } } }),
  'characters of the id of a call': (n) => {
    const id = '/'.repeat(20 * n)
    return { messages: [hi, { role: 'assistant', tool_calls: [call(id)] }, result(id)] }
  },
  'types of a schema': (n) => schema({ ...closed, properties: { a: { type: many(n, () => 'string') } } }),
  modalities: (n) => ({ modalities: many(n, () => 'text') }),
  'escapes of a data URL': (n) =>
    said([{ type: 'image_url', image_url: { url: `data:image/png,${'%41'.repeat(n)}` } }]),
  'spaces at the end': (n) => ({
    messages: [hi, { role: 'assistant', content: `a${' '.repeat(n * 10)}a${' '.repeat(n * 10)}` }],
  }),
}

const chunk = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] })
const entry = (index: number, more: object = {}) =>
  chunk({ tool_calls: [{ index, function: { arguments: '1' }, ...more }] })
const opened = (i: number) => entry(i, { id: `c${i}`, function: { name: 'f', arguments: '' } })
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, given: object) => ({ type: 'content_block_delta', index, delta: given })
const use = (i: number) => block(i, { type: 'tool_use', id: `c${i}`, name: 'f', input: {} })
const input = { type: 'input_json_delta', partial_json: '1' }
const candidate = (part: object, more: object = {}) => ({ candidates: [{ content: { parts: [part] }, ...more }] })
const start = { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }
const logprobs = (n: number) => ({
  logprobsResult: { chosenCandidates: many(n, () => ({ token: 'a', logProbability: -1 })) },
})

const usedUp = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

/** Streams with `n` of something, one event a read. */
const streams: Record<string, [family: string, events: (n: number) => object[]]> = {
  'new fields of usage': ['openai', (n) => many(n, (i) => ({ choices: [], usage: { ...usedUp, [`f${i}`]: i } }))],
  'new fields of usage of Claude': [
    'anthropic',
    (n) => [
      { type: 'message_start', message: { id: 'm' } },
      ...many(n, (i) => ({ type: 'message_delta', usage: { [`f${i}`]: i } })),
    ],
  ],
  'new fields of usage of Gemini': [
    'google',
    (n) => many(n, (i) => ({ usageMetadata: { promptTokenCount: 1, [`f${i}`]: i } })),
  ],
  'calls by index': ['openai', (n) => [...many(n, opened), ...many(n, (i) => entry(i))]],
  'calls by id': [
    'openai',
    (n) => [
      ...many(n, (i) => entry(0, { index: null, id: `c${i}`, function: { name: 'f', arguments: '' } })),
      ...many(n, (i) => entry(0, { index: null, id: `c${i}` })),
    ],
  ],
  'calls without a name': ['openai', (n) => many(n, (i) => entry(i))],
  'pieces of arguments': ['openai', (n) => [opened(0), ...many(n, () => entry(0))]],
  'pieces of arguments before the name': ['openai', (n) => [...many(n, () => entry(0)), opened(0)]],
  choices: ['openai', (n) => many(n, (index) => ({ choices: [{ index, delta: { content: 'a' } }] }))],
  blocks: ['anthropic', (n) => [start, ...many(n, (i) => block(i, { type: 'text', text: 'a' }))]],
  'calls of Claude': ['anthropic', (n) => [start, ...many(n, use), ...many(n, (i) => delta(i, input))]],
  "pieces of Claude's arguments": ['anthropic', (n) => [start, use(0), ...many(n, () => delta(0, input))]],
  'thoughts of Claude': [
    'anthropic',
    (n) => [
      start,
      ...many(n, (i) => block(i, { type: 'redacted_thinking', data: 'a' })),
      block(n, { type: 'thinking', thinking: '' }),
      ...many(n, () => delta(n, { type: 'thinking_delta', thinking: 'a' })),
      ...many(n, () => delta(n, { type: 'signature_delta', signature: 'a' })),
      { type: 'content_block_stop', index: n },
      use(n + 1),
    ],
  ],
  "reports of Claude's usage": [
    'anthropic',
    (n) => [start, ...many(n, (i) => ({ type: 'message_delta', usage: { output_tokens: i } }))],
  ],
  'calls of Gemini': ['google', (n) => many(n, () => candidate({ functionCall: { id: 'same', name: 'f', args: {} } }))],
  'pieces of an argument': [
    'google',
    (n) => [
      candidate({ functionCall: { name: 'f', willContinue: true } }),
      ...many(n, () =>
        candidate({ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'a' }], willContinue: true } }),
      ),
    ],
  ],
  'items of an argument': [
    'google',
    (n) => [
      candidate({ functionCall: { name: 'f', willContinue: true } }),
      ...many(n, (i) =>
        candidate({ functionCall: { partialArgs: [{ jsonPath: `$.a[${i}]`, stringValue: 'a' }], willContinue: true } }),
      ),
    ],
  ],
  'log probabilities of thoughts': [
    'google',
    (n) => many(n, () => candidate({ text: 'a', thought: true }, logprobs(1))),
  ],
  'log probabilities': ['google', (n) => many(n, () => candidate({ text: 'a' }, logprobs(1)))],
}

describe.each(Object.keys(families))('a request to %s takes linear time', (name) => {
  const [model, adapter] = families[name]!
  it.each(Object.keys(requests))('with many %s', (kind) =>
    expectLinear((n) => {
      const request = { model, messages: [hi], ...requests[kind]!(n) } as ChatCompletionRequest
      return () => void adapter.request(request)
    }),
  )
})

it('threat 40: a history of many calls takes the simulation of Claude linear time', () =>
  expectLinear((n) => {
    const messages = many(n, (i) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `c${i}`, name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${i}`, content: 'x' }] },
    ])
    const tools = [{ name: 'f', input_schema: { type: 'object' } }]
    const body = { model: 'claude-sonnet-4-5', max_tokens: 9, messages: [hi, ...messages.flat()], tools }
    return () => expect(anthropicRefusal(body)).toBe(undefined)
  }))

/** Texts of `n` of something that a segment of a transcript may have. */
const texts: Record<string, (n: number) => string> = {
  spaces: (n) => `a${' '.repeat(n)}a`,
  'empty lines': (n) => `a${'\n'.repeat(n)}a`,
  'lines of spaces': (n) => `a${' \n '.repeat(n)}a`,
  arrows: (n) => '-->'.repeat(n),
  dashes: (n) => '-'.repeat(n),
}

it.each(Object.keys(texts))('a segment with many %s takes linear time', (kind) =>
  expectLinear((n) => {
    const segments = [{ start: 0, end: 1, text: texts[kind]!(n * 10) }]
    return () => void toSubtitles(segments, 'srt')
  }),
)

it.each(['a', ' ', '"', '%', '%41', '%4'])('words are looked for among many %j of a caller in linear time', (kind) =>
  expectLinear((n) => {
    const request = said(kind.repeat(n * 100))
    return () => void isOfCaller(['ab', '1%41'], request)
  }),
)

describe('a stream takes linear time', () => {
  it.each(Object.keys(streams))('with many %s', (kind) => {
    const [family, events] = streams[kind]!
    const [model, adapter] = families[family]!
    expectLinear((n) => {
      const reads = events(n).map((event) => [{ data: JSON.stringify(event) }])
      return () => {
        const decoder = adapter.stream({ model, messages: [{ role: 'user', content: 'Hi' }] })
        for (const read of reads) decoder.push(read)
      }
    })
  })
})
