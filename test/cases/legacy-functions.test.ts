import { expect, it } from 'vitest'
import type { Family } from './pass.js'
import { chunks, pass, stream, whole } from './pass.js'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
const weather = { name: 'weather', description: 'Tells the weather.', parameters }
const hi = { role: 'user', content: 'Hi' }
const next = { role: 'user', content: 'And Oslo?' }
const request = {
  functions: [weather],
  messages: [
    hi,
    { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{"city":"Rome"}' } },
    { role: 'function', name: 'weather', content: '22C' },
    next,
  ],
}

const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'weather', arguments: args } })
const choice = (delta: object, finish_reason: string | null = null) => ({ index: 0, delta, finish_reason })
const role = choice({ role: 'assistant', content: '' })
const begins = (id: string, delta: object = {}) => choice({ ...delta, tool_calls: [{ index: 0, ...call(id, '') }] })
const goesOn = choice({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Oslo"}' } }] })
const ends = choice({}, 'tool_calls')

/** A whole answer with a call, as the client is to get it. */
const completion = (id: string, model: string, callId: string, details = '') =>
  `{"id":"${id}","object":"chat.completion","created":0,"model":"${model}","choices":[{"index":0,` +
  '"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[' +
  `{"id":"${callId}","type":"function","function":{"name":"weather","arguments":"{\\"city\\":\\"Oslo\\"}"}}]},` +
  '"logprobs":null,"finish_reason":"tool_calls"}],' +
  `"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11${details}}}`

/** The same as a stream. */
const streamed = (id: string, model: string, ...choices: object[]) =>
  chunks({ id, created: 0, model, object: 'chat.completion.chunk' }, ...choices, goesOn, ends, '[DONE]')

interface Case {
  /** What the upstream is sent, and what of it is another thing in a stream. */
  asked: object
  askedToStream: object
  /** How it is told which function to call: nothing, `auto`, `none`, by name. */
  choices: [object, object, object, object]
  answer: object
  answerSeen: string
  events: (object | string)[]
  eventsSeen: string
}

const gpt = 'gpt-4o-2024-08-06'
const claude = 'claude-sonnet-4-5-20250929'
const claudeMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: claude,
  content: [],
  stop_reason: null,
  usage: { input_tokens: 9, output_tokens: 2 },
}
const geminiAnswer = {
  candidates: [
    {
      content: { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
  responseId: 'r1',
}

const cases: Record<Family, Case> = {
  openai: {
    asked: {
      model: 'gpt-4o',
      messages: [
        hi,
        { role: 'assistant', content: null, tool_calls: [call('call_function_1', '{"city":"Rome"}')] },
        { role: 'tool', tool_call_id: 'call_function_1', content: '22C' },
        next,
      ],
      tools: [{ type: 'function', function: weather }],
    },
    askedToStream: { stream: true, stream_options: { include_usage: true } },
    choices: [
      {},
      { tool_choice: 'auto' },
      { tool_choice: 'none' },
      { tool_choice: { type: 'function', function: { name: 'weather' } } },
    ],
    answer: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 5,
      model: gpt,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            refusal: null,
            tool_calls: [call('call_a', '{"city":"Oslo"}')],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
    },
    answerSeen: completion('chatcmpl-1', gpt, 'call_a'),
    events: [
      ...[role, begins('call_a'), goesOn, ends].map((one) => ({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 5,
        model: gpt,
        choices: [one],
      })),
      'data: [DONE]\n\n',
    ],
    eventsSeen: streamed('chatcmpl-1', gpt, role, begins('call_a')),
  },
  anthropic: {
    asked: {
      model: 'claude-sonnet-4-5',
      max_tokens: 8_192,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_function_1', name: 'weather', input: { city: 'Rome' } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_function_1', content: '22C' },
            { type: 'text', text: 'And Oslo?' },
          ],
        },
      ],
      tools: [{ name: 'weather', description: 'Tells the weather.', input_schema: parameters }],
    },
    askedToStream: { max_tokens: 64_000, stream: true },
    choices: [
      {},
      { tool_choice: { type: 'auto' } },
      { tool_choice: { type: 'none' } },
      { tool_choice: { type: 'tool', name: 'weather' } },
    ],
    answer: {
      ...claudeMessage,
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }],
      stop_reason: 'tool_use',
    },
    answerSeen: completion(
      'msg_1',
      claude,
      'toolu_1',
      ',"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}',
    ),
    events: [
      { type: 'message_start', message: claudeMessage },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
    eventsSeen: streamed('msg_1', claude, role, begins('toolu_1')),
  },
  google: {
    asked: {
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Rome' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: '22C' } } }] },
        { role: 'user', parts: [{ text: 'And Oslo?' }] },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'weather', description: 'Tells the weather.', parametersJsonSchema: parameters },
          ],
        },
      ],
    },
    askedToStream: {},
    choices: [
      {},
      {},
      { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } } },
    ],
    answer: geminiAnswer,
    answerSeen: completion(
      'chatcmpl-r1',
      'gemini-2.5-flash',
      'call_new',
      ',"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}',
    ),
    events: [geminiAnswer],
    eventsSeen: streamed('chatcmpl-r1', 'gemini-2.5-flash', begins('call_new', { role: 'assistant', content: null })),
  },
}

const told = [{}, { function_call: 'auto' }, { function_call: 'none' }, { function_call: { name: 'weather' } }]

it('converts functions to tools of each family, and returns their calls as tool calls', async () => {
  for (const [family, { asked, askedToStream, choices, ...upstream }] of Object.entries(cases))
    for (const [at, function_call] of told.entries()) {
      const asks = { ...request, ...function_call }
      const answered = await pass(family as Family, asks, whole(upstream.answer))
      expect(answered.sent.map(({ body }) => body)).toEqual([{ ...asked, ...choices[at] }])
      expect(answered.status).toBe(200)
      expect(answered.text).toBe(upstream.answerSeen)
      // Nothing is lost.
      expect(answered.headers.get('x-gateway-warnings')).toBe(null)

      const streams = await pass(family as Family, { ...asks, stream: true }, stream(...upstream.events))
      expect(streams.sent.map(({ body }) => body)).toEqual([{ ...asked, ...askedToStream, ...choices[at] }])
      expect(streams.status).toBe(200)
      expect(streams.text).toBe(upstream.eventsSeen)
    }
})
