import { anthropic, createRouter } from '@turnpike/providers'
import { fakeAnthropic } from '@turnpike/providers/testing'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { testGateway } from '../support/gateway.js'

interface Detail {
  text?: string
  signature?: string
  index: number
}
interface Message {
  role: 'assistant'
  content: string | null
  reasoning_content?: string
  reasoning_details?: Detail[]
  thinking_blocks?: object[]
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}
type Delta = Partial<Message>

const join = (deltas: Delta[]): Message => {
  const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls)
  const [first] = calls
  const pieces = calls.map(({ function: { arguments: piece } }) => piece)
  return {
    role: 'assistant',
    content: deltas.map(({ content }) => content ?? '').join('') || null,
    ...(first && { tool_calls: [{ ...first, function: { ...first.function, arguments: pieces.join('') } }] }),
  }
}
const details = (deltas: Delta[]): Detail[] => deltas.flatMap(({ reasoning_details = [] }) => reasoning_details)
const blocks = (deltas: Delta[]): object[] => deltas.flatMap(({ thinking_blocks = [] }) => thinking_blocks)

/** How clients make the message that they send back of the deltas of an answer; a whole answer is one delta. */
const clients: Record<string, (deltas: Delta[]) => Message> = {
  'OpenRouter, by index': (deltas) => {
    const joined: Detail[] = []
    for (const { text = '', signature, ...detail } of details(deltas)) {
      const known = (joined[detail.index] ??= { ...detail, text: '' })
      known.text += text
      if (signature) known.signature = signature
    }
    return { ...join(deltas), reasoning_details: joined }
  },
  'Open WebUI, as they came': (deltas) => ({ ...join(deltas), reasoning_details: details(deltas) }),
  LiteLLM: (deltas) => ({ ...join(deltas), thinking_blocks: blocks(deltas) }),
  both: (deltas) => ({ ...join(deltas), reasoning_details: details(deltas), thinking_blocks: blocks(deltas) }),
}
/** Clients that send back no more than the text, as the AI SDK's OpenAI-compatible provider, or nothing, as LangChain. */
const losing: Record<string, (deltas: Delta[]) => Message> = {
  'the AI SDK': (deltas) => ({
    ...join(deltas),
    reasoning_content: deltas.map(({ reasoning_content = '' }) => reasoning_content).join(''),
  }),
  LangChain: join,
}

const models = [
  'claude-sonnet-4-5',
  'claude-opus-4-8',
  'claude-sonnet-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-fable-5-2',
]

/** Three turns with a tool call each, and a system message that comes in the middle. @returns the signatures in each upstream request */
async function converse(model: string, stream: boolean, toMessage: (deltas: Delta[]) => Message): Promise<string[][]> {
  const { transport, requests } = fakeAnthropic()
  const gateway = await testGateway({ router: createRouter({ providers: [anthropic({ apiKey: 'x', transport })] }) })
  const client = new OpenAI({
    baseURL: 'https://gw.example/v1',
    apiKey: gateway.key,
    maxRetries: 0,
    fetch: (url, init) => gateway.gateway.fetch(new Request(url as string, init as RequestInit)),
  })
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
  const messages: object[] = []
  const ask = async (): Promise<Message> => {
    const asked = {
      model,
      messages,
      tools,
      reasoning_effort: 'high',
    } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming
    if (!stream) return toMessage([(await client.chat.completions.create(asked)).choices[0]!.message as Delta])
    const deltas: Delta[] = []
    for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true }))
      if (choices[0]) deltas.push(choices[0].delta as Delta)
    return toMessage(deltas)
  }
  for (let turn = 0; turn < 3; turn++) {
    if (turn === 2) messages.push({ role: 'system', content: 'Be brief.' })
    messages.push({ role: 'user', content: 'Please look.' })
    for (let message = await ask(); ; message = await ask()) {
      messages.push(message)
      const [call] = message.tool_calls ?? []
      if (!call) break
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'Sunny' })
    }
  }
  return requests.map(({ body }) =>
    [...JSON.stringify(body).matchAll(/"signature":"(\w+)/g)].map(([, signed]) => signed!),
  )
}

describe.each(models)('the thoughts of %s in a tool loop', (model) => {
  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole'
    it.each(Object.entries(clients))(`come back from clients of %s, ${how}`, async (_, toMessage) => {
      const signatures = await converse(model, stream, toMessage)
      expect(signatures.map(({ length }) => length)).toEqual([0, 1, 2, 3, 4, 5])
      expect(signatures[5]!.slice(0, 4)).toEqual(signatures[4])
    })

    it.each(Object.entries(losing))(`are lost by %s, and nothing fails, ${how}`, async (_, toMessage) => {
      const signatures = await converse(model, stream, toMessage)
      expect(signatures).toEqual([[], [], [], [], [], []])
    })
  }
})
