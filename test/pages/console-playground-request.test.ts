import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import {
  explanationIn,
  MOST_CALLS,
  nothing,
  reasonsOf,
  withPiece,
} from '../../examples/console/src/playground/answer.js'
import { codeOf, readable } from '../../examples/console/src/playground/code.js'
import type { Body, Draft } from '../../examples/console/src/playground/request.js'
import { bodyOf, faultsOf } from '../../examples/console/src/playground/request.js'
import { payloads } from './payloads.js'

const message = { id: 'm', role: 'user', text: '', pictures: [], calls: [], callId: '' } as const
const draft = (fields: Partial<Draft>): Draft => ({
  system: '',
  messages: [{ ...message, text: 'Hello' }],
  columns: [],
  parameters: {},
  stream: false,
  tools: '',
  format: 'text',
  schema: '',
  ...fields,
})
const column = { id: 'c', model: 'gpt-4o-mini', provider: '' }
const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(40)}`
const tool = { type: 'function', function: { name: 'get_weather' } }

it('a request of the playground has what was set, and nothing else', () => {
  const messages = [{ role: 'user', content: 'Hello' }]
  expect(bodyOf(draft({}), column)).toEqual({ model: 'gpt-4o-mini', messages })
  expect(
    bodyOf(
      draft({
        system: 'Be brief.',
        messages: [
          { ...message, text: 'What is it?', pictures: [picture, 'https://example.org/a.png'] },
          { ...message, role: 'assistant', calls: [{ id: 'call_1', name: 'get_weather', arguments: '{}' }] },
          { ...message, role: 'tool', callId: 'call_1' },
          message,
        ],
        parameters: { temperature: '0', top_p: '', max_tokens: '100', reasoning_effort: 'low', stop: 'END\n\n\\n\\n' },
        stream: true,
        tools: JSON.stringify([tool]),
        format: 'json_schema',
        schema: '{"type":"object"}',
      }),
      { ...column, provider: 'auto' },
    ),
  ).toEqual({
    model: 'gpt-4o-mini',
    provider: 'auto',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: picture } },
          { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '' },
    ],
    temperature: 0,
    max_tokens: 100,
    reasoning_effort: 'low',
    stop: ['END', '\n\n'],
    tools: [tool],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    stream: true,
    stream_options: { include_usage: true },
  })
  const named = { name: 'city', strict: true, schema: { type: 'object' } }
  expect(bodyOf(draft({ format: 'json_schema', schema: JSON.stringify(named) }), column)['response_format']).toEqual({
    type: 'json_schema',
    json_schema: named,
  })
  expect(faultsOf(draft({ messages: [message], tools: '[', format: 'json_schema', schema: '[]' }))).toEqual({
    messages: 'Write a message first.',
    tools: 'This is not JSON.',
    schema: 'This must be a schema: { "type": "object", … }.',
  })
})

it('an answer of the playground is put together from its pieces', () => {
  const pieces = [
    { role: 'assistant' as const, content: '' },
    { reasoning_content: 'Hm' },
    { content: 'Good ' },
    { content: 'morning' },
    { tool_calls: [{ index: 1, id: 'b', function: { name: 'two', arguments: '{' } }] },
    { tool_calls: [{ index: 0, id: 'a', custom: { name: 'one', input: 'x' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '}' } }] },
  ]
  expect(withPiece(nothing, pieces[0]!)).toBe(nothing)
  expect(pieces.reduce(withPiece, nothing)).toEqual({
    text: 'Good morning',
    thinking: 'Hm',
    calls: [
      { id: 'a', name: 'one', arguments: 'x' },
      { id: 'b', name: 'two', arguments: '{}' },
    ],
    hasMoreCalls: false,
  })
})

it('threat 114: an answer of the playground keeps its first calls, so that no piece costs more than these', () => {
  const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
  const pieces = Array.from({ length: 3_000 }, (_, i) => [piece(i, '{'), piece(i, '}')]).flat()
  const { calls, hasMoreCalls } = [...pieces, piece(4_000_000_000, '{}')].reduce(withPiece, nothing)
  expect(calls.map((call) => call.arguments)).toEqual(Array<string>(MOST_CALLS).fill('{}'))
  expect(hasMoreCalls).toBe(true)
})

it('what the gateway explains is told in sentences', () => {
  const explanation = explanationIn(
    new Headers({
      'x-gateway-provider': 'openai',
      'x-gateway-attempts': '2',
      'x-gateway-considered': 'local/a=b=0.0001(unhealthy); openai/gpt-4o=0.001; other/x=unpriced(context)',
      'x-gateway-warnings': 'dropped=seed,logit_bias,+3; clamped=temperature',
    }),
  )
  expect(explanation.considered).toEqual([
    { name: 'local/a=b', usd: 0.0001, reason: 'fails at present, so it comes last' },
    { name: 'openai/gpt-4o', usd: 0.001, reason: undefined },
    { name: 'other/x', usd: undefined, reason: 'the prompt is too long for it' },
  ])
  expect(explanation.warnings).toEqual([
    'The model does not take this, so it was left out: seed, logit_bias, 3 more.',
    'Changed to what the model takes: temperature.',
  ])
  expect(reasonsOf(explanation, undefined)).toEqual([
    'openai is the cheapest that can answer.',
    'It took 2 calls: another provider failed, or a parameter was refused.',
  ])
  expect(reasonsOf({ ...explanation, considered: [], attempts: 1 }, 'openai')).toEqual([
    'openai is the provider that you chose.',
  ])
})

it('the code of a request sends exactly that request', async () => {
  const content = [...payloads, `it's "quoted" $HOME \`id\` \\n\n"model":\n  "x": 1`, picture].join('\n')
  const bodies: Body[] = [
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
    {
      model: 'smart',
      provider: 'auto',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] }],
      tools: [
        { type: 'function', function: { name: 'f', parameters: { 'two words': [true, false, null, {}] } as never } },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
  ]
  const baseURL = 'https://app.example/v1'
  for (const body of bodies) {
    const curl = codeOf('bash', body, baseURL)
    const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${curl}`
    const given = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { GATEWAY_KEY: 'gw-1' } }).split('\0')
    expect(given).toContain(`${baseURL}/chat/completions`)
    expect(given).toContain('Authorization: Bearer gw-1')
    expect(JSON.parse(given.at(-2)!)).toEqual(body)

    const asked: unknown[] = []
    const settings: unknown[] = []
    class OpenAI {
      chat = { completions: { create: (given: unknown) => (asked.push(given), body.stream ? [] : { choices: [] }) } }
      constructor(given: unknown) {
        settings.push(given)
      }
    }
    const program = codeOf('typescript', body, baseURL).replace(/^import .*\n/, '')
    const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor
    await (new AsyncFunction('OpenAI', 'process', 'console', program)(
      OpenAI,
      { env: { GATEWAY_KEY: 'gw-1' } },
      { log: () => undefined },
    ) as Promise<void>)
    expect({ asked, settings }).toEqual({ asked: [body], settings: [{ baseURL, apiKey: 'gw-1' }] })
    expect(readable(curl).length).toBeLessThan(curl.length - 300)
  }
  expect(codeOf('python', { ...bodies[1]!, messages: [{ role: 'user', content: 'Hi' }] }, baseURL))
    .toMatchInlineSnapshot(`
    "import os
    from openai import OpenAI

    client = OpenAI(
        base_url="https://app.example/v1",
        api_key=os.environ["GATEWAY_KEY"],
    )

    stream = client.chat.completions.create(
        model="smart",
        messages=[
            {
                "role": "user",
                "content": "Hi",
            },
        ],
        tools=[
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "parameters": {
                        "two words": [
                            True,
                            False,
                            None,
                            {},
                        ],
                    },
                },
            },
        ],
        stream=True,
        stream_options={
            "include_usage": True,
        },
        extra_body={"provider": "auto"},
    )
    for chunk in stream:
        if chunk.choices:
            print(chunk.choices[0].delta.content or "", end="", flush=True)
    "
  `)
})
