import { expectEqual, expectThat } from '../expect.js'
import type { Family, Json } from '../families/family.js'
import { fails, replies } from '../families/index.js'
import { openai } from '../families/openai.js'
import { whole } from '../script.js'
import type { Passed } from '../passed.js'
import { choiceOf, expectError } from '../passed.js'
import type { Chunk } from '../sse.js'
import type { Draft } from './define.js'
import { casesOf, casesOfEach, hi, user } from './define.js'

const object = 'OpenAI API reference, chat completion object'
const chunkObject = 'OpenAI API reference, chat completion chunk object'
const errors = 'OpenAI API reference, errors'

const streamed = { ...hi, stream: true }
const withUsage = { ...streamed, stream_options: { include_usage: true } }

/** The chunks of a stream that succeeded. */
function chunksOf(passed: Passed): Chunk[] {
  choiceOf(passed)
  const { stream, text } = passed
  if (!stream) throw new Error(`the body: expected events, got ${text}`)
  return stream.chunks
}

const isSeconds = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) > 1e9 && (value as number) < 1e11

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='

const isBad = (status: number): boolean => status === 400 || status === 422

/** A case of a request that is wrong. */
const refused = (name: string, request: object | string): Draft => ({
  name,
  source: `${errors}: 400`,
  request,
  invalid: true,
  check: (passed) => expectError(passed, '400', isBad),
})

/** Schemas that a gateway has to read, because the vendor has no such formats. */
const schemas = (family: Family): Draft[] => [
  {
    name: 'a schema beside json_object reaches the model, or is refused',
    source: 'Fireworks and Together, JSON mode: schema; OpenAI API reference, create chat completion: response_format',
    request: {
      messages: [user('Answer in JSON.')],
      response_format: {
        type: 'json_object',
        schema: { type: 'object', properties: { inhabitants: { type: 'integer' } } },
      },
    },
    unsupported: true,
    script: (sent) => {
      const [asked] = sent.asked.tools
      return replies(family, asked ? { calls: [{ name: asked.name, args: {} }] } : { texts: ['{}'] })(sent)
    },
    check(passed) {
      expectEqual('the content', choiceOf(passed).content, '{}')
      const [sent] = passed.sent
      expectThat('the request', JSON.stringify(sent?.body).includes('inhabitants'), 'the schema', sent?.body)
    },
  },
  refused('json_schema without a schema is refused', { ...hi, response_format: { type: 'json_schema' } }),
]

const ofEach = (family: Family): Draft[] => [
  {
    name: 'an answer has id, object, created and model',
    source: object,
    check(passed) {
      choiceOf(passed)
      const { id, object, created, model } = passed.json ?? {}
      expectThat('id', isText(id), 'a text', id)
      expectEqual('object', object, 'chat.completion')
      expectThat('created', isSeconds(created), 'seconds since 1970', created)
      expectThat('model', isText(model), 'a text', model)
    },
  },
  {
    name: 'a choice has index, message and role',
    source: object,
    check(passed) {
      choiceOf(passed)
      const [choice] = (passed.json?.['choices'] ?? []) as { index: unknown; message?: Json }[]
      expectEqual('index', choice?.index, 0)
      expectEqual('role', choice?.message?.['role'], 'assistant')
      expectEqual('content', choice?.message?.['content'], 'Hello')
    },
  },
  {
    name: 'a whole answer is JSON by its Content-Type, with stream: false as well',
    source: object,
    request: { ...hi, stream: false },
    check(passed) {
      choiceOf(passed)
      const type = passed.headers.get('content-type') ?? ''
      expectThat('Content-Type', type.startsWith('application/json'), 'application/json', type)
    },
  },
  {
    name: 'a stream is one by its Content-Type',
    source: 'HTML standard, server-sent events: text/event-stream',
    request: streamed,
    check({ headers }) {
      const type = headers.get('content-type') ?? ''
      expectThat('Content-Type', type.startsWith('text/event-stream'), 'text/event-stream', type)
    },
  },
  {
    name: 'every event is JSON or [DONE]',
    source: 'HTML standard, server-sent events: parsing an event stream',
    request: streamed,
    check(passed) {
      chunksOf(passed)
      expectEqual('what is no event', passed.stream?.invalid, [])
    },
  },
  {
    name: '[DONE] comes once, at the end',
    source: 'OpenAI API reference, create chat completion: a stream is terminated by [DONE]',
    request: streamed,
    check(passed) {
      chunksOf(passed)
      expectEqual('the number of [DONE]', passed.stream?.done, 1)
      expectEqual('the number of events after it', passed.stream?.late, 0)
    },
  },
  {
    name: 'all chunks have one id, object, created and model',
    source: `${chunkObject}: each chunk has the same id`,
    request: withUsage,
    check(passed) {
      const chunks = chunksOf(passed)
      for (const name of ['id', 'created', 'model'])
        expectEqual(`the number of values of ${name}`, new Set(chunks.map((chunk) => chunk[name])).size, 1)
      const [{ id, created } = {}] = chunks
      expectThat('id', isText(id), 'a text', id)
      expectThat('created', isSeconds(created), 'seconds since 1970', created)
      expectThat(
        'object',
        chunks.every((chunk) => chunk['object'] === 'chat.completion.chunk'),
        'chat.completion.chunk',
        chunks[0],
      )
    },
  },
  {
    name: 'every choice of a chunk has index and delta',
    source: chunkObject,
    request: streamed,
    check(passed) {
      for (const chunk of chunksOf(passed))
        for (const { index, delta } of chunk.choices ?? [])
          expectThat('the choice', index === 0 && typeof delta === 'object', 'index 0 and a delta', chunk)
    },
  },
  {
    name: 'the first delta has the role',
    source: `${chunkObject}: delta.role`,
    request: streamed,
    check: (passed) => expectEqual('role', chunksOf(passed)[0]?.choices?.[0]?.delta?.role, 'assistant'),
  },
  {
    name: 'exactly one chunk has a finish_reason, the last with a choice',
    source: `${chunkObject}: finish_reason`,
    request: streamed,
    script: replies(family, { texts: ['Hel', 'lo'] }),
    check(passed) {
      const finishes = chunksOf(passed).flatMap(({ choices = [] }) =>
        choices.map(({ finish_reason }) => finish_reason ?? null),
      )
      expectEqual(
        'the finish reasons',
        finishes,
        finishes.map((_, i) => (i === finishes.length - 1 ? 'stop' : null)),
      )
    },
  },
  {
    name: 'without include_usage, every chunk has a choice',
    source: 'OpenAI API reference, create chat completion: stream_options.include_usage adds a chunk without choices',
    request: streamed,
    check: (passed) =>
      expectThat(
        'the chunks',
        chunksOf(passed).every(({ choices = [] }) => choices.length > 0),
        'choices in each',
        passed.text,
      ),
  },
  {
    name: 'with include_usage, the last chunk has the usage and no choices',
    source: 'OpenAI API reference, create chat completion: stream_options.include_usage',
    request: withUsage,
    check(passed) {
      const last = chunksOf(passed).at(-1)
      expectEqual('choices', last?.choices, [])
      expectThat('usage', isInteger(last?.usage?.['total_tokens']), 'token counts', last)
    },
  },
  ...(family.name === 'openai' ? [] : schemas(family)),
  refused('a body that is no JSON is refused', '{"messages": ['),
  refused('a request without messages is refused', {}),
  refused('an empty list of messages is refused', { messages: [] }),
  refused('messages that are no list are refused', { messages: 'Hi' }),
  refused('a tool result without its call is refused', {
    messages: [user('Hi'), { role: 'tool', tool_call_id: 'call_a', content: 'Sunny' }],
  }),
]

const isInteger = (value: unknown): boolean => Number.isInteger(value)

/** What is the same for all families, and tried with OpenAI's. */
const ofOpenAI: Draft[] = [
  refused('a temperature above 2 is refused', { ...hi, temperature: 2.1 }),
  refused('a text for a number is refused', { ...hi, max_tokens: 'many' }),
  refused('n: 0 is refused', { ...hi, n: 0 }),
  refused('a role that does not exist is refused', { messages: [{ role: 'robot', content: 'Hi' }] }),
  {
    name: 'a model that does not exist is refused',
    source: `${errors}: model_not_found`,
    request: { ...hi, model: 'no-such-model' },
    invalid: true,
    script: fails(openai, 404, 'The model `no-such-model` does not exist'),
    check: (passed) => expectError(passed, '400 or 404', (status) => status === 400 || status === 404),
  },
  {
    name: 'a request without a key is refused',
    source: `${errors}: 401`,
    key: 'none',
    check: (passed) => expectError(passed, '401', (status) => status === 401),
  },
  {
    name: 'a request with a wrong key is refused',
    source: `${errors}: 401`,
    key: 'wrong',
    check: (passed) => expectError(passed, '401', (status) => status === 401),
  },
  {
    name: 'an error has a type',
    source: `${errors}: type`,
    request: { messages: [] },
    invalid: true,
    check({ json }) {
      const error = json?.['error'] as Json | undefined
      expectThat('type', isText(error?.['type']), 'a text', error)
    },
  },
  {
    name: 'an error names the field that is missing',
    source: `${errors}: message`,
    request: {},
    invalid: true,
    check({ json }) {
      const { message } = (json?.['error'] ?? {}) as Json
      const told = /\bmessages\b/.test(String(message)) && !/undefined|NoneType/.test(String(message))
      expectThat('the message', told, 'a sentence about messages', message)
    },
  },
  ...['/chat/completion', '/fine_tuning/jobs', '/responses'].map((path): Draft => ({
    name: `${path} is there, or an error in JSON`,
    source: `${errors}: 404`,
    path,
    request: { ...hi, input: 'Hi' },
    check(passed) {
      if (passed.status !== 200) expectError(passed, '4xx or 501', (it) => (it >= 400 && it < 500) || it === 501)
    },
  })),
  ...(
    [
      ['a picture of a GPT image model is b64_json', {}],
      ['a GPT image model has its own sizes and qualities', { size: '1536x1024', quality: 'high' }],
      ['a GPT image model makes upright pictures of low quality', { size: '1024x1536', quality: 'low' }],
    ] as [string, object][]
  ).map(([name, fields]): Draft => ({
    name,
    source: 'OpenAI API reference, create image: GPT image models always return base64, in b64_json',
    path: '/images/generations',
    model: 'gpt-image-2',
    request: { prompt: 'A cat', ...fields },
    script: () =>
      whole({
        created: 1_770_000_000,
        data: [{ b64_json: PNG }],
        usage: { input_tokens: 5, output_tokens: 1000, total_tokens: 1005 },
      }),
    check({ status, json, sent }) {
      expectEqual('the status', status, 200)
      const [item] = (json?.['data'] ?? []) as Json[]
      expectEqual('b64_json', item?.['b64_json'], PNG)
      for (const [field, value] of Object.entries(fields)) expectEqual(field, sent[0]?.body[field], value)
    },
  })),
  {
    name: 'the models are listed',
    source: 'OpenAI API reference, list models',
    path: '/models',
    method: 'GET',
    check({ status, json }) {
      expectEqual('the status', status, 200)
      expectEqual('object', json?.['object'], 'list')
      const data = json?.['data'] as Json[] | undefined
      expectThat(
        'data',
        data?.every(({ id, object }) => isText(id) && object === 'model') ?? false,
        'models with ids',
        data,
      )
    },
  },
]

/** The forms of answers and streams, and requests that are wrong. */
export const specificationCases = [
  ...casesOfEach('specification', ofEach),
  ...casesOf('specification', openai, ofOpenAI),
]
