// Longer than 250 lines: items 48 to 59 of one list, told with the same messages.
import { expect, it, vi } from 'vitest'
import { pass, stream, whole } from './pass.js'

const user = { role: 'user', content: 'Hi' }
const hi = { role: 'user', parts: [{ text: 'Hi' }] }
const greeting = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  responseId: 'r1',
}
const greeted = (model: string): string =>
  `{"id":"chatcmpl-r1","object":"chat.completion","created":0,"model":"${model}","choices":[{"index":0,` +
  '"message":{"role":"assistant","content":"Hello","refusal":null},"logprobs":null,"finish_reason":"stop"}],' +
  '"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4,' +
  '"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}'

/** Expects a request to reach Gemini as `body`, and the greeting to reach the client. */
async function expectSent(request: Record<string, unknown>, body: object, warnings: string | null = null) {
  const { model = 'gemini-2.5-flash' } = request as { model?: string }
  const { status, headers, text, sent } = await pass('google', request, whole(greeting))
  expect(sent.map(({ body }) => body)).toEqual([body])
  expect(status).toBe(200)
  expect(headers.get('x-gateway-warnings')).toBe(warnings)
  expect(text).toBe(greeted(model))
}

/** Expects a request to be refused before anything is sent. */
async function expectRefused(request: object, code: string, message: string) {
  const { status, text, sent } = await pass('google', request, whole(greeting))
  expect(sent).toEqual([])
  expect(status).toBe(400)
  expect(text).toBe(`{"error":{"type":"invalid_request_error","message":"${message}","code":"${code}"}}`)
}

const call = (id: string, name: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: '{"x":1}' },
  ...more,
})
const calls = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls })
const result = (tool_call_id: string, content: string) => ({ role: 'tool', tool_call_id, content })

const functionCall = (name: string, more: object = {}) => ({ functionCall: { name, args: { x: 1 }, ...more } })
const functionResponse = (name: string, response: object, more: object = {}) => ({
  functionResponse: { name, response, ...more },
})

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })

it('takes system messages from anywhere, and one of nothing else as a user turn', async () => {
  const messages = [
    { role: 'system', content: 'One.' },
    user,
    { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content: 'And now?' },
    { role: 'system', content: 'Three.' },
  ]
  await expectSent(
    { system: 'Zero.', messages },
    {
      systemInstruction: { parts: [{ text: 'Zero.' }, { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] },
      contents: [hi, { role: 'model', parts: [{ text: 'Yes?' }] }, { role: 'user', parts: [{ text: 'And now?' }] }],
    },
  )
  await expectSent(
    { messages: [{ role: 'system', content: 'One.' }] },
    { contents: [{ role: 'user', parts: [{ text: 'One.' }] }] },
    'emulated=messages',
  )
})

it('keeps text and calls in one content, and their results in the next', async () => {
  const messages = [
    user,
    { ...calls(call('call_1', 'a'), call('call_2', 'b')), content: 'Two calls.' },
    result('call_1', '{"t":22}'),
    result('call_2', '{"t":23}'),
    { role: 'user', content: 'Thanks' },
  ]
  await expectSent(
    { messages },
    {
      contents: [
        hi,
        { role: 'model', parts: [{ text: 'Two calls.' }, functionCall('a'), functionCall('b')] },
        { role: 'user', parts: [functionResponse('a', { t: 22 }), functionResponse('b', { t: 23 })] },
        { role: 'user', parts: [{ text: 'Thanks' }] },
      ],
    },
  )
})

it('puts the results of the same tool in the order of its calls, with ids only from Gemini', async () => {
  const history = (first: string, second: string) => ({
    messages: [user, calls(call(first, 'a'), call(second, 'a')), result(second, 'two'), result(first, 'one')],
  })
  await expectSent(history('call_1', 'call_2'), {
    contents: [
      hi,
      { role: 'model', parts: [functionCall('a'), functionCall('a')] },
      {
        role: 'user',
        parts: [functionResponse('a', { output: 'one' }), functionResponse('a', { output: 'two' })],
      },
    ],
  })
  await expectSent(history('fc-1', 'fc-2'), {
    contents: [
      hi,
      { role: 'model', parts: [functionCall('a', { id: 'fc-1' }), functionCall('a', { id: 'fc-2' })] },
      {
        role: 'user',
        parts: [
          functionResponse('a', { output: 'one' }, { id: 'fc-1' }),
          functionResponse('a', { output: 'two' }, { id: 'fc-2' }),
        ],
      },
    ],
  })
})

it('sends a JSON object as it is and wraps every other result', async () => {
  const results: [content: string, response: object][] = [
    ['22C', { output: '22C' }],
    ['{"t":{"c":22}}', { t: { c: 22 } }],
    ['[22,23]', { output: '[22,23]' }],
    ['22', { output: '22' }],
  ]
  for (const [content, response] of results)
    await expectSent(
      { messages: [user, calls(call('call_1', 'a')), result('call_1', content)] },
      {
        contents: [
          hi,
          { role: 'model', parts: [functionCall('a')] },
          { role: 'user', parts: [functionResponse('a', response)] },
        ],
      },
    )
})

it('sends parameters as JSON Schema', async () => {
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      city: { type: ['string', 'null'] },
      day: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      unit: { const: 'C' },
    },
    required: ['city'],
    additionalProperties: false,
  }
  await expectSent(
    { tools: [tool('a', { description: 'Weather', parameters })] },
    {
      contents: [hi],
      tools: [{ functionDeclarations: [{ name: 'a', description: 'Weather', parametersJsonSchema: parameters }] }],
    },
  )
})

it('sends a schema that refers to itself unchanged', async () => {
  const parameters = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: {
      node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } },
    },
  }
  await expectSent(
    { tools: [tool('a', { parameters })] },
    { contents: [hi], tools: [{ functionDeclarations: [{ name: 'a', parametersJsonSchema: parameters }] }] },
  )
})

it('forces a named tool, and forbids all while they stay declared', async () => {
  const tools = [tool('a'), tool('b')]
  const declared = [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }]
  await expectSent(
    { tools, tool_choice: { type: 'function', function: { name: 'b' } } },
    {
      contents: [hi],
      tools: declared,
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['b'] } },
    },
  )
  await expectSent(
    { tools, tool_choice: 'none' },
    { contents: [hi], tools: declared, toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
  )
})

it('returns a signature with its call, and sends Gemini 3 a replacement for a missing one', async () => {
  const signed = { extra_content: { google: { thought_signature: 'sig' } } }
  const history = (model: string, first: object, second: object) => ({
    model,
    messages: [
      user,
      calls(call('call_1', 'a', first), call('call_2', 'b', second)),
      result('call_1', 'one'),
      result('call_2', 'two'),
    ],
  })
  const sent = (first: object, second: object) => ({
    contents: [
      hi,
      {
        role: 'model',
        parts: [
          { ...functionCall('a'), ...first },
          { ...functionCall('b'), ...second },
        ],
      },
      {
        role: 'user',
        parts: [functionResponse('a', { output: 'one' }), functionResponse('b', { output: 'two' })],
      },
    ],
  })
  const gemini3 = 'gemini-3-flash-preview'
  await expectSent(history(gemini3, signed, {}), sent({ thoughtSignature: 'sig' }, {}))
  await expectSent(history('gemini-2.5-flash', {}, signed), sent({}, { thoughtSignature: 'sig' }))
  await expectSent(history(gemini3, {}, {}), sent({ thoughtSignature: 'skip_thought_signature_validator' }, {}))
  await expectSent(history('gemini-2.5-flash', {}, {}), sent({}, {}))
})

// The gateway fetches nothing unless its option remoteContent says so, so that there is no redirect to follow.
it('refuses an https image and fetches nothing by default', async () => {
  const fetch = vi.spyOn(globalThis, 'fetch')
  const image = (url: string) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  })
  for (const url of ['https://example.com/a.png', 'https://127.0.0.1/a.png'])
    await expectRefused(
      image(url),
      'unsupported_parameter',
      'Gemini does not fetch https URLs; the gateway does so only with the option remoteContent',
    )
  await expectRefused(image('http://127.0.0.1/a.png'), 'invalid_body', 'Only https and data URLs are accepted')
  expect(fetch).not.toHaveBeenCalled()
  fetch.mockRestore()
})

it('renames parameters, and drops penalties where they are refused', async () => {
  const fields = { max_tokens: 100, stop: 'X', top_p: 0.9, seed: 7, frequency_penalty: 0.5, presence_penalty: -0.5 }
  const generationConfig = { maxOutputTokens: 100, stopSequences: ['X'], topP: 0.9, seed: 7 }
  await expectSent(fields, { contents: [hi], generationConfig }, 'dropped=frequency_penalty,presence_penalty')
  await expectSent(
    { model: 'gemini-2.0-flash', ...fields },
    { contents: [hi], generationConfig: { ...generationConfig, frequencyPenalty: 0.5, presencePenalty: -0.5 } },
  )
})

it('sets thinking by level or by budget, never by both', async () => {
  const clamped = 'clamped=reasoning_effort'
  const efforts: [model: string, reasoning_effort: string, thinkingConfig: object, warnings: string | null][] = [
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }, clamped],
    ['gemini-3.1-pro-preview', 'none', { thinkingLevel: 'low' }, clamped],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, null],
    ['gemini-3-flash-preview', 'high', { thinkingLevel: 'high', includeThoughts: true }, null],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }, null],
  ]
  for (const [model, reasoning_effort, thinkingConfig, warnings] of efforts)
    await expectSent({ model, reasoning_effort }, { contents: [hi], generationConfig: { thinkingConfig } }, warnings)
})

it('sends its key in a header and never in the URL', async () => {
  const address = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash'
  const headers = {
    'accept-encoding': 'identity',
    'x-goog-api-key': 'AIza-upstream',
    'user-agent': 'turnpike',
    'content-type': 'application/json',
  }
  const body = { contents: [hi] }

  const once = await pass('google', {}, whole(greeting))
  expect(once.sent).toEqual([
    { url: `${address}:generateContent`, headers: { ...headers, accept: 'application/json' }, body },
  ])
  expect(once.status).toBe(200)
  expect(once.text).toBe(greeted('gemini-2.5-flash'))

  const streamed = await pass('google', { stream: true }, stream(greeting))
  expect(streamed.sent).toEqual([
    { url: `${address}:streamGenerateContent?alt=sse`, headers: { ...headers, accept: 'text/event-stream' }, body },
  ])
  expect(streamed.status).toBe(200)
  const head = '{"id":"chatcmpl-r1","created":0,"model":"gemini-2.5-flash","object":"chat.completion.chunk","choices":['
  expect(streamed.text).toBe(
    `data: ${head}{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}\n\n` +
      `data: ${head}{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
  )
})
