import type { ChatCompletion, ChatCompletionRequest, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { openaiRefusal } from '../testing/openai-rules.js'
import { openaiChat } from './chat.js'

const messages: ChatCompletionRequest['messages'] = [{ role: 'user', content: 'Hi' }]
const request = (fields: Partial<ChatCompletionRequest> = {}): ChatCompletionRequest => ({
  model: 'gpt-4o',
  messages,
  ...fields,
})

const { request: ask } = openaiChat('openai')
const toRequest = (given: ChatCompletionRequest): object => ask(given).body!

describe('a request to OpenAI', () => {
  it('is sent unchanged to /chat/completions', () => {
    const given = request({
      temperature: 0.5,
      stop: ['x'],
      seed: 7,
      logit_bias: { '1': -100 },
      store: true,
      metadata: { a: 'b' },
    })
    expect(openaiChat('openai').request(given)).toEqual({ path: '/chat/completions', body: given, notes: [] })
  })

  it('has no provider and no system field', () => {
    const body = toRequest(request({ provider: 'openai', system: 'Be brief' }))
    expect(body).toEqual({
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
    })
  })

  it('puts the system field before system messages', () => {
    const own: ChatCompletionRequest['messages'] = [{ role: 'system', content: 'Own' }, ...messages]
    expect(toRequest(request({ system: 'Be brief', messages: own }))).toMatchObject({
      messages: [{ content: 'Be brief' }, { content: 'Own' }, { content: 'Hi' }],
    })
    expect(toRequest(request({ system: '' }))).toEqual(request())
  })

  it('does not change the given request', () => {
    const given = request({ model: 'gpt-5', stream: true, system: 'x', max_tokens: 5, stream_options: {} })
    const copy = structuredClone(given)
    toRequest(given)
    expect(given).toEqual(copy)
  })

  it('requests usage in a stream, and only there', () => {
    const options = (fields: object) => (toRequest(request(fields)) as ChatCompletionRequest).stream_options
    expect(options({ stream: true })).toEqual({ include_usage: true })
    expect(options({ stream: true, stream_options: null })).toEqual({ include_usage: true })
    expect(options({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } })).toEqual({
      include_usage: true,
      include_obfuscation: false,
    })
    for (const fields of [{}, { stream: false, stream_options: { include_usage: true } }])
      expect(toRequest(request(fields))).toHaveProperty('stream_options', undefined)
  })

  it.each(['gpt-5.1', 'gpt-5-mini', 'o1', 'o3-mini', 'o4-mini'])('to %s has max_completion_tokens only', (model) => {
    expect(toRequest(request({ model, max_tokens: 5 }))).toEqual({ model, messages, max_completion_tokens: 5 })
    expect(toRequest(request({ model, max_tokens: 5, max_completion_tokens: 9 }))).toEqual({
      model,
      messages,
      max_completion_tokens: 9,
    })
  })

  const penalties = { frequency_penalty: 0.5, presence_penalty: -1 }
  const sampling = { temperature: 0.2, top_p: 0.5, logprobs: true, top_logprobs: 2, logit_bias: { '1': -100 } }
  const defaults = { frequency_penalty: 0, presence_penalty: 0, temperature: 1, top_p: 1, logprobs: false }
  const stop = ['x']

  it.each<[models: string[], dropped: object]>([
    [['gpt-4o', 'gpt-4.1-nano', 'my-o3', 'accounts/x/o3'], {}],
    [['gpt-5-chat-latest'], penalties],
    [['gpt-5.1', 'gpt-5.2-2025-12-11'], { ...penalties, stop }],
    [['gpt-5.5'], { ...penalties, ...sampling }],
    [['o1', 'o1-2024-12-17', 'o3-mini', 'ft:o1:org::id'], { ...penalties, ...sampling }],
    [['o3', 'o4-mini', 'ft:o4-mini-2025-04-16:org::id'], { ...penalties, ...sampling, stop }],
    [['gpt-5', 'gpt-5-nano', 'gpt-5-mini-2025-08-07'], { ...penalties, ...sampling, stop }],
  ])('to %j has none of %o, with a note', (models, dropped) => {
    const given = { ...penalties, ...sampling, stop }
    for (const model of models) {
      const { body, notes } = ask(request({ model, ...given }))
      const kept = Object.fromEntries(Object.entries(given).filter(([field]) => !(field in dropped)))
      expect(body).toEqual({ model, messages, ...kept })
      expect(notes).toEqual(Object.keys(dropped).map((field) => ({ field, action: 'dropped' })))
      expect(ask(request({ model, ...defaults })).notes).toEqual([])
    }
  })

  it('has no sampling where gpt-5.1 and later models are told to reason', () => {
    const fields = (reasoning_effort?: string) =>
      ask(request({ model: 'gpt-5.1', ...sampling, reasoning_effort })).notes.map(({ field }) => field)
    expect(fields('low')).toEqual(Object.keys(sampling))
    expect(fields('none')).toEqual([])
    expect(fields()).toEqual([])
  })

  const thought = { role: 'assistant', content: 'a', reasoning_content: 'Hm.' }
  const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }
  const extra_content = { google: { thought_signature: 's' } }
  const history = [
    ...messages,
    thought,
    {
      role: 'assistant',
      tool_calls: [
        { ...call, extra_content },
        { ...call, id: 'y' },
      ],
      reasoning_content: 'Hm.',
    },
    { role: 'tool', tool_call_id: 'x', content: '1' },
  ] as ChatCompletionRequest['messages']
  const called = { role: 'assistant', tool_calls: [call, { ...call, id: 'y' }] }

  it('has no empty list of tools or calls, and no answer without content', () => {
    const said = (more: object) => [...messages, { role: 'assistant', ...more }, ...messages]
    const sent = (more: object, model = 'gpt-4o') => {
      const made = ask(request({ model, messages: said(more) as never, tools: [] }))
      expect(made.notes).toEqual([])
      return JSON.parse(JSON.stringify(made.body)) as { messages: object[]; tools?: object[] }
    }
    for (const model of ['gpt-4o', 'deepseek-chat', 'my-model']) {
      expect(sent({ content: 'a', tool_calls: [] }, model)).toEqual({ model, messages: said({ content: 'a' }) })
      expect(sent({ tool_calls: [] }, model).messages).toEqual(said({ content: '' }))
      expect(sent({ reasoning_content: 'Hm.' }, model).messages[1]).toMatchObject({ content: '' })
    }
    expect(sent({ content: null, refusal: 'No' }).messages).toEqual(said({ content: null, refusal: 'No' }))
  })

  it.each<[models: string[], fields: string[]]>([
    [['gpt-4o', 'o3', 'mistral-large-latest', 'deepseek-reasoner', 'gpt-oss-120b'], []],
    [['openai/gpt-oss-20b', 'x-ai/grok-5'], ['reasoning_details']],
    [
      ['claude-sonnet-5', 'anthropic/claude-opus-5.5', 'bedrock/claude-haiku-5-5'],
      ['reasoning_details', 'thinking_blocks'],
    ],
  ])('to %j has the thoughts of other answers in %j', (models, fields) => {
    const reasoning_details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's' }]
    const thinking_blocks = [{ type: 'thinking', thinking: 'Hm.', signature: 's' }]
    for (const model of models) {
      const said = { role: 'assistant', content: 'a', reasoning_details, thinking_blocks }
      const { body } = ask(request({ model, messages: [...messages, said] as never }))
      const [, sent] = JSON.parse(JSON.stringify(body)).messages as object[]
      expect(Object.keys(sent!)).toEqual(['role', 'content', ...fields])
    }
  })

  it.each<[models: string[], sent: object[]]>([
    [
      ['gpt-4o', 'o3', 'ft:gpt-4o:org::id', 'chatgpt-4o-latest'],
      [...messages, { role: 'assistant', content: 'a' }, called, history[3]!],
    ],
    [
      ['deepseek-reasoner', 'qwen3-max', 'gpt-oss-120b', 'openai/gpt-oss-20b'],
      [...messages, thought, { ...called, reasoning_content: 'Hm.' }, history[3]!],
    ],
    [['gemini-3-pro-preview', 'google/gemini-3-flash-preview', 'models/gemini-2.5-pro'], history],
  ])('to %j has no fields of other families in its history', (models, sent) => {
    for (const model of models) {
      const given = request({ model, messages: history })
      const before = structuredClone(given)
      const { body, notes } = ask(given)
      expect([JSON.parse(JSON.stringify(body)), notes]).toEqual([{ model, messages: sent }, []])
      expect(given).toEqual(before)
    }
  })

  const drawn = {
    role: 'assistant',
    content: 'a',
    extra_content,
    reasoning_details: [{ type: 'reasoning.encrypted', data: 's', format: 'google-gemini-v1' }],
    images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
  }
  const lost = (...fields: string[]) => fields.map((field) => ({ field: `messages.${field}`, action: 'dropped' }))
  it.each<[model: string, sent: object, notes: object[]]>([
    ['gpt-5.5', { role: 'assistant', content: 'a' }, lost('reasoning_details', 'images')],
    ['qwen3-max', { role: 'assistant', content: 'a' }, lost('reasoning_details', 'images')],
    ['MiniMax-M2.5', { role: 'assistant', content: 'a', reasoning_details: drawn.reasoning_details }, lost('images')],
    ['models/gemini-3-pro-image', { ...drawn, reasoning_details: undefined }, lost('reasoning_details')],
    ['openai/gpt-5-image', { ...drawn, extra_content: undefined }, []],
    ['google/gemini-3-pro-image', drawn, []],
  ])('to %s has the images and signatures of earlier answers only if it takes them', (model, sent, told) => {
    const { body, notes } = ask(request({ model, messages: [...messages, drawn] as never }))
    expect([JSON.parse(JSON.stringify((body as { messages: object[] }).messages[1])), notes]).toEqual([
      JSON.parse(JSON.stringify(sent)),
      told,
    ])
  })

  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const callOf = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
  const looked = [
    ...messages,
    { role: 'assistant', content: null, tool_calls: [callOf('a', 'look'), callOf('b', 'read'), callOf('c', 'shoot')] },
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'Seen' }, picture] },
    { role: 'tool', tool_call_id: 'b', content: 'Read' },
    { role: 'tool', tool_call_id: 'c', content: [picture] },
  ]
  const answered = { role: 'assistant', content: 'Done' }
  it.each(['gpt-4o', 'gpt-5.5', 'ft:gpt-4.1:org::id'])('to %s has images of tool results behind them', (model) => {
    const fits = (given: object[]) => {
      const { body, notes } = ask(request({ model, messages: given as never }))
      expect([openaiRefusal(JSON.parse(JSON.stringify(body))), notes]).toEqual([undefined, []])
      return (body as { messages: object[] }).messages
    }
    expect(openaiRefusal({ model, messages: looked })).toBeDefined()
    const moved = [
      ...looked.slice(0, 2),
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'Seen' }] },
      looked[3],
      { role: 'tool', tool_call_id: 'c', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of look:' },
          picture,
          { type: 'text', text: 'From the result of shoot:' },
          picture,
        ],
      },
    ]
    expect(fits(looked)).toEqual(moved)
    expect(fits([...looked, answered, ...messages])).toEqual([...moved, answered, ...messages])
  })
  it.each(['qwen3-vl', 'gpt-oss-120b', 'openai/gpt-5.5'])('to %s has images in tool results', (model) => {
    expect((ask(request({ model, messages: looked as never })).body as { messages: object[] }).messages).toEqual(looked)
  })

  it.each(['gpt-4o', 'gpt-4.1-nano', 'gpt-3.5-turbo', 'my-o1'])('to %s keeps max_tokens', (model) => {
    expect(toRequest(request({ model, max_tokens: 5 }))).toEqual({ model, messages, max_tokens: 5 })
  })
})

describe('an answer of OpenAI', () => {
  const response = (body: unknown, given: ChatCompletionRequest) =>
    openaiChat('openai').response(body, given) as ChatCompletion
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
  const answer = (message: object, finish_reason: unknown = 'stop') =>
    response(
      { id: 'c', object: 'chat.completion', created: 5, model: 'm', choices: [{ index: 0, message, finish_reason }] },
      request(),
    )
  const choice = (message: object, finish?: unknown) => answer(message, finish).choices[0]!

  it('is passed on unchanged', () => {
    const whole = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_770_933_883,
      model: 'gpt-4o-2024-08-06',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, prompt_tokens_details: { cached_tokens: 0 } },
      service_tier: 'default',
    }
    expect(response(structuredClone(whole), request())).toEqual(whole)
  })

  it('gets the fields that a compatible server omits', () => {
    const bare = response({ choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] }, request())
    expect(bare).toEqual({
      id: expect.stringMatching(/^chatcmpl-[A-Za-z0-9]{24}$/) as string,
      object: 'chat.completion',
      created: expect.any(Number) as number,
      model: 'gpt-4o',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: 'b' }, finish_reason: 'stop' },
      ],
      usage: undefined,
    })
    expect(Math.abs(bare.created - Date.now() / 1000)).toBeLessThan(5)
  })

  it('has content null beside tool calls, a string otherwise', () => {
    expect(choice({ tool_calls: [call] }).message.content).toBeNull()
    expect(choice({ content: '', tool_calls: [call] }).message.content).toBeNull()
    expect(choice({ content: 'x', tool_calls: [call] }).message.content).toBe('x')
    expect(choice({}).message.content).toBe('')
    expect(choice({ content: null, refusal: 'no' }).message.content).toBeNull()
  })

  it('has no tool_calls key without tool calls', () => {
    for (const tool_calls of [[], null, undefined])
      expect(choice({ content: 'x', tool_calls }).message).not.toHaveProperty('tool_calls')
  })

  it('has the finish reason tool_calls if it has some', () => {
    expect(choice({ tool_calls: [call] }, 'stop').finish_reason).toBe('tool_calls')
    expect(choice({ tool_calls: [call] }, null).finish_reason).toBe('tool_calls')
    expect(choice({ tool_calls: [call] }, 'length').finish_reason).toBe('length')
  })

  it('has tool calls with id, type and arguments as JSON text', () => {
    const calls = (tool: object, finish = 'tool_calls') => choice({ tool_calls: [tool] }, finish).message.tool_calls
    expect(calls({ function: { name: 'f', arguments: { a: 1 } } })).toEqual([
      {
        id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/) as string,
        type: 'function',
        function: { name: 'f', arguments: '{"a":1}' },
      },
    ])
    expect(calls({ ...call, function: { name: 'f', arguments: '' } })).toMatchObject([
      { function: { arguments: '{}' } },
    ])
    expect(calls({ ...call, function: { name: 'f' } })).toMatchObject([{ function: { arguments: '{}' } }])
    expect(calls({ ...call, extra_content: { google: 1 } })).toEqual([{ ...call, extra_content: { google: 1 } }])
    expect(calls({ ...call, function: { name: 'f', arguments: '{"a":12345678901234567890}' } })).toMatchObject([
      { function: { arguments: '{"a":12345678901234567890}' } },
    ])
    const custom = { id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }
    expect(calls(custom)).toEqual([custom])
  })

  it('converts function_call to a tool call', () => {
    const { message, finish_reason } = choice({ content: null, function_call: { name: 'f', arguments: '{}' } })
    expect([message, finish_reason]).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: expect.stringMatching(/^call_\w{24}$/) as string,
            type: 'function',
            function: { name: 'f', arguments: '{}' },
          },
        ],
      },
      'tool_calls',
    ])
  })

  it('is refused with arguments that are not JSON, unless it was cut', () => {
    const broken = { ...call, function: { name: 'f', arguments: '{"a":' } }
    expect(() => choice({ tool_calls: [broken] }, 'tool_calls')).toThrow('arguments of a call are not JSON')
    expect(choice({ tool_calls: [broken] }, 'length').message.tool_calls).toEqual([broken])
  })

  it('separates reasoning and text in a list of parts', () => {
    const thinking = [
      { type: 'text', text: 'h' },
      { type: 'text', text: 'm' },
    ]
    const parts = [{ type: 'thinking', thinking, closed: true }, { type: 'text', text: 'x' }, { type: 'reference' }]
    const message = { role: 'assistant', content: 'x', reasoning_content: 'hm' }
    expect(choice({ content: parts, tool_calls: null }).message).toEqual(message)
    expect(choice({ content: parts.slice(1) }).message).toEqual({ role: 'assistant', content: 'x' })
    expect(choice({ content: [] }).message).toEqual({ role: 'assistant', content: '' })
  })

  it('renames reasoning to reasoning_content', () => {
    expect(choice({ content: 'x', reasoning: 'hm' }).message).toEqual({
      role: 'assistant',
      content: 'x',
      reasoning_content: 'hm',
    })
    expect(choice({ content: 'x', reasoning: 'hm', reasoning_content: 'own' }).message).toMatchObject({
      reasoning_content: 'own',
    })
  })

  it.each([{}, { choices: [] }, { choices: null }, { choices: {} }, []])('is malformed without choices: %j', (body) => {
    try {
      response(body, request())
      expect.unreachable()
    } catch (error) {
      expect((error as UpstreamError).failure).toMatchObject({ provider: 'openai', kind: 'malformed', accepted: true })
    }
  })
})
