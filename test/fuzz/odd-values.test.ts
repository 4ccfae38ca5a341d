import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { expect, it } from 'vitest'
import { wrong as undescribed } from '../support/contract-checks.js'
import { OWNER, testGateway } from '../support/gateway.js'

/** Of which neither a text nor a number can be made: whoever tries fails. */
const odd = { toString: 1, valueOf: 1, toJSON: 1, length: 1 }
const png = 'data:image/png;base64,iVBORw0KGgo='

/** Fields that some family reads, each with all that may be in it. */
const whole = {
  max_tokens: 10,
  max_completion_tokens: 10,
  temperature: 0.5,
  top_p: 0.5,
  top_k: 3,
  n: 2,
  seed: 7,
  stop: ['x'],
  user: 'ada',
  safety_identifier: 'ada',
  prompt_cache_key: 'p',
  metadata: { a: 'b' },
  modalities: ['text'],
  audio: { voice: 'alloy', format: 'mp3' },
  logprobs: true,
  top_logprobs: 2,
  logit_bias: { 5: 1 },
  frequency_penalty: 1,
  presence_penalty: 1,
  service_tier: 'auto',
  reasoning_effort: 'low',
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  verbosity: 'low',
  parallel_tool_calls: false,
  stream: false,
  stream_options: { include_usage: true },
  prediction: { type: 'content', content: [{ type: 'text', text: 'x' }] },
  web_search_options: {
    search_context_size: 'low',
    user_location: { type: 'approximate', approximate: { city: 'x' } },
  },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 's', strict: true, schema: { type: 'object', properties: { a: { type: 'number' } } } },
  },
  tool_choice: { type: 'function', function: { name: 'f' } },
  tools: [
    {
      type: 'function',
      function: { name: 'f', description: 'd', strict: true, parameters: { type: 'object', required: ['a'] } },
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    {
      type: 'custom',
      custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
    },
  ],
  functions: [{ name: 'g', parameters: {} }],
  function_call: { name: 'g' },
  extra_body: { google: { thinking_config: { thinking_budget: 1, include_thoughts: true }, cached_content: 'c' } },
  safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
}
const parts = [
  { type: 'text', text: 'Hi' },
  { type: 'image_url', image_url: { url: png, detail: 'low', media_resolution: 'low' } },
  { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf', file_id: 'f' } },
  { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA', fps: 1 } },
  { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, title: 't' },
]
const messages = [
  { role: 'system', content: [{ type: 'text', text: 'Be kind', cache_control: { type: 'ephemeral' } }] },
  {
    role: 'user',
    name: 'ada',
    content: parts,
  },
  {
    role: 'assistant',
    content: null,
    refusal: null,
    reasoning_content: 'x',
    reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: 's' }],
    thinking_blocks: [{ type: 'thinking', thinking: 'x', signature: 's' }],
    annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }],
    audio: { id: 'audio-1' },
    images: [{ type: 'image_url', image_url: { url: png }, extra_content: { google: { thought_signature: 's' } } }],
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'f', arguments: '{"a":1}' },
        extra_content: { google: { thought_signature: 's' } },
      },
      { id: 'call_2', type: 'custom', custom: { name: 'c', input: 'x' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: '1' }], name: 'f', is_error: true },
  { role: 'tool', tool_call_id: 'call_2', content: '2' },
]
/** Requests, each with one family's or several families' fields; one of all would be refused at the first. */
const bodies = [
  ...Object.entries(whole).map(([name, value]) => ({
    [name]: value,
    ...(name === 'function_call' && { functions: whole.functions }),
    ...(name === 'tool_choice' && { tools: whole.tools }),
  })),
  ...parts.map((part) => ({ messages: [{ role: 'user', content: [part] }] })),
  { messages, tools: whole.tools },
  ...['reasoning_details', 'thinking_blocks', 'annotations', 'audio', 'images', 'tool_calls'].map((name) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'x', [name]: (messages[2] as Record<string, unknown>)[name] },
      ...(name === 'tool_calls' ? messages.slice(3) : []),
      { role: 'user', content: 'Go on' },
    ],
  })),
]

/** A value, each time with another one of its parts replaced. */
function* replaced(value: unknown): Generator<unknown> {
  yield odd
  if (Array.isArray(value))
    for (const [i, item] of value.entries()) for (const one of replaced(item)) yield value.with(i, one)
  else if (typeof value === 'object' && value !== null)
    for (const [name, field] of Object.entries(value))
      for (const one of replaced(field)) yield { ...value, [name]: one }
}

const models = ['gpt-4o-mini', 'gpt-5.5', 'claude-sonnet-4-5', 'gemini-2.5-flash']

/** A gateway in front of the three families. */
async function setUp(answer?: () => FakeAnswer) {
  const fake = answer && { override: answer }
  const providers = [
    openai({ apiKey: 'sk-1', transport: fakeOpenAI(fake).transport, models: ['gpt-4o-mini', 'gpt-5.5'] }),
    anthropic({ apiKey: 'sk-2', transport: fakeAnthropic(fake).transport }),
    google({ apiKey: 'AIza-3', transport: fakeGoogle(fake).transport }),
  ]
  const at = await testGateway({ router: createRouter({ providers, retries: 0 }), rateLimit: 1_000_000 })
  const { key } = await at.gateway.keys.create(OWNER, { name: 'k', rateLimit: 1_000_000, budget: { usd: 1_000 } })
  return { ...at, limited: { headers: { authorization: `Bearer ${key}` } } }
}

it.each(models)('no value of a field of a request is an error of the gateway: %s', async (model) => {
  const at = await setUp()
  const wrong: string[] = []
  let count = 0
  for (const body of bodies)
    for (const [name, value] of Object.entries(body))
      for (const one of replaced(value)) {
        const fields = { model, ...body, [name]: one }
        for (const init of [{}, at.limited]) {
          const response = await at.chat(fields, init)
          const text = await response.text()
          if (response.status >= 500) wrong.push(`${response.status} ${JSON.stringify(fields)} ${text}`)
          count++
        }
      }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(500)
})

/** Errors and answers, each with all that some family reads of them. */
const answers: object[] = [
  {
    error: {
      message: 'The parameter seed is not supported',
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: 'seed',
      status: 'INVALID_ARGUMENT',
      reason: 'x',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' },
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'x', metadata: { a: 'b' } },
      ],
      innererror: { code: 'x', content_filter_result: { hate: { filtered: true } } },
      metadata: { raw: '{"error":{"code":1}}', provider_name: 'x' },
    },
  },
  { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', ctx: {} }] },
  { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
  { object: 'error', message: 'x', type: 'BadRequestError', param: null, code: 400, errors: { seed: ['x'] } },
  {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    service_tier: 'default',
    system_fingerprint: 'f',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: { content: [{ token: 'a', logprob: -1, bytes: [1], top_logprobs: [] }] },
        message: {
          role: 'assistant',
          content: 'Hi',
          reasoning_content: 'x',
          refusal: null,
          annotations: [],
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      },
    ],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 3,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  },
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'x', signature: 's' },
      { type: 'text', text: 'Hi', citations: [{ type: 'char_location', cited_text: 'x' }] },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 9,
      output_tokens: 3,
      cache_read_input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 1 },
      server_tool_use: { web_search_requests: 1 },
      service_tier: 'standard',
    },
  },
  {
    responseId: 'r',
    modelVersion: 'm',
    promptFeedback: { blockReason: 'OTHER' },
    candidates: [
      {
        index: 0,
        finishReason: 'STOP',
        safetyRatings: [{ category: 'x', probability: 'LOW' }],
        groundingMetadata: {
          groundingChunks: [{ web: { uri: 'https://a.example', title: 't' } }],
          webSearchQueries: ['q'],
        },
        content: {
          role: 'model',
          parts: [
            { text: 'x', thought: true, thoughtSignature: 's' },
            { text: 'Hi' },
            { functionCall: { id: 'c', name: 'f', args: { a: 1 } } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { executableCode: { language: 'PYTHON', code: 'x' } },
          ],
        },
      },
    ],
    usageMetadata: {
      promptTokenCount: 9,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 1,
      totalTokenCount: 13,
      trafficType: 'ON_DEMAND',
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
    },
  },
]

it.each(models)('no value in an answer of an upstream is an error of the gateway: %s', async (model) => {
  let body: unknown
  let status = 200
  let isStream = false
  const type = (): string => (isStream ? 'text/event-stream' : 'application/json')
  const at = await setUp(() => ({
    status,
    headers: { 'content-type': status === 200 ? type() : 'application/json' },
    body: isStream && status === 200 ? `data: ${JSON.stringify(body)}\n\n` : JSON.stringify(body),
  }))
  const wrong: string[] = []
  let count = 0
  for (const answer of answers)
    for (body of replaced(answer))
      for (status of [200, 400, 429, 503])
        for (isStream of status === 200 ? [false, true] : [false]) {
          const response = await at.chat({ model, seed: 7, stream: isStream, n: isStream ? 1 : 2 })
          const text = await response.text()
          if (text.includes('internal_error')) wrong.push(`${status} ${isStream} ${JSON.stringify(body)} ${text}`)
          count++
        }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(500)
  // What an upstream says within an answer is given on: "Providers" in docs/security.md.
  undescribed.length = 0
})
