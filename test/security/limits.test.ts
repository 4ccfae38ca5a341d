import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import type { Endpoint } from '../endpoints/endpoints.js'
import { endpoints, paths, replied, requestOf } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import { limitedKeys } from './limited-keys.js'

const families = { openai: 'gpt-4o-mini', anthropic: 'claude-sonnet-4-5', google: 'gemini-2.5-flash' } as const
const names = Object.keys(families) as (keyof typeof families)[]

/** Keys with limits on models or money, which must not be got around by fields that the gateway does not know. */
const limits = {
  models: { models: [...Object.values(families), 'text-embedding-3-small', 'gpt-image-2', 'tts-1', 'whisper-1'] },
  budget: { budget: { usd: 1_000 } },
}

let stack: FamiliesStack
let callers: ReturnType<typeof limitedKeys>
const keys: Record<string, string> = {}
beforeAll(async () => {
  stack = await startFamilies({ EXTRA_FIELDS: 'min_p,messages.trace' })
  callers = limitedKeys(stack)
  for (const [name, limit] of Object.entries(limits)) keys[name] = await callers.create(limit)
})
afterAll(() => stack.stop())
beforeEach(() => {
  stack.fault = undefined
})

const sent = (name: keyof typeof families = 'openai') => stack.upstreams[name].requests.at(-1)!
const body = () => sent().body as Record<string, unknown>

/** An answer whatever was asked, as that of a server which takes any field. */
const anything = () =>
  replied(200, {
    id: 'chatcmpl-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 3 },
  })

/** Fields by which servers that pass requests on to others let a caller choose a model, an account or an address, or buy more. */
const routing = {
  models: ['openai/gpt-5-pro'],
  route: 'fallback',
  fallbacks: [{ model: 'gpt-5-pro' }],
  context_window_fallbacks: ['gpt-5-pro'],
  plugins: [{ id: 'web' }],
  transforms: ['middle-out'],
  preset: 'mine',
  user_config: { model_list: [] },
  headers: { authorization: 'Bearer sk-caller' },
  proxy: 'http://proxy.example',
  organization: 'org-caller',
  deployment_id: 'gpt-5-pro',
  azure_endpoint: 'https://evil.example',
  vertex_location: 'x',
  aws_bedrock_runtime_endpoint: 'https://evil.example',
  search_parameters: { mode: 'on' },
  moderation: { model: 'x' },
  best_of: 20,
  constructor: 1,
}

describe(`threat 2: fields that nobody documents, of a caller with limits, on ${runtime}`, () => {
  const fields = Object.keys(routing)

  it.each(names.flatMap((name) => Object.keys(limits).map((limit): [string, typeof name] => [limit, name])))(
    'do not reach an upstream with a key that has a limit of %s: %s',
    async (limit, name) => {
      const { status, headers } = await callers.chat({ model: families[name], ...routing }, keys[limit])
      expect(status).toBe(200)
      expect(JSON.stringify(sent(name).body)).not.toMatch(/gpt-5-pro|evil|caller|best_of|plugins|preset|"x"/)
      expect(headers.get('x-gateway-warnings')).toBe(`dropped=${fields.join(',')}`)
    },
  )

  it('do reach it with a key without limits, byte for byte', async () => {
    stack.fault = anything
    const { status, headers } = await callers.chat({ model: families.openai, ...routing })
    expect([status, headers.get('x-gateway-warnings')]).toEqual([200, null])
    expect(body()).toMatchObject(routing)
  })

  const nested = {
    messages: [
      {
        role: 'user',
        route: 'fallback',
        content: [{ type: 'text', text: 'Hi', provider: { order: ['x'] } }],
      },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'call_1', type: 'function', url: 'x', function: { name: 'f', arguments: '{}', model: 'x' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '22C', api_base: 'x' },
    ],
    tools: [
      {
        type: 'function',
        server_url: 'x',
        function: { name: 'f', model: 'x', parameters: { type: 'object', properties: { model: { type: 'string' } } } },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'f', model: 'x' } },
    response_format: { type: 'text', models: ['x'] },
    stream_options: { models: ['x'] },
    store: true,
    metadata: { tags: ['paid'], topic: 'weather', model_info: { id: 'x' } },
    user: { model: 'x' },
    stop: ['X', { model: 'x' }],
  }

  it('are dropped within messages, tools and other fields as well', async () => {
    stack.fault = anything
    const { status, headers } = await callers.chat({ model: families.openai, ...nested }, keys['models'])
    expect([status, headers.get('x-gateway-warnings')]).toEqual([400, null])
    const { stop: _, ...valid } = nested
    const answered = await callers.chat(
      { model: families.openai, ...valid, prompt_cache_key: [{ a: 1 }] },
      keys['models'],
    )
    expect(answered.status).toBe(200)
    expect(answered.headers.get('x-gateway-warnings')!.replace('dropped=', '').split(',').toSorted()).toEqual(
      [
        'messages.route',
        'messages.content.provider',
        'messages.tool_calls.url',
        'messages.tool_calls.function.model',
        'messages.api_base',
        'tools.server_url',
        'tools.function.model',
        'tool_choice.function.model',
        'response_format.models',
        'stream_options.models',
        'metadata.tags',
        'metadata.model_info',
        'user',
        'prompt_cache_key',
      ].toSorted(),
    )
    expect(JSON.stringify(body())).not.toMatch(/"x"|paid|fallback/)
    // What is the caller's own data stays, such as a JSON Schema.
    expect(body()).toMatchObject({
      metadata: { topic: 'weather' },
      tools: [{ function: { parameters: { properties: { model: { type: 'string' } } } } }],
    })
  })

  it('reach it where the operator lists them (EXTRA_FIELDS)', async () => {
    stack.fault = anything
    const messages = [{ role: 'user', content: 'Hi', trace: { id: 1 }, span: 2 }]
    const { headers } = await callers.chat({ model: families.openai, min_p: 0.1, top_a: 1, messages }, keys['budget'])
    expect(headers.get('x-gateway-warnings')).toBe('dropped=messages.span,top_a')
    expect(body()).toMatchObject({ min_p: 0.1, messages: [{ role: 'user', content: 'Hi', trace: { id: 1 } }] })
  })

  it('leave what OpenAI documents as it is', async () => {
    stack.fault = anything
    const documented = {
      logit_bias: { '1': -100 },
      logprobs: true,
      metadata: { topic: 'weather' },
      modalities: ['text'],
      parallel_tool_calls: false,
      prediction: { type: 'content', content: [{ type: 'text', text: 'Hello' }] },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      response_format: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema: { type: 'object' } } },
      safety_identifier: 's',
      seed: 1,
      service_tier: 'default',
      stop: ['X'],
      store: true,
      temperature: 0.5,
      tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object' } } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      top_logprobs: 2,
      user: 'u',
      messages: [
        { role: 'developer', name: 'd', content: [{ type: 'text', text: 'Be brief.' }] },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=', detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
        { role: 'assistant', content: 'Hello', refusal: null },
        { role: 'user', content: 'Hi' },
      ],
    }
    const { status, headers } = await callers.chat({ model: families.openai, ...documented }, keys['budget'])
    expect([status, headers.get('x-gateway-warnings')]).toEqual([200, null])
    const { messages, ...rest } = documented
    expect(body()).toMatchObject(rest)
    expect(body()['messages']).toHaveLength(messages.length)
  })

  const added: Partial<Record<Endpoint, object>> = {
    transcription: { route: 'fallback', models: 'gpt-5-pro', deployment_id: 'gpt-5-pro', 'plugins[]': 'web' },
  }

  it.each(endpoints)('nor do they for %s', async (endpoint) => {
    const more = added[endpoint] ?? routing
    const request = requestOf(endpoint, { ...(endpoint === 'chat' && { model: families.openai }), ...more })
    const { status, headers } = await callers.post(paths[endpoint], request, keys['models'])
    expect(status).toBe(200)
    const bytes = Buffer.from(sent().bytes).toString()
    expect(bytes).not.toMatch(/gpt-5-pro|fallback|plugins|evil/)
    for (const field of Object.keys(more))
      expect(headers.get('x-gateway-warnings')).toContain(field.replace('[]', '__'))
  })
})
