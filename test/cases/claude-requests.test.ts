import { expect, it } from 'vitest'
import { answer, asked, claudeTool, completion, expectRefused, expectSent, says, tool } from './claude.js'
import { pass, whole } from './pass.js'

it('accepts stop as a string or a list, and omits blanks', async () => {
  await expectSent({ stop: 'X' }, { stop_sequences: ['X'] })
  await expectSent({ stop: ['\n', 'X'] }, { stop_sequences: ['X'] }, 'clamped=stop')
  await expectSent({ stop: null }, {})
})

it('always sends max_tokens', async () => {
  await expectSent({}, { max_tokens: 8192 })
  await expectSent({ model: 'claude-unheard-of' }, { model: 'claude-unheard-of', max_tokens: 4096 })
  await expectSent({ max_completion_tokens: 50, max_tokens: 100 }, { max_tokens: 50 }, 'dropped=max_tokens')
})

it('clamps temperature, and has no default', async () => {
  const model = 'claude-opus-4-8'
  await expectSent({ temperature: 1.7 }, { temperature: 1 }, 'clamped=temperature')
  await expectSent({ model, temperature: 1.7 }, { model }, 'dropped=temperature')
  await expectSent({}, {})
  await expectSent({ model }, { model })
})

it('sends temperature without top_p to the models that refuse both at once', async () => {
  const both = { temperature: 0.2, top_p: 0.9 }
  for (const model of ['claude-opus-4-1', 'claude-haiku-4-5-20251001', 'claude-opus-4-5', 'claude-sonnet-4-6'])
    await expectSent({ ...both, model, max_tokens: 9 }, { temperature: 0.2, model, max_tokens: 9 }, 'dropped=top_p')
  for (const model of ['claude-opus-4-20250514', 'claude-sonnet-4-0', 'claude-3-7-sonnet-latest', 'claude-3-opus'])
    await expectSent({ ...both, model, max_tokens: 9 }, { ...both, model, max_tokens: 9 })
})

const two = { tools: [tool('f'), tool('g')] }
const sentTwo = { tools: [claudeTool('f'), claudeTool('g')] }
const named = (name: string) => ({ type: 'function', function: { name } })

it('translates tool_choice and keeps the tools', async () => {
  await expectSent({ ...two, tool_choice: 'required' }, { ...sentTwo, tool_choice: { type: 'any' } })
  await expectSent({ ...two, tool_choice: named('g') }, { ...sentTwo, tool_choice: { type: 'tool', name: 'g' } })
  await expectSent({ ...two, tool_choice: 'none' }, { ...sentTwo, tool_choice: { type: 'none' } })
  await expectSent({ ...two, tool_choice: 'auto' }, { ...sentTwo, tool_choice: { type: 'auto' } })
  await expectRefused({ ...two, tool_choice: named('h') }, 'tool_choice names "h", which is no tool')
})

it('forbids parallel calls without a tool_choice', () =>
  expectSent(
    { ...two, parallel_tool_calls: false },
    { ...sentTwo, tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ))

it('passes on the schema of a tool unchanged', () => {
  const parameters = {
    type: 'object',
    description: 'Where and how',
    $defs: { unit: { type: 'string', enum: ['C', 'F'] } },
    properties: {
      place: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
      unit: { $ref: '#/$defs/unit' },
      detail: {
        type: 'object',
        properties: { level: { enum: ['low', 'high', 3, null] } },
        additionalProperties: false,
      },
    },
    required: ['place'],
    additionalProperties: false,
  }
  return expectSent(
    { tools: [{ type: 'function', function: { name: 'f', description: 'Looks', parameters } }] },
    { tools: [{ name: 'f', description: 'Looks', input_schema: parameters }] },
  )
})

it('gives a tool without parameters an empty object', () =>
  expectSent(
    { tools: [tool('f'), { type: 'function', function: { name: 'g', parameters: null } }] },
    {
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { name: 'g', input_schema: { type: 'object', properties: {} } },
      ],
    },
  ))

it('enforces a JSON Schema, by a tool on models without that feature', async () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1, maximum: 5 } },
    required: ['n'],
  }
  const response_format = { type: 'json_schema', json_schema: { name: 'count', schema } }

  const newer = await pass('anthropic', { response_format }, answer({ content: [says('{"n":3}')] }))
  const held = {
    type: 'object',
    properties: { n: { type: 'integer', description: '(minimum: 1, maximum: 5)' } },
    required: ['n'],
    additionalProperties: false,
  }
  expect(newer.sent.map(({ body }) => body)).toEqual([
    { ...asked, output_config: { format: { type: 'json_schema', schema: held } } },
  ])

  const model = 'claude-sonnet-4-20250514'
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'json', input: { n: 3 } }]
  const older = await pass('anthropic', { model, response_format }, answer({ content, stop_reason: 'tool_use' }))
  expect(older.sent.map(({ body }) => body)).toEqual([
    {
      ...asked,
      model,
      tools: [{ name: 'json', input_schema: schema }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
  ])
  expect(older.headers.get('x-gateway-warnings')).toBe('emulated=response_format')

  for (const { status, text } of [newer, older]) {
    expect(status).toBe(200)
    expect(text).toBe(completion('"content":"{\\"n\\":3}","refusal":null', 'stop'))
  }
})

it('makes two calls for n = 2, and sums their usage', async () => {
  const answers = [
    answer({ content: [says('One.')] }),
    answer({ content: [says('Two.')], usage: { input_tokens: 12, cache_read_input_tokens: 5, output_tokens: 7 } }),
  ]
  const { status, text, sent, records } = await pass('anthropic', { n: 2 }, () => answers.shift()!)
  expect(sent.map(({ body }) => body)).toEqual([asked, asked])
  expect(status).toBe(200)
  expect(text).toBe(
    '{"id":"msg_1","object":"chat.completion","created":0,"model":"claude-sonnet-4-5-20250929","choices":[' +
      '{"index":0,"message":{"role":"assistant","content":"One.","refusal":null},"logprobs":null,"finish_reason":"stop"},' +
      '{"index":1,"message":{"role":"assistant","content":"Two.","refusal":null},"logprobs":null,"finish_reason":"stop"}],' +
      '"usage":{"prompt_tokens":29,"completion_tokens":37,"total_tokens":66,' +
      '"prompt_tokens_details":{"cached_tokens":5,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}',
  )
  expect(records).toMatchObject([{ prompt_tokens: 29, completion_tokens: 37, accuracy: 'reported' }])
})

it('adds the thinking budget to max_tokens, and omits temperature', () =>
  expectSent(
    { reasoning_effort: 'high', max_tokens: 500, temperature: 0.5 },
    { thinking: { type: 'enabled', budget_tokens: 16_384 }, max_tokens: 16_884 },
    'dropped=temperature',
  ))

it('does not forward fields that Claude does not know', () =>
  expectSent(
    { logit_bias: { 50256: -100 }, store: true, metadata: { team: 'red' }, heard_of: 'never' },
    {},
    'dropped=logit_bias,store,metadata,heard_of',
  ))

it('forwards neither the provider nor the system field, to any family', async () => {
  await expectSent({ provider: 'anthropic' }, {})
  await expectSent({ provider: 'auto', system: 'Be brief' }, { system: [says('Be brief')] })

  const openai = await pass(
    'openai',
    { provider: 'openai', system: 'Be brief' },
    whole({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 5,
      model: 'gpt-4o-2024-08-06',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.', refusal: null }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 },
    }),
  )
  expect(openai.sent.map(({ body }) => body)).toEqual([
    {
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
    },
  ])
  expect(openai.status).toBe(200)
  expect(openai.text).toBe(
    '{"id":"chatcmpl-1","object":"chat.completion","created":0,"model":"gpt-4o-2024-08-06","choices":[{"index":0,' +
      '"message":{"role":"assistant","content":"Hello.","refusal":null},"finish_reason":"stop"}],' +
      '"usage":{"prompt_tokens":12,"completion_tokens":30,"total_tokens":42}}',
  )

  const google = await pass(
    'google',
    { provider: 'gemini', system: 'Be brief' },
    whole({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 30, totalTokenCount: 42 },
      modelVersion: 'gemini-2.5-flash',
    }),
  )
  expect(google.sent.map(({ body }) => body)).toEqual([
    {
      systemInstruction: { parts: [{ text: 'Be brief' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    },
  ])
  expect(google.status).toBe(200)
  expect(google.text).toBe(
    '{"id":"chatcmpl-new","object":"chat.completion","created":0,"model":"gemini-2.5-flash","choices":[{"index":0,' +
      '"message":{"role":"assistant","content":"Hello.","refusal":null},"logprobs":null,"finish_reason":"stop"}],' +
      '"usage":{"prompt_tokens":12,"completion_tokens":30,"total_tokens":42,' +
      '"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}',
  )
})
