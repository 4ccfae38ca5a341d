import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { scriptedUpstream } from '../../../../test/support/upstream.js'
import { openaiRefusal } from '../testing/openai-rules.js'
import { openaiChat } from './chat.js'
import { openai } from './index.js'

const messages: ChatCompletionRequest['messages'] = [{ role: 'user', content: 'Hi' }]

/** What is sent and noted of fields for a model at an address. */
function fitted(baseURL: string | undefined, fields: object) {
  const { body, notes, maxOutput } = openaiChat('x', baseURL === undefined ? {} : { baseURL }).request({
    model: 'm',
    messages,
    ...fields,
  })
  return {
    sent: JSON.parse(JSON.stringify(body)) as Record<string, unknown> & { messages: object[] },
    notes: notes.map(({ field, action }) => `${action}=${field}`),
    maxOutput,
  }
}

describe('D1: the role developer', () => {
  const told = [{ role: 'developer', content: 'Be brief.', name: 'x' }, ...messages]
  it.each(
    `deepseek-chat deepseek-v4-pro kimi-k3 glm-5.3-flash mistral-large-latest qwen3-max my-deployment gpt-oss-120b openai/gpt-oss-20b meta-llama/Llama-3.3-70B-Instruct accounts/x/models/y grok-4 omni gpt-neox-20b gpt-j-6b gpt-sw3-20b`.split(
      ' ',
    ),
  )('is system to %s', (model) => {
    const { sent, notes } = fitted(undefined, { model, messages: told })
    expect(openaiRefusal(sent)).toBeUndefined()
    expect(openaiRefusal({ ...sent, messages: told })).toBeDefined()
    expect([sent.messages, notes]).toEqual([[{ role: 'system', content: 'Be brief.', name: 'x' }, ...messages], []])
  })
  it.each([
    'gpt-4o',
    'gpt-5.5',
    'o3',
    'o4-mini',
    'chatgpt-4o-latest',
    'ft:gpt-4.1:org::id',
    'chat-latest',
    'codex-mini-latest',
  ])('stays as it is to %s', (model) =>
    expect(fitted(undefined, { model, messages: told }).sent.messages).toEqual(told),
  )
  it('is sent so by a provider, and the given request stays as it is', async () => {
    const at = scriptedUpstream({ body: { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] } })
    const provider = openai({ apiKey: 'k', baseURL: 'http://vllm.internal:8000/v1', transport: at.transport })
    const request = { model: 'qwen3-32b', messages: told } as ChatCompletionRequest
    const before = structuredClone(request)
    await provider.chat.complete(request, at.call)
    expect(at.asked[0]!.body).toMatchObject({ messages: [{ role: 'system' }, { role: 'user' }] })
    expect(request).toEqual(before)
  })
})

describe('B6: an answer that comes last', () => {
  const said = { role: 'assistant', content: 'It is' }
  it.each(
    `anthropic/claude-opus-4.6 anthropic/claude-sonnet-4-6 claude-opus-5 us.anthropic.claude-opus-4-7-v1 bedrock/claude-haiku-5-5 claude-opus-4-10 claude-fable-5 google/gemini-3.8-flash gemini-4-argon`.split(
      ' ',
    ),
  )('is followed by a turn that asks %s to go on', (model) => {
    for (const given of [
      [...messages, said],
      [...messages, said, { role: 'system', content: 'Be brief.' }],
    ]) {
      const { sent, notes } = fitted('https://openrouter.ai/api/v1', { model, messages: given })
      expect(sent.messages).toEqual([...given, { role: 'user', content: expect.stringContaining('Go on') as string }])
      expect(notes).toEqual(['emulated=messages'])
      expect(openaiRefusal(sent)).toBeUndefined()
    }
    expect(fitted(undefined, { model, messages: [...messages, said, ...messages] }).notes).toEqual([])
  })
  it.each(
    `anthropic/claude-opus-4.5 claude-sonnet-4-20250514 claude-sonnet-4-5-20250929 claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219 google/gemini-3.5-flash gemini-3-pro-preview deepseek-chat gpt-4o`.split(
      ' ',
    ),
  )('stays the last for %s', (model) => {
    const { sent, notes } = fitted('https://openrouter.ai/api/v1', { model, messages: [...messages, said] })
    expect([sent.messages, notes]).toEqual([[...messages, said], []])
  })
  it('is marked for Mistral', () => {
    const at = (given: object[]) =>
      fitted('https://api.mistral.ai/v1', { model: 'mistral-large-latest', messages: given })
    expect(at([...messages, said])).toMatchObject({
      sent: { messages: [...messages, { ...said, prefix: true }] },
      notes: [],
    })
    expect(at([...messages, said, ...messages]).sent.messages[1]).toEqual(said)
  })
})

describe('a server is sent what it knows', () => {
  const mistral = 'https://api.mistral.ai/v1'
  const deepseek = 'https://api.deepseek.com'
  const groq = 'https://api.groq.com/openai/v1'
  it.each<[what: string, baseURL: string | undefined, fields: object, sent: object, notes: string[]]>([
    ['Mistral', mistral, { max_completion_tokens: 9, seed: 7 }, { max_tokens: 9, random_seed: 7 }, []],
    ['Mistral', mistral, { max_tokens: 5, max_completion_tokens: 9 }, { max_tokens: 5 }, []],
    ['Mistral', mistral, { store: true, logprobs: true }, {}, ['dropped=store', 'dropped=logprobs']],
    ['Mistral', mistral, { store: false, stream: true }, { stream: true }, []],
    ['Mistral', 'https://codestral.mistral.ai/v1/', { seed: 7 }, { random_seed: 7 }, []],
    ['DeepSeek', deepseek, { max_completion_tokens: 9, seed: 7 }, { max_tokens: 9, seed: 7 }, []],
    ['Ollama', 'http://localhost:11434/v1', { max_completion_tokens: 9 }, { max_tokens: 9 }, []],
    ['Groq', groq, { logprobs: true, logit_bias: { 1: 2 } }, {}, ['dropped=logprobs', 'dropped=logit_bias']],
    [
      'Grok',
      'https://api.x.ai/v1',
      { model: 'grok-4.6', presence_penalty: 0, frequency_penalty: 1 },
      {},
      ['dropped=frequency_penalty'],
    ],
    [
      'Grok elsewhere',
      'https://proxy.example/v1',
      { model: 'x-ai/grok-4', presence_penalty: 1 },
      {},
      ['dropped=presence_penalty'],
    ],
    ['Grok 3', 'https://api.x.ai/v1', { model: 'grok-3', presence_penalty: 1 }, { presence_penalty: 1 }, []],
    [
      'any other',
      'https://notmistral.ai.example/v1',
      { max_completion_tokens: 9, seed: 7 },
      { max_completion_tokens: 9, seed: 7 },
      [],
    ],
  ])('%s (%s) with %j', (_, baseURL, fields, expected, notes) => {
    const { sent, notes: noted } = fitted(baseURL, fields)
    const { model: __, messages: ___, ...rest } = sent
    expect([rest, noted]).toEqual([expected, notes])
  })

  it('OpenAI has metadata of what is stored only', () => {
    const metadata = { a: 'b' }
    for (const at of [undefined, 'https://eu.api.openai.com/v1', 'https://mine.openai.azure.com/openai/v1'])
      for (const model of ['gpt-4o', 'gpt-5.5', 'o3', 'my-deployment']) {
        expect(fitted(at, { model, metadata }).notes).toEqual(['dropped=metadata'])
        expect(fitted(at, { model, metadata, store: true })).toMatchObject({ sent: { metadata }, notes: [] })
      }
    expect(openaiRefusal({ model: 'gpt-4o', messages, metadata })).toBeDefined()
    expect(fitted('https://proxy.example/v1', { model: 'gpt-4o', metadata })).toMatchObject({
      sent: { metadata },
      notes: [],
    })
  })

  it('and its limit stays known', () => {
    expect(fitted(mistral, { max_completion_tokens: 9 }).maxOutput).toBe(9)
  })

  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } }
  const words = `Answer with JSON and nothing else, without a code fence. It must be valid by this JSON Schema: ${JSON.stringify(schema)}`
  it('DeepSeek is told a schema in words', () => {
    expect(fitted(deepseek, { response_format })).toMatchObject({
      sent: { response_format: { type: 'json_object' }, messages: [{ role: 'system', content: words }, ...messages] },
      notes: ['emulated=response_format'],
    })
    const own = [{ role: 'developer', content: 'Be brief.' }, ...messages]
    expect(fitted(deepseek, { response_format, messages: own }).sent.messages).toEqual([
      { role: 'system', content: `Be brief.\n\n${words}` },
      ...messages,
    ])
    expect(fitted(deepseek, { response_format, system: 'Be brief.' }).sent.messages[0]).toEqual({
      role: 'system',
      content: `Be brief.\n\n${words}`,
    })
    expect(fitted(deepseek, { response_format: { type: 'json_object' } })).toMatchObject({
      sent: { response_format: { type: 'json_object' }, messages },
      notes: [],
    })
  })

  it('Groq has no names of messages, and Groq and Cerebras no thoughts', () => {
    const history = [
      { role: 'user', content: 'Hi', name: 'bob' },
      {
        role: 'assistant',
        content: 'a',
        reasoning_content: 'Hm.',
        reasoning_details: [{ type: 'reasoning.text' }],
      },
    ]
    const model = 'openai/gpt-oss-120b'
    const bare = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'a' },
    ]
    expect(fitted(groq, { model, messages: history })).toEqual({
      sent: { model, messages: bare },
      notes: ['dropped=messages.name', 'dropped=messages.reasoning_details'],
    })
    expect(fitted('https://api.cerebras.ai/v1', { model, messages: history }).sent.messages).toEqual([
      history[0],
      bare[1],
    ])
    expect(fitted('https://api.together.xyz/v1', { model, messages: history }).sent.messages).toEqual(history)
  })

  it.each(['https://api.mistral.ai/v1', 'https://proxy.example/v1'])(
    'models of Mistral have no thoughts at %s',
    (at) => {
      const thought = { role: 'assistant', content: 'a', reasoning_content: 'Hm.' }
      for (const model of ['mistral-large-latest', 'magistral-medium-latest'])
        expect(fitted(at, { model, messages: [...messages, thought, ...messages] }).sent.messages).toEqual([
          ...messages,
          { role: 'assistant', content: 'a' },
          ...messages,
        ])
    },
  )

  it('models of Mistral get ids of nine letters and digits, wherever they are', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
    const ids = ['call_PTLP8xhu3uwZk4l3nlnrrJha', 'call_PTLP8xhu3uwZk4l3nlnrrJhb', 'abcDEF123']
    const history = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: ids.map(call) },
      ...ids.map((tool_call_id) => ({ role: 'tool', tool_call_id, content: '1' })),
    ]
    for (const model of [
      'mistral-large-latest',
      'mistralai/Devstral-Small-2507',
      'open-mixtral-8x7b',
      'ministral-3b-latest',
    ]) {
      const { sent } = fitted('http://localhost:8000/v1', { model, messages: history })
      const [, assistant, ...results] = sent.messages as { tool_calls: { id: string }[]; tool_call_id: string }[]
      const made = assistant!.tool_calls.map(({ id }) => id)
      for (const id of made) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
      expect([new Set(made).size, made[2], results.map(({ tool_call_id }) => tool_call_id)]).toEqual([
        3,
        'abcDEF123',
        made,
      ])
    }
    expect(fitted('http://localhost:8000/v1', { model: 'qwen3', messages: history }).sent.messages).toEqual(history)
  })
})
