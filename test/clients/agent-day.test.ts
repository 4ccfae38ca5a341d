import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { testGateway } from '../support/gateway.js'

// A day of a coding agent: 40 turns with tools, parallel calls, images from tools, thoughts and changes of the system prompt, and an answer by
// a schema at the end. The simulated vendors refuse what the vendors refuse.

const TURNS = 40
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const tools = ['look', 'edit'].map((name) => ({ type: 'function', function: { name, description: name, parameters } }))
const schema = {
  type: 'object',
  properties: { done: { type: 'boolean' }, files: { type: 'array', items: { type: 'string' } } },
  required: ['done', 'files'],
  additionalProperties: false,
}
const response_format = { type: 'json_schema', json_schema: { name: 'report', strict: true, schema } }
const efforts = [undefined, 'low', 'high', 'none', 'max']

interface Message {
  role: string
  content?: unknown
  tool_calls?: { index?: number; id: string; type: string; function: { name: string; arguments: string } }[]
  [field: string]: unknown
}

/** Joins deltas as clients do: texts and lists are appended, calls by their index. */
function join(deltas: Message[]): Message {
  const joined: Message = { role: 'assistant', content: '' }
  const calls: NonNullable<Message['tool_calls']> = []
  for (const { role: _, tool_calls = [], ...fields } of deltas) {
    for (const { index = 0, ...call } of tool_calls) {
      const known = calls[index]
      if (known) known.function.arguments += call.function.arguments
      else calls[index] = structuredClone(call)
    }
    for (const [name, value] of Object.entries(fields)) {
      const before = joined[name]
      if (typeof before === 'string' && typeof value === 'string') joined[name] = before + value
      else if (Array.isArray(before) && Array.isArray(value))
        joined[name] = [...(before as unknown[]), ...(value as unknown[])]
      else if (value !== null && value !== undefined) joined[name] = value
    }
  }
  return calls.length > 0 ? { ...joined, tool_calls: calls } : joined
}

/** The three vendors, of which some can be down; `refused` has what they answered with 400. */
function setUp() {
  const down = new Set<string>()
  const refused: string[] = []
  const key = { apiKey: 'x' }
  const [forOpenai, forAnthropic, forGoogle] = [fakeOpenAI(), fakeAnthropic(), fakeGoogle()]
  const watched =
    (name: string, { transport }: typeof forOpenai): typeof transport =>
    async (request) => {
      if (down.has(name))
        return fakeOpenAI({ override: () => ({ status: 503, headers: {}, body: '{}' }) }).transport(request)
      const response = await transport(request)
      if (response.status >= 400) refused.push(`${name} ${response.status}`)
      return response
    }
  const providers = [
    openai({ ...key, transport: watched('openai', forOpenai) }),
    anthropic({ ...key, transport: watched('anthropic', forAnthropic) }),
    google({ ...key, transport: watched('google', forGoogle) }),
  ]
  return { down, refused, providers }
}

async function work(
  model: string,
  stream: boolean,
  before: (turn: number, down: Set<string>) => void = () => undefined,
) {
  const { down, refused, providers } = setUp()
  const groups = { day: ['anthropic/claude-sonnet-5-5', 'google/gemini-4-argon', 'openai/gpt-5.5'] }
  const gateway = await testGateway({ router: createRouter({ providers, groups }) })
  const client = new OpenAI({
    baseURL: 'https://gw.example/v1',
    apiKey: gateway.key,
    maxRetries: 0,
    fetch: (url, init) => gateway.gateway.fetch(new Request(url as string, init as RequestInit)),
  })
  const messages: Message[] = [{ role: 'system', content: 'You write code.' }]
  const ask = async (fields: object): Promise<Message> => {
    const asked = { model, messages, tools, ...fields } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming
    if (!stream) return (await client.chat.completions.create(asked)).choices[0]!.message as unknown as Message
    const deltas: Message[] = []
    for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
      if (choices[0]) deltas.push(choices[0].delta as unknown as Message)
    return join(deltas)
  }
  let calls = 0
  for (let turn = 0; turn < TURNS; turn++) {
    before(turn, down)
    const fields = {
      reasoning_effort: efforts[turn % efforts.length],
      ...(turn % 3 === 0 && { temperature: 0.2 }),
      ...(turn % 7 === 0 && { parallel_tool_calls: false }),
      ...(turn % 11 === 0 && { tool_choice: 'required' }),
    }
    if (turn % 9 === 8) messages.push({ role: turn % 2 ? 'developer' : 'system', content: `Rule ${turn}: be brief.` })
    messages.push({
      role: 'user',
      content: turn % 4 === 3 ? [picture, { type: 'text', text: 'Say.' }] : 'Please look.',
    })
    if (turn % 5 === 4) {
      // An answer of another model with two calls at once.
      const ids = [`call_${turn}a`, `call_${turn}b`]
      messages.push({
        role: 'assistant',
        content: null,
        tool_calls: ids.map((id) => ({
          id,
          type: 'function',
          function: { name: 'edit', arguments: '{"path":"a.ts"}' },
        })),
      })
      for (const id of ids)
        messages.push({ role: 'tool', tool_call_id: id, content: [{ type: 'text', text: 'Seen' }, picture] })
    }
    for (let step = 0; step < 3; step++) {
      const message = await ask(step === 0 ? fields : { ...fields, tool_choice: step === 1 ? 'auto' : 'none' })
      messages.push(message)
      if (!message.tool_calls) break
      for (const { id } of message.tool_calls) {
        calls++
        messages.push({ role: 'tool', tool_call_id: id, content: turn % 2 ? 'Sunny' : [picture] })
      }
    }
  }
  messages.push({ role: 'user', content: 'Report.' })
  const { content } = await ask({ response_format })
  return { refused, calls, report: JSON.parse(content as string) as object }
}

const models = `
  gpt-4o gpt-5.1 gpt-5.5 gpt-6-sol claude-sonnet-4-5 claude-opus-4-8 claude-sonnet-5 claude-opus-5 claude-sonnet-5-5 claude-fable-5-2 gemini-2.5-pro
  gemini-3.1-pro-preview gemini-3.8-flash gemini-4-argon
`
  .trim()
  .split(/\s+/)

describe.each([false, true])('a day of an agent, streamed: %s', (stream) => {
  it.each(models)('with %s', async (model) => {
    const { refused, calls, report } = await work(model, stream)
    expect(refused).toEqual([])
    expect(calls).toBeGreaterThan(20)
    expect(Object.keys(report)).toEqual(['done', 'files'])
  })

  it('goes on with the next vendor where one is down', async () => {
    const order = ['anthropic', 'google', 'openai']
    const { refused, calls, report } = await work('day', stream, (turn, down) => {
      down.clear()
      for (const name of order.slice(0, turn % 3)) down.add(name)
    })
    expect(refused).toEqual([])
    expect(calls).toBeGreaterThan(20)
    expect(Object.keys(report)).toEqual(['done', 'files'])
  })
})
