import { anthropicRefusal } from '@turnpike/providers/testing'
import type { Asked, Events, Family, Json, Part, Reply, Turn } from './family.js'
import { event, finishOf, fragmentsOf, joinTurns, usageOf } from './family.js'

interface Block extends Json {
  type: string
}

interface Body {
  system?: string | { text: string }[]
  messages: { role: 'user' | 'assistant'; content: string | Block[] }[]
  tools?: { name: string; description?: string; input_schema?: unknown }[]
  tool_choice?: { type: string; name?: string }
  max_tokens?: unknown
  temperature?: unknown
  top_p?: unknown
  stop_sequences?: unknown
  stream?: boolean
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : ((content ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('\n')

function partOf(block: Block, names: Map<unknown, string>): Part {
  switch (block.type) {
    case 'text':
      return { text: block['text'] as string }
    case 'image': {
      const { media_type, data, url } = block['source'] as Record<string, string>
      return { image: url === undefined ? { type: media_type!, data: data! } : { url } }
    }
    case 'tool_use': {
      const { id, name, input } = block as unknown as { id: string; name: string; input: unknown }
      names.set(id, name)
      return { call: { id, name, args: input } }
    }
    case 'tool_result':
      return { result: { name: names.get(block['tool_use_id']), text: textOf(block['content']) } }
    default:
      return { other: block }
  }
}

function read(body: Body): Asked {
  const names = new Map<unknown, string>()
  const turns = body.messages.map(({ role, content }): Turn => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    return { role, parts: blocks.map((block) => partOf(block, names)) }
  })
  const { type, name } = body.tool_choice ?? {}
  const choices: Record<string, Asked['choice']> = { auto: 'auto', none: 'none', any: 'required' }
  return {
    system: textOf(body.system),
    turns: joinTurns(turns),
    tools: (body.tools ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description,
      schema: tool.input_schema,
    })),
    choice: name === undefined ? choices[type ?? ''] : { name },
    maxTokens: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    stop: body.stop_sequences,
    stream: body.stream ?? false,
    n: 1,
  }
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' }

const message = (content: object[], stop_reason: string | null, usage: object): Json => ({
  id: 'msg_scripted',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content,
  stop_reason,
  stop_sequence: null,
  usage,
})

const inputUsage = (reply: Reply): Json => {
  const { prompt, cached } = usageOf(reply)
  return { input_tokens: prompt - cached, cache_creation_input_tokens: 0, cache_read_input_tokens: cached }
}

function blocksOf({ texts = [], calls = [], thinking }: Reply): Block[] {
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: 'c2lnbmVk' }]),
    ...(texts.length > 0 ? [{ type: 'text', text: texts.join('') }] : []),
    ...calls.map(({ id, name, args }, i) => ({ type: 'tool_use', id: id ?? `toolu_scripted${i}`, name, input: args })),
  ]
}

/** An event, with its type in both places. */
export const anthropicEvent = (type: string, more: object = {}): string => event({ type, ...more }, type)

const delta = (index: number, fields: object): string => anthropicEvent('content_block_delta', { index, delta: fields })

/** The deltas of a block. */
function deltasOf(block: Block, index: number, texts: string[]): string[] {
  switch (block.type) {
    case 'text':
      return texts.map((text) => delta(index, { type: 'text_delta', text }))
    case 'thinking':
      return [
        delta(index, { type: 'thinking_delta', thinking: block['thinking'] }),
        delta(index, { type: 'signature_delta', signature: block['signature'] }),
      ]
    default: {
      // Claude sends an empty fragment first, and no other one for an empty object.
      const json = JSON.stringify(block['input'])
      const fragments = json === '{}' ? [] : fragmentsOf(json)
      return ['', ...fragments].map((partial_json) => delta(index, { type: 'input_json_delta', partial_json }))
    }
  }
}

const openings: Record<string, object> = {
  text: { text: '' },
  thinking: { thinking: '', signature: '' },
  tool_use: { input: {} },
}

function events(reply: Reply): Events {
  const { completion } = usageOf(reply)
  const start = message([], null, { ...inputUsage(reply), output_tokens: 1 })
  const ofBlocks = blocksOf(reply).flatMap((block, index) => [
    anthropicEvent('content_block_start', { index, content_block: { ...block, ...openings[block.type] } }),
    ...deltasOf(block, index, reply.texts ?? []),
    anthropicEvent('content_block_stop', { index }),
  ])
  return {
    begin: [anthropicEvent('message_start', { message: start }), anthropicEvent('ping'), ...ofBlocks.slice(0, -1)],
    end: [
      ...ofBlocks.slice(-1),
      anthropicEvent('message_delta', {
        delta: { stop_reason: stopReasons[finishOf(reply)], stop_sequence: null },
        usage: { output_tokens: completion },
      }),
      anthropicEvent('message_stop'),
    ],
  }
}

const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const error = (status: number, words: string): Json => ({
  type: 'error',
  error: { type: types[status] ?? 'api_error', message: words },
  request_id: 'req_scripted',
})

/** A body with the stable spelling of a field that had another one while it was a beta, which the vendor still takes with its header. */
function withoutBetas(headers: Record<string, string>, body: Json): Json {
  const { output_format, ...rest } = body
  return output_format !== undefined && headers['anthropic-beta']?.includes('structured-outputs')
    ? { ...rest, output_config: { ...(rest['output_config'] as Json | undefined), format: output_format } }
    : body
}

export const anthropic: Family = {
  name: 'anthropic',
  title: 'Claude',
  model: 'claude-sonnet-4-5',
  path: /\/v1\/messages$/,
  credential: ({ headers }) => headers['x-api-key'] ?? /^Bearer (\S+)$/i.exec(headers['authorization'] ?? '')?.[1],
  refusal: ({ headers, body }) =>
    headers['anthropic-version'] === undefined
      ? 'anthropic-version: header is required'
      : anthropicRefusal(withoutBetas(headers, body)),
  read: ({ body }) => read(body as unknown as Body),
  body: (reply) =>
    message(blocksOf(reply), stopReasons[finishOf(reply)], {
      ...inputUsage(reply),
      output_tokens: usageOf(reply).completion,
    }),
  events,
  error,
  errorEvent: (status, words) => event(error(status, words), 'error'),
  models: { data: [{ type: 'model', id: 'claude-sonnet-4-5', display_name: 'Claude' }], has_more: false },
}
