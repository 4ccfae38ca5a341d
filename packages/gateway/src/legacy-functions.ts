import type { ChatCompletionRequest, ChatMessage } from '@turnpike/core'
import { ApiError, extend } from '@turnpike/core'

const invalid = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'invalid_body' })

interface FunctionCall {
  name: string
  arguments: string
}

const legacyCall = (message: ChatMessage): FunctionCall | undefined =>
  message.role === 'assistant'
    ? ((message['function_call'] as FunctionCall | null | undefined) ?? undefined)
    : undefined

/** Calls of functions and their results as calls of tools; ids are counted, so that a history has the same each time. */
function toToolMessages(messages: ChatMessage[]): ChatMessage[] {
  /** By name, the id of the latest call. */
  const ids = new Map<string, string>()
  let calls = 0
  return messages.map((message): ChatMessage => {
    const call = legacyCall(message)
    if (call && message.role === 'assistant') {
      const id = `call_function_${++calls}`
      ids.set(call.name, id)
      const { function_call: _, ...rest } = message
      return extend(rest, { role: 'assistant', tool_calls: [{ id, type: 'function', function: call }] }) as ChatMessage
    }
    if (message.role !== 'function') return message
    const id = ids.get(message.name)
    if (id === undefined) throw invalid(`No call of the function "${message.name}" comes before its result`)
    return { role: 'tool', tool_call_id: id, content: message.content ?? '' }
  })
}

const choiceOf = (given: unknown): unknown =>
  typeof given === 'object' && given !== null
    ? { type: 'function', function: { name: (given as { name?: unknown }).name } }
    : given

/** OpenAI's deprecated `functions`, `function_call` and function messages as tools, for every family alike. */
export function modernise(request: ChatCompletionRequest): ChatCompletionRequest {
  const { functions, function_call, messages } = request
  const inMessages = messages.some((message) => message.role === 'function' || legacyCall(message))
  if (!functions && !function_call && !inMessages) return request
  if (functions && !Array.isArray(functions)) throw invalid('functions must be an array')
  const tools = (functions as object[] | undefined)?.map((definition) => ({ type: 'function', function: definition }))
  const modern = extend(request, {
    messages: inMessages ? toToolMessages(messages) : messages,
    functions: undefined,
    function_call: undefined,
  })
  if (tools) modern.tools = tools as never
  if (function_call) modern.tool_choice = choiceOf(function_call) as never
  return modern
}
