import type { Client, GatewaySchemas } from '@turnpike/client'
import { AgentError } from './agent-error.js'
import type { AgentEvent } from './events.js'

/** Characters of an answer, as JSON: a longer one could not be sent back, as a gateway takes 20 MiB. */
const ANSWER_LENGTH = 20 * 1024 * 1024

/** A message of a chat, as the gateway takes it. */
export type Message = GatewaySchemas['ChatMessage']

type Delta = GatewaySchemas['ChatCompletionChunk']['choices'][number]['delta']

/** A call as it is in the message of the model. */
export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** What the model has answered: with all that came, such as signed thoughts, so that it can be sent back as it is. */
export interface Answer {
  message: Message
  text: string
  calls: ToolCall[]
  finish: string | null
}

/** Adds a delta to a message: texts and lists are appended, calls by their index, which is the upstream's and may be any number. */
export function add(
  joined: Record<string, unknown>,
  calls: Map<number, ToolCall>,
  { tool_calls, ...fields }: Delta,
): void {
  for (const { index, ...call } of tool_calls ?? []) {
    const known = calls.get(index)
    if (known) known.function.arguments += call.function?.arguments ?? ''
    // Nothing but functions is offered.
    else if (call.function) calls.set(index, structuredClone(call) as ToolCall)
  }
  for (const [name, value] of Object.entries(fields)) {
    const before = joined[name]
    if (typeof before === 'string' && typeof value === 'string') joined[name] = before + value
    else if (Array.isArray(before) && Array.isArray(value)) for (const item of value) before.push(item)
    else if (value !== null && value !== undefined) joined[name] = value
  }
}

/** Asks a model once, and tells text and thoughts as they come. @throws what the stream throws, and AgentError where it does not end */
export async function ask(
  client: Client,
  body: GatewaySchemas['ChatCompletionRequest'],
  options: { headers: Record<string, string>; signal: AbortSignal; onEvent: (event: AgentEvent) => void },
): Promise<Answer> {
  const { onEvent, ...request } = options
  const joined: Record<string, unknown> = {}
  const found = new Map<number, ToolCall>()
  let finish: string | null = null
  let length = 0
  for await (const { choices } of client.stream('/api/gateway/v1/chat/completions', { ...request, body })) {
    const [choice] = choices
    if (!choice) continue
    const { delta } = choice
    length += JSON.stringify(delta).length
    if (length > ANSWER_LENGTH) throw new AgentError('The model does not end its answer')
    finish = choice.finish_reason ?? finish
    add(joined, found, delta)
    if (typeof delta['reasoning_content'] === 'string') onEvent({ type: 'thinking', text: delta['reasoning_content'] })
    if (delta.content) onEvent({ type: 'text', text: delta.content })
  }
  const calls = [...found.values()]
  const text = typeof joined['content'] === 'string' ? joined['content'] : ''
  const message = { content: null, ...joined, role: 'assistant', ...(calls.length > 0 && { tool_calls: calls }) }
  return { message: message as Message, text, calls, finish }
}
