import type { ChatCompletionRequest } from '@turnpike/core'
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
  it('threat 171: says 64 characters of a name at most, as each result of a call says it again', () => {
    const given = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [callOf('a', 'x'.repeat(5_000))] },
      ...Array.from({ length: 100 }, () => ({ role: 'tool', tool_call_id: 'a', content: [picture] })),
    ]
    const { body } = ask(request({ messages: given as never }))
    const { content } = (body as { messages: { content: { text?: string }[] }[] }).messages.at(-1)!
    expect(content[0]).toEqual({ type: 'text', text: `From the result of ${'x'.repeat(64)}:` })
  })
  it.each(['qwen3-vl', 'gpt-oss-120b', 'openai/gpt-5.5'])('to %s has images in tool results', (model) => {
    expect((ask(request({ model, messages: looked as never })).body as { messages: object[] }).messages).toEqual(looked)
  })

  it.each(['gpt-4o', 'gpt-4.1-nano', 'gpt-3.5-turbo', 'my-o1'])('to %s keeps max_tokens', (model) => {
    expect(toRequest(request({ model, max_tokens: 5 }))).toEqual({ model, messages, max_tokens: 5 })
  })
})
