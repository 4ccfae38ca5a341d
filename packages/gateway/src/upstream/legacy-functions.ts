import type { ChatCompletionRequest, ChatMessage } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'

/** Function calls and their results as tool calls. Ids are numbered, so that the same history always gets the same ids. */
function toToolMessages(messages: ChatMessage[]): ChatMessage[] {
  /** The id of the latest call by function name. */
  const ids = new Map<string, string>()
  let calls = 0
  return messages.map((message): ChatMessage => {
    const call = message.role === 'assistant' ? message.function_call : undefined
    if (call && message.role === 'assistant') {
      const id = `call_function_${++calls}`
      ids.set(call.name, id)
      const { function_call: _, tool_calls, ...rest } = message
      return extend(rest, { tool_calls: [...(tool_calls ?? []), { id, type: 'function' as const, function: call }] })
    }
    if (message.role !== 'function') return message
    const id = ids.get(message.name)
    if (id === undefined) throw invalid(`No call of the function "${message.name}" comes before its result`)
    return { role: 'tool', tool_call_id: id, content: message.content ?? '' }
  })
}

/** OpenAI's deprecated `functions`, `function_call` and function messages as tools, for every family alike. */
export function modernise(request: ChatCompletionRequest): ChatCompletionRequest {
  const { functions, function_call: choice, messages } = request
  const inMessages = messages.some(
    (message) => message.role === 'function' || (message.role === 'assistant' && message.function_call),
  )
  if (!functions && !choice && !inMessages) return request
  const modern: ChatCompletionRequest = extend(request, {
    messages: inMessages ? toToolMessages(messages) : messages,
    functions: undefined,
    function_call: undefined,
  })
  if (functions?.length)
    modern.tools = [
      ...(request.tools ?? []),
      ...functions.map((definition) => ({ type: 'function' as const, function: definition })),
    ]
  if (choice) modern.tool_choice = typeof choice === 'string' ? choice : { type: 'function', function: choice }
  return modern
}
