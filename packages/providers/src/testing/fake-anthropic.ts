import { isThought } from './anthropic-blocks.js'
import { anthropicRefusal } from './anthropic-rules.js'
import type { FakeAnswer, FakeOptions, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'
import { askedJson, sampleJson } from './sample-json.js'
import { newId, paced, tokens, wordsOf } from './simulation.js'

interface MessageBody {
  model: string
  system?: string | { text: string }[]
  messages: {
    role: string
    content: string | { type: string; text?: string; name?: string; content?: unknown; signature?: string }[]
  }[]
  max_tokens: number
  stream?: boolean
  tools?: { name: string; input_schema: unknown }[]
  tool_choice?: { type: string; name?: string }
  thinking?: { type: string; display?: string; block_binding?: { prefix_mismatch_behavior?: string } }
  output_config?: { format?: { schema: unknown } }
}

type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

interface Generation {
  content: Block[]
  stop: 'end_turn' | 'max_tokens' | 'tool_use'
}

const requestId = 'req_simulated'
const jsonHeaders = { 'content-type': 'application/json', 'request-id': requestId }
const models = [
  ['claude-opus-4-8', 'Claude Opus 4.8'],
  ['claude-sonnet-4-5', 'Claude Sonnet 4.5'],
].map(([id, display_name]) => ({ type: 'model', id, display_name, created_at: '2026-02-12T00:00:00Z' }))

const json = (status: number, body: object): FakeAnswer => ({
  status,
  headers: jsonHeaders,
  body: JSON.stringify(body),
})

const errorAnswer = (status: number, type: string, message: string): FakeAnswer =>
  json(status, { type: 'error', error: { type, message }, request_id: requestId })

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content
          .filter(({ type }: { type: string }) => type === 'text')
          .map(({ text }: { text: string }) => text)
          .join(' ')
      : ''

const resultsOf = ({ content }: MessageBody['messages'][number]) =>
  typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result')

const outputTokens = (content: Block[]): number =>
  content.reduce((sum, block) => sum + tokens(block.type === 'text' ? block.text : JSON.stringify(block)), 0)

const isForced = (choice: MessageBody['tool_choice']): boolean => choice?.type === 'any' || choice?.type === 'tool'

/** The tool that the model calls: the forced one, or one that the user names. After results, it calls only if required, and then a tool not called yet. */
function chosenTool({ tools = [], tool_choice, messages }: MessageBody): (typeof tools)[number] | undefined {
  const last = messages.at(-1)!
  const choice = tool_choice?.type ?? 'auto'
  if (choice === 'tool') return tools.find(({ name }) => name === tool_choice?.name)
  const answered = resultsOf(last).length > 0
  if (choice === 'any') {
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    return tools.find((tool) => !answered || !blocks.some(({ name }) => name === tool.name))
  }
  if (choice === 'none' || answered) return undefined
  const asked = textOf(last.content)
  return tools.find(({ name }) => asked.includes(name))
}

/**
 * The signature of a thought of the message at an index. It covers what precedes the message, without thoughts and cache marks, as that of the
 * vendor's models since Fable 5.1 does.
 */
function signatureAt({ system, tools, messages }: MessageBody, index: number): string {
  const prefix = JSON.stringify([system, tools, messages.slice(0, index)], (key, value: unknown) => {
    if (key === 'cache_control') return undefined
    return Array.isArray(value) ? value.filter((block) => !isThought(block)) : value
  })
  let hash = 0x811c9dc5
  for (let i = 0; i < prefix.length; i++) hash = Math.imul(hash ^ prefix.charCodeAt(i), 0x01000193) >>> 0
  return btoa(`simulated${hash}`)
}

/** The refusal of a simulated thought that another conversation preceded; the vendor refuses them for new accounts, and for all in Fable 5.2. */
function unboundThought(body: MessageBody): string | undefined {
  const { model, messages, thinking } = body
  const isBound = /^claude-(?!mythos)[a-z]+-5-\d/.test(model)
  if (!isBound || thinking?.block_binding?.prefix_mismatch_behavior === 'drop_block') return undefined
  const stray = messages.findIndex(({ content }, index) =>
    (typeof content === 'string' ? [] : content).some(
      ({ signature }) => signature?.startsWith(btoa('simulated')) && signature !== signatureAt(body, index),
    ),
  )
  return stray < 0
    ? undefined
    : `messages.${stray}.content.0: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`
}

/** The thought of a model that was told to think, or that thinks by default, which then leaves out its text; none before a forced call. */
function thought(body: MessageBody): Block[] {
  const { model, messages, thinking = { type: 'default' }, tool_choice } = body
  const told = thinking.type === 'adaptive' || thinking.type === 'enabled'
  const byDefault = thinking.type === 'default' && /^claude-[a-z]+-5/.test(model) && !isForced(tool_choice)
  if (!told && !byDefault) return []
  const omitted = /^claude-[a-z]+-(4-[78]|5)/.test(model) && thinking.display !== 'summarized'
  const signature = signatureAt(body, messages.length)
  return [{ type: 'thinking', thinking: omitted ? '' : 'A simulated thought.', signature }]
}

/** The model's text: deterministic, including the tool results and the user's text. */
function generate(body: MessageBody): Generation {
  const { system = [], messages, max_tokens, output_config } = body
  const content: Block[] = thought(body)
  const tool = chosenTool(body)
  if (tool) {
    const id = `toolu_simulated${messages.length}`
    content.push({ type: 'tool_use', id, name: tool.name, input: sampleJson(tool.input_schema) })
    return { content, stop: 'tool_use' }
  }
  const results = resultsOf(messages.at(-1)!)
  const format = output_config?.format
  const user = messages.findLast(({ role }) => role === 'user')
  const words =
    results.length > 0
      ? `The tools answered: ${results.map((result) => textOf(result.content)).join(', ')}`
      : `This is a simulated answer. You said: ${textOf(user?.content)}`
  const told = typeof system === 'string' ? [system] : system.map(({ text }) => text)
  const text = format ? JSON.stringify(sampleJson(format.schema)) : (askedJson(told) ?? words)
  const left = max_tokens - outputTokens(content)
  const cut = tokens(text) > left
  content.push({ type: 'text', text: cut ? text.slice(0, left * 4) : text })
  return { content, stop: cut ? 'max_tokens' : 'end_turn' }
}

const inputUsage = (body: MessageBody) => ({
  input_tokens: tokens(JSON.stringify(body.messages)),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
})

/** Usage of a complete message or, with the output tokens so far, of the start of a stream. */
const usageOf = (body: MessageBody, output_tokens: number) => ({
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens,
  service_tier: 'standard',
  inference_geo: 'not_available',
  ...inputUsage(body),
})

const message = (body: MessageBody, content: Block[], stop_reason: string | null, output_tokens: number) => ({
  model: body.model,
  id: newId('msg_'),
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
  stop_sequence: null,
  usage: usageOf(body, output_tokens),
})

/** The start of a block and its deltas, split like the vendor's: one word each; tool input in fragments after an empty one. */
function cut(block: Block): { start: Block; deltas: object[] } {
  switch (block.type) {
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...wordsOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      }
    case 'text':
      return {
        start: { type: 'text', text: '' },
        deltas: wordsOf(block.text).map((text) => ({ type: 'text_delta', text })),
      }
    case 'tool_use': {
      const { type, id, name, input } = block
      const fragments = Object.keys(input as object).length > 0 ? JSON.stringify(input).match(/[^]{1,8}/g)! : []
      return {
        start: { type, id, name, input: {} },
        deltas: ['', ...fragments].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      }
    }
  }
}

/** The events of a stream. Each has its type in the `event` field and in its data. */
function* eventsOf(body: MessageBody, generation: Generation): Generator<{ type: string; [field: string]: unknown }> {
  yield { type: 'message_start', message: message(body, [], null, 1) }
  for (const [index, block] of generation.content.entries()) {
    const { start, deltas } = cut(block)
    yield { type: 'content_block_start', index, content_block: start }
    if (index === 0) yield { type: 'ping' }
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  const delta = { stop_reason: generation.stop, stop_sequence: null }
  const usage = { output_tokens: outputTokens(generation.content), ...inputUsage(body) }
  yield { type: 'message_delta', delta, usage }
  yield { type: 'message_stop' }
}

/** What the models answer to a valid request: a message, and the events of a stream. */
export function generated(given: unknown): { whole: object; events: Iterable<{ type: string }> } {
  const body = given as MessageBody
  const generation = generate(body)
  const { content, stop } = generation
  return { whole: message(body, content, stop, outputTokens(content)), events: eventsOf(body, generation) }
}

async function* streamed(events: Iterable<{ type: string }>, delayMs: number): AsyncGenerator<string> {
  for await (const event of paced(events, delayMs)) yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** What the API answers to a POST of a message whose credential is good. */
export function messageAnswer(given: unknown, betas: string[], delayMs: number): FakeAnswer {
  const refusal = anthropicRefusal(given, betas) ?? unboundThought(given as MessageBody)
  if (refusal) return errorAnswer(400, 'invalid_request_error', refusal)
  const { whole, events } = generated(given)
  if (!(given as MessageBody).stream) return json(200, whole)
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': requestId },
    body: streamed(events, delayMs),
  }
}

/** The values of the header `anthropic-beta`. */
const betasOf = (header = ''): string[] => header.split(',').map((beta) => beta.trim())

/**
 * Creates a fake of Anthropic's Messages API, which makes no calls and needs no key.
 * @example anthropic({ apiKey: 'any', transport: fakeAnthropic().transport })
 */
export function fakeAnthropic(options: FakeOptions = {}): FakeUpstream {
  const { apiKey, delayMs = 0 } = options
  return fakeUpstream((request) => {
    const { method, headers } = request
    const key = headers['x-api-key']
    if (!key) return errorAnswer(401, 'authentication_error', 'x-api-key header is required')
    if (apiKey !== undefined && key !== apiKey) return errorAnswer(401, 'authentication_error', 'invalid x-api-key')
    if (!headers['anthropic-version'])
      return errorAnswer(400, 'invalid_request_error', 'anthropic-version: header is required')
    const path = request.path.split('?')[0]!
    if (path.endsWith('/v1/models') && method === 'GET')
      return json(200, { data: models, has_more: false, first_id: models[0]!.id, last_id: models.at(-1)!.id })
    if (!path.endsWith('/v1/messages') || method !== 'POST') return errorAnswer(404, 'not_found_error', 'Not Found')
    return messageAnswer(request.body, betasOf(headers['anthropic-beta']), delayMs)
  }, options)
}
