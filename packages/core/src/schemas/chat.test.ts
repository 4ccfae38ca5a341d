import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { ChatChunk, ChatCompletion, ChatCompletionRequest } from './chat.js'

const user = { role: 'user', content: 'Hi' }
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
const tool = { type: 'function', function: { name: 'f' } }

const many = (n: number, value: object): object[] => Array.from({ length: n }, () => value)
const request = (fields: object) => ({ model: 'gpt-4o', messages: [user], ...fields })
const parse = (fields: object) => v.parse(ChatCompletionRequest, request(fields))

/** The place of the first complaint; undefined where there is none. */
function refusedAt(fields: object): string | null | undefined {
  const result = v.safeParse(ChatCompletionRequest, request(fields))
  return result.success ? undefined : v.getDotPath(result.issues[0])
}

describe('a chat request', () => {
  it.each<[what: string, most: number, of: (n: number) => object]>([
    ['messages', 10_000, (n) => ({ messages: many(n, user) })],
    [
      'messages[0].content',
      10_000,
      (n) => ({ messages: [{ ...user, content: many(n, { type: 'text', text: 'a' }) }] }),
    ],
    ['messages[0].tool_calls', 4_096, (n) => ({ messages: [{ role: 'assistant', tool_calls: many(n, call) }] })],
    ['tools', 4_096, (n) => ({ tools: many(n, tool) })],
    ['functions', 4_096, (n) => ({ functions: many(n, { name: 'f' }) })],
  ])('has a highest number of %s', (what, most, of) => {
    expect(refusedAt(of(most))).toBeUndefined()
    expect(refusedAt(of(most + 1))).toBe(what.replace('[0]', '.0'))
  })

  it.each<[field: string, ...values: unknown[]]>([
    ['model', 'x', 'openai/gpt-4o'],
    ['stream', true, false, null],
    ['stream_options', {}, { include_usage: true }, { include_usage: false }, { include_usage: null }, null],
    ['max_tokens', 1, 10_000_000, null],
    ['max_completion_tokens', 1, 10_000_000, null],
    ['seed', 0, -1, 2 ** 63, null],
    ['top_logprobs', 0, 20, null],
    ['temperature', 0, 0.5, 2, null],
    ['top_p', 0, 0.5, 1, null],
    ['stop', 'END', '', ['a'], ['a', 'b', 'c', 'd', 'e'], [], null],
    ['system', 'Be brief', '', null],
    ['tools', [tool], [], null],
    ['tool_choice', 'auto', 'none', 'required', { type: 'function', function: { name: 'f' } }, null],
    ['provider', 'openai', 'auto', null],
    ['n', 1, 128, null],
  ])('accepts %s', (field, ...values) => {
    for (const value of values) expect(parse({ [field]: value })[field], JSON.stringify(value)).toEqual(value)
  })

  it.each<[field: string, ...values: unknown[]]>([
    ['model', '', null, 1, undefined],
    ['messages', [], null, 'Hi', {}, undefined],
    ['stream', 'true', 1, {}],
    ['stream_options', 'all', true, 1],
    ['max_tokens', 0, -1, 1.5, '1', [1], 10_000_001, 1e300],
    ['max_completion_tokens', 0, 10_000_001, 1e300],
    ['seed', 0.5, 2 ** 64, -1e300],
    ['top_logprobs', -1, 1e300],
    ['temperature', -0.1, 2.1, '1', true],
    ['top_p', -0.1, 1.1, '1', true],
    ['stop', 1, {}, [1], ['a', null]],
    ['system', 1, ['Be brief'], {}],
    ['tools', {}, 'f'],
    ['tool_choice', 'any', '', 1, [], {}, { type: 'function' }, { type: 'function', function: {} }, { type: 'tool' }],
    ['provider', 1, ['openai'], {}],
    ['n', 0, 129, 1.5, '1', -1],
  ])('refuses a wrong %s', (field, ...values) => {
    for (const value of values)
      expect(refusedAt({ [field]: value }), JSON.stringify(value)).toMatch(RegExp(`^${field}`))
  })

  it('names the path of a wrong value', () => {
    expect(refusedAt({ stream_options: { include_usage: 'true' } })).toBe('stream_options.include_usage')
    expect(refusedAt({ tools: [tool, { type: 'function', function: { name: '' } }] })).toBe('tools.1.function.name')
    expect(refusedAt({ tools: [{ type: 'search' }] })).toBe('tools.0.type')
    expect(refusedAt({ functions: [null] })).toBe('functions.0')
    expect(refusedAt({ function_call: 5 })).toBe('function_call')
    for (const function_call of [5, {}, { name: 'f' }])
      expect(refusedAt({ messages: [user, { role: 'assistant', function_call }] })).toMatch(/^messages.1.function_call/)
    expect(refusedAt({ messages: [user, { role: 'robot', content: 'x' }] })).toBe('messages.1.role')
  })

  it('refuses arrays where there is an object', () => {
    expect(refusedAt({ stream_options: [] })).toBe('stream_options')
    expect(refusedAt({ tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] })).toBe(
      'tools.0.function.parameters',
    )
  })

  it('keeps fields that the schemas do not name, in every object', () => {
    const loose = {
      seed: 7,
      response_format: { type: 'json_object' },
      metadata: { a: '1' },
      stream_options: { include_obfuscation: false },
      messages: [
        { ...user, cache_control: { type: 'ephemeral' } },
        { role: 'user', content: [{ type: 'text', text: 'x', cache: 1 }] },
        { role: 'assistant', reasoning_content: 'hm', tool_calls: [{ ...call, extra_content: { google: {} } }] },
      ],
      tools: [
        { type: 'function', strict: true, function: { name: 'f', strict: true, parameters: { type: 'object' } } },
      ],
    }
    expect(parse(loose)).toEqual(request(loose))
  })

  it('keeps prototype keys of a JSON Schema as data', () => {
    const schema = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{},"toString":{}}}'
    const { tools } = parse({ tools: [{ type: 'function', function: { name: 'f', parameters: JSON.parse(schema) } }] })
    expect(JSON.stringify((tools![0] as { function: { parameters: object } }).function.parameters)).toBe(schema)
    expect(({} as { type?: string }).type).toBeUndefined()
  })

  it('keeps prototype keys at the top of a JSON Schema', () => {
    const schema = '{"type":"object","constructor":1,"prototype":2}'
    const { tools } = parse({ tools: [{ type: 'function', function: { name: 'f', parameters: JSON.parse(schema) } }] })
    expect(JSON.stringify((tools![0] as { function: { parameters: object } }).function.parameters)).toBe(schema)
  })

  it('does not let a prototype key of the body become a field', () => {
    const body = v.parse(
      ChatCompletionRequest,
      JSON.parse('{"model":"m","messages":[{"role":"user","content":""}],"__proto__":{"n":5}}'),
    )
    expect(body.n).toBeUndefined()
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
  })

  it('keeps lone surrogates, NUL and big integers in strings', () => {
    const content = '\ud800 \0 \u2028'
    const args = '{"id":12345678901234567890}'
    const messages = [
      { role: 'user', content },
      { role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: args } }] },
    ]
    expect(parse({ messages }).messages).toEqual(messages)
  })
})

describe('a message', () => {
  const parts = (...content: object[]) => ({ role: 'user', content })
  it.each<[name: string, message: object]>([
    ['system text', { role: 'system', content: 'x', name: 'n' }],
    ['system parts', { role: 'system', content: [{ type: 'text', text: 'x' }] }],
    ['developer', { role: 'developer', content: 'x' }],
    ['user with name null', { role: 'user', content: '', name: null }],
    ['image', parts({ type: 'image_url', image_url: { url: 'https://x/y.png' } })],
    ['image detail', parts({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } })],
    ['image detail null', parts({ type: 'image_url', image_url: { url: 'x', detail: null } })],
    ['audio', parts({ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } })],
    ['file', parts({ type: 'file', file: { file_id: 'f' } })],
    ['document', parts({ type: 'document', document: {} })],
    ['video', parts({ type: 'video_url', video_url: { url: 'x' } })],
    ['assistant text', { role: 'assistant', content: 'x' }],
    ['assistant without content', { role: 'assistant', tool_calls: [call] }],
    ['assistant with null', { role: 'assistant', content: null, tool_calls: [call] }],
    ['assistant with null calls', { role: 'assistant', content: 'x', tool_calls: null }],
    ['assistant refusal', { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
    [
      'custom tool call',
      { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }] },
    ],
    ['tool', { role: 'tool', content: '42', tool_call_id: 'call_1' }],
    ['tool parts', { role: 'tool', content: [{ type: 'text', text: '42' }], tool_call_id: 'call_1' }],
    ['function', { role: 'function', content: null, name: 'f' }],
  ])('may be: %s', (_, message) => {
    expect(parse({ messages: [message] }).messages).toEqual([message])
  })

  it.each<[place: string, message: unknown]>([
    ['messages.0', null],
    ['messages.0', 'Hi'],
    ['messages.0.role', { content: 'x' }],
    ['messages.0.role', { role: 'User', content: 'x' }],
    ['messages.0.content', { role: 'user' }],
    ['messages.0.content', { role: 'user', content: null }],
    ['messages.0.content', { role: 'user', content: 1 }],
    ['messages.0.content', { role: 'system' }],
    ['messages.0.content', { role: 'tool', tool_call_id: 'x' }],
    ['messages.0.tool_call_id', { role: 'tool', content: 'x' }],
    ['messages.0.name', { role: 'user', content: 'x', name: 1 }],
    ['messages.0.name', { role: 'function', content: 'x' }],
    ['messages.0.content', parts({ type: 'text' })],
    ['messages.0.content', parts({ type: 'hologram' })],
    ['messages.0.content', parts({ type: 'image_url', image_url: 'https://x' })],
    ['messages.0.content', parts({ type: 'image_url', image_url: {} })],
    ['messages.0.content', parts({ type: 'image_url', image_url: { url: 'x', detail: 'max' } })],
    ['messages.0.tool_calls', { role: 'assistant', tool_calls: {} }],
    ['messages.0.tool_calls.0.id', { role: 'assistant', tool_calls: [{ ...call, id: undefined }] }],
    ['messages.0.tool_calls.0.type', { role: 'assistant', tool_calls: [{ ...call, type: 'tool' }] }],
    ['messages.0.tool_calls.0.function', { role: 'assistant', tool_calls: [{ id: 'x', type: 'function' }] }],
    [
      'messages.0.tool_calls.0.function.arguments',
      { role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] },
    ],
    [
      'messages.0.tool_calls.0.function.name',
      { role: 'assistant', tool_calls: [{ ...call, function: { arguments: '{}' } }] },
    ],
  ])('is refused at %s: %j', (place, message) => {
    // Below a union valibot names the union itself or a place within it.
    expect(refusedAt({ messages: [message] })?.startsWith(place)).toBe(true)
  })
})

describe('an answer', () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const message = { role: 'assistant', content: 'x' }
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  }
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  }

  it('has the documented form', () => {
    expect(v.is(ChatCompletion, answer)).toBe(true)
    for (const wrong of [
      { object: 'completion' },
      { usage: undefined },
      { usage: { ...usage, prompt_tokens: -1 } },
      { choices: [{ index: 0, message, finish_reason: 'function_call' }] },
      { choices: [{ index: 0, message, finish_reason: null }] },
      { choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'stop' }] },
      { choices: [{ index: 0, message: { ...message, tool_calls: [] }, finish_reason: 'stop' }] },
      { choices: [{ message, finish_reason: 'stop' }] },
    ])
      expect(v.is(ChatCompletion, { ...answer, ...wrong }), JSON.stringify(wrong)).toBe(false)
  })

  it('may be a chunk, with or without a usage key', () => {
    for (const fields of [{}, { usage: null }, { usage, choices: [] }])
      expect(v.is(ChatChunk, { ...chunk, ...fields }), JSON.stringify(fields)).toBe(true)
    for (const wrong of [
      { choices: undefined },
      { choices: [{ index: 0, delta: {} }] },
      { choices: [{ delta: {}, finish_reason: null }] },
      { choices: [{ index: 0, delta: { tool_calls: [{}] }, finish_reason: null }] },
      { object: 'chat.completion' },
    ])
      expect(v.is(ChatChunk, { ...chunk, ...wrong }), JSON.stringify(wrong)).toBe(false)
  })
})
