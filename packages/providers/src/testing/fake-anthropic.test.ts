import { describe, expect, it } from 'vitest'
import { fakeAnthropic } from './fake-anthropic.js'
import type { FakeOptions } from './fake-upstream.js'

const user = { role: 'user', content: 'Hi there' }
const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }
const weather = { name: 'weather', input_schema: schema }
const thinking = { type: 'enabled', budget_tokens: 1024 }

interface Body {
  id: string
  content: { type: string; id?: string; text?: string }[]
  stop_reason: string
  usage: { input_tokens: number; output_tokens: number }
  error: object
}

interface Event {
  type: string
  index?: number
  message?: Body
  content_block?: object
  delta?: { text?: string; thinking?: string; partial_json?: string }
  usage?: object
}

function setUp(options: FakeOptions = {}) {
  const fake = fakeAnthropic(options)
  const all = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01' }
  const send = async (
    fields: object,
    headers: Record<string, string> = all,
    path = '/v1/messages',
    method: 'GET' | 'POST' = 'POST',
  ) => {
    const { signal } = new AbortController()
    const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 2048, messages: [user], ...fields })
    const answer = await fake.transport({ url: `https://fake${path}`, method, headers, body, signal })
    let text = ''
    for await (const piece of answer.body) text += new TextDecoder().decode(piece)
    return { status: answer.status, type: answer.header('content-type'), text }
  }
  const ask = async (fields: object): Promise<Body> => JSON.parse((await send(fields)).text) as Body
  const events = async (fields: object): Promise<Event[]> => {
    const { text } = await send({ stream: true, ...fields })
    return text
      .split('\n\n')
      .slice(0, -1)
      .map((frame) => {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame)!
        const event = JSON.parse(data!) as Event
        expect(event.type).toBe(name)
        return event
      })
  }
  return { fake, send, ask, events, all }
}

describe('the fake Anthropic', () => {
  it('returns the same answer for the same question, with the text of the user', async () => {
    const { ask, fake } = setUp()
    const first = await ask({})
    const { id, ...again } = await ask({})
    expect(first).toEqual({ ...again, id: expect.not.stringContaining(id) as string })
    expect(first).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'This is a simulated answer. You said: Hi there' }],
      stop_reason: 'end_turn',
    })
    expect(fake.requests).toHaveLength(2)
    expect(fake.requests[0]).toMatchObject({ method: 'POST', path: '/v1/messages' })
    expect(fake.active).toBe(0)
  })

  it('streams the same answer in the order of the API', async () => {
    const { send, ask, events } = setUp({ delayMs: 1 })
    expect((await send({ stream: true })).type).toBe('text/event-stream; charset=utf-8')
    const given = await events({})
    expect([...new Set(given.map(({ type }) => type))]).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const { content, usage } = await ask({})
    expect(given[0]!.message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 1 } })
    expect(given.map(({ delta }) => delta?.text ?? '').join('')).toBe(content[0]!.text)
    expect(given.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens },
    })
  })

  it('calls a tool that is forced, required or named, and then uses its result', async () => {
    const { ask, events } = setUp()
    const forced = { type: 'tool', name: 'weather' }
    const named = [{ role: 'user', content: [{ type: 'text', text: 'Use weather' }] }]
    for (const fields of [{ tool_choice: forced }, { tool_choice: { type: 'any' } }, { messages: named }])
      expect(await ask({ tools: [weather], ...fields })).toMatchObject({
        stop_reason: 'tool_use',
        content: [{ type: 'tool_use', name: 'weather', input: { city: 'city', days: 1 } }],
      })
    for (const fields of [{}, { tool_choice: { type: 'none' }, messages: named }])
      expect((await ask({ tools: [weather], ...fields })).stop_reason).toBe('end_turn')

    const streamed = await events({ tools: [weather], tool_choice: forced })
    const fragments = streamed.flatMap(({ delta }) => delta?.partial_json ?? [])
    expect(streamed[1]!.content_block).toMatchObject({ type: 'tool_use', name: 'weather', input: {} })
    expect([fragments[0], fragments.join('')]).toEqual(['', '{"city":"city","days":1}'])
    const bare = await events({
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
    })
    expect(bare.flatMap(({ delta }) => delta?.partial_json ?? [])).toEqual([''])

    const { content } = await ask({ tools: [weather], tool_choice: forced })
    const result = { type: 'tool_result', tool_use_id: content[0]!.id, content: 'sunny' }
    const messages = [user, { role: 'assistant', content }, { role: 'user', content: [result] }]
    const after = await ask({ tools: [weather], tool_choice: { type: 'any' }, messages })
    expect(after.content[0]!.text).toBe('The tools answered: sunny')
    const more = await ask({ tools: [weather, { ...weather, name: 'json' }], tool_choice: { type: 'any' }, messages })
    expect(more.content).toMatchObject([{ type: 'tool_use', name: 'json' }])
  })

  it('applies limits and formats, and thinks on request', async () => {
    const { ask, events } = setUp()
    expect(await ask({ max_tokens: 2 })).toMatchObject({
      content: [{ text: 'This is ' }],
      stop_reason: 'max_tokens',
      usage: { output_tokens: 2 },
    })
    const format = { type: 'json_schema', schema: { ...schema, additionalProperties: false } }
    expect((await ask({ output_config: { format } })).content[0]!.text).toBe('{"city":"city","days":1}')
    for (const system of ['Answer with a JSON object.', [{ type: 'text', text: 'Answer with a JSON object.' }]])
      expect((await ask({ system })).content[0]!.text).toBe('{"simulated":true}')
    expect((await ask({ thinking })).content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    const streamed = await events({ thinking })
    expect(streamed.map(({ delta }) => delta?.thinking ?? '').join('')).toBe('A simulated thought.')
    expect(streamed.findLast(({ type }) => type === 'content_block_stop')!.index).toBe(1)
  })

  it('thinks by default where the model does, and leaves out the text', async () => {
    const { ask } = setUp()
    const thought = { type: 'thinking', thinking: '' }
    for (const model of ['claude-sonnet-5', 'claude-haiku-5-5']) {
      expect((await ask({ model })).content).toMatchObject([thought, { type: 'text' }])
      expect((await ask({ model, thinking: { type: 'disabled' } })).content).toHaveLength(1)
    }
    const told = { type: 'adaptive', display: 'summarized' }
    expect((await ask({ model: 'claude-opus-4-8', thinking: told })).content[0]).toMatchObject({
      thinking: 'A simulated thought.',
    })
  })

  it('refuses a thought of another conversation, unless told to drop it', async () => {
    const { send, ask, all } = setUp()
    const model = 'claude-sonnet-5-5'
    const { content } = await ask({ model, system: 'Be brief.' })
    const messages = [user, { role: 'assistant', content }, user]
    const marked = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }]
    expect((await send({ model, messages, system: 'Be brief.' })).status).toBe(200)
    const { status, text } = await send({ model, messages, system: marked })
    expect([status, text]).toEqual([400, expect.stringContaining('bound to a different conversation')])
    expect((await send({ model: 'claude-sonnet-5', messages })).status).toBe(200)
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    expect((await send({ model, messages, thinking })).status).toBe(400)
    const beta = { ...all, 'anthropic-beta': 'other, thinking-binding-controls-2026-08-01' }
    expect((await send({ model, messages, thinking }, beta)).status).toBe(200)
  })

  it('lists models', async () => {
    const { send, all } = setUp()
    const { status, text } = await send({}, all, '/v1/models?limit=2', 'GET')
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { data: [{ type: 'model', id: 'claude-opus-4-8' }, {}], has_more: false, last_id: 'claude-sonnet-4-5' },
    ])
  })

  it('refuses like the API', async () => {
    const { send, all } = setUp({ apiKey: 'any' })
    const error = async (...given: Parameters<typeof send>) => {
      const { status, text } = await send(...given)
      return [status, JSON.parse(text) as object]
    }
    const body = (type: string, message: string) => ({
      type: 'error',
      error: { type, message },
      request_id: 'req_simulated',
    })
    const without = { 'anthropic-version': '2023-06-01' }
    expect(await error({}, without)).toEqual([401, body('authentication_error', 'x-api-key header is required')])
    expect(await error({}, { ...all, 'x-api-key': 'wrong' })).toEqual([
      401,
      body('authentication_error', 'invalid x-api-key'),
    ])
    expect(await error({}, { 'x-api-key': 'any' })).toEqual([
      400,
      body('invalid_request_error', 'anthropic-version: header is required'),
    ])
    expect(await error({}, all, '/v1/complete')).toEqual([404, body('not_found_error', 'Not Found')])
    expect(await error({}, all, '/v1/messages', 'GET')).toMatchObject([404, {}])
    expect(await error({ foo: 1 })).toEqual([400, body('invalid_request_error', 'foo: Extra inputs are not permitted')])
    expect((await send({})).status).toBe(200)
  })

  it('can be overridden', async () => {
    const { send } = setUp({ override: ({ path }) => ({ status: 418, headers: {}, body: path }) })
    expect(await send({})).toEqual({ status: 418, type: undefined, text: '/v1/messages' })
  })
})
