import type { GatewaySchemas } from '@turnpike/client'

/** The body of a request to the gateway. */
export type Body = GatewaySchemas['ChatCompletionRequest']

/** A call of a function, as a model writes it; `arguments` is JSON unless the model erred. */
export interface Call {
  id: string
  name: string
  arguments: string
}

export const roles = ['user', 'assistant', 'system', 'tool'] as const

export interface DraftMessage {
  id: string
  role: (typeof roles)[number]
  text: string
  /** URLs: `data:` of pictures that were uploaded, else `https:`. */
  pictures: readonly string[]
  /** Of an assistant. */
  calls: readonly Call[]
  /** Of a tool: the call that it answers. */
  callId: string
}

/** A model that is asked. */
export interface Column {
  id: string
  /** A model or a group. */
  model: string
  /** A provider, or `auto` for the cheapest; `''` = in the order of the configuration. */
  provider: string
}

/** The fields of a request that are left out where nothing is typed. */
export const numbers = ['temperature', 'top_p', 'max_tokens', 'seed'] as const
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const

export type Parameter = (typeof numbers)[number] | 'reasoning_effort' | 'stop'

export const formats = ['text', 'json_object', 'json_schema'] as const

/** What is typed in the playground. */
export interface Draft {
  system: string
  messages: readonly DraftMessage[]
  columns: readonly Column[]
  parameters: Partial<Record<Parameter, string>>
  stream: boolean
  /** JSON: a list of tools. */
  tools: string
  format: (typeof formats)[number]
  /** JSON: a schema, or an object with a `schema` and its `name`. */
  schema: string
}

/** What keeps a draft from being sent, by field. */
export type Faults = Partial<Record<'messages' | 'tools' | 'schema', string>>

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSaid = ({ role, text, pictures, calls }: DraftMessage): boolean =>
  role === 'tool' || text !== '' || pictures.length > 0 || calls.length > 0

export function faultsOf({ messages, tools, format, schema }: Draft): Faults {
  const list = parsed(tools)
  return {
    ...(!messages.some(isSaid) && { messages: 'Write a message first.' }),
    ...(tools.trim() !== '' &&
      !(Array.isArray(list) && list.length > 0 && list.every(isObject)) && {
        tools: list === undefined ? 'This is not JSON.' : 'This must be a list of tools: [{ "type": "function", … }].',
      }),
    ...(format === 'json_schema' &&
      !isObject(parsed(schema)) && {
        schema: parsed(schema) === undefined ? 'This is not JSON.' : 'This must be a schema: { "type": "object", … }.',
      }),
  }
}

function messageOf({ role, text, pictures, calls, callId }: DraftMessage): Body['messages'][number] {
  if (role === 'tool') return { role, tool_call_id: callId, content: text }
  if (role === 'assistant' && calls.length > 0) {
    const tool_calls = calls.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called }))
    return { role, content: text || null, tool_calls }
  }
  if (role !== 'user' || pictures.length === 0) return { role, content: text }
  return {
    role,
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...pictures.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
    ],
  }
}

function formatOf(schema: string): object {
  const value = JSON.parse(schema) as { schema?: unknown }
  return isObject(value.schema) ? value : { name: 'answer', schema: value }
}

/** Sequences, one a line, in which `\n` and `\t` are meant as such. */
const sequences = (stop: string): string[] =>
  stop
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('\\n', '\n').replaceAll('\\t', '\t'))

/** The request of a draft without faults to one of its models, with what was set, and nothing else. */
export function bodyOf(draft: Draft, { model, provider }: Column): Body {
  const { system, messages, parameters, stream, tools, format, schema } = draft
  const { reasoning_effort: effort, stop = '' } = parameters
  const set = numbers.filter((name) => (parameters[name] ?? '') !== '')
  const stops = sequences(stop)
  return {
    model,
    ...(provider !== '' && { provider }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...messages.filter(isSaid).map(messageOf),
    ],
    ...Object.fromEntries(set.map((name) => [name, Number(parameters[name])])),
    ...(effort && { reasoning_effort: effort }),
    ...(stops.length > 0 && { stop: stops }),
    ...(tools.trim() !== '' && { tools: JSON.parse(tools) as NonNullable<Body['tools']> }),
    ...(format === 'json_object' && { response_format: { type: format } }),
    ...(format === 'json_schema' && { response_format: { type: format, json_schema: formatOf(schema) } }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }
}
