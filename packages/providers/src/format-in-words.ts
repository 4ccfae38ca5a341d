import type { ChatCompletionRequest } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'
import { formatOf } from './request-fields.js'

/** Adds an instruction to the end of the system prompt. Some servers take one system message only. */
function instruct(request: ChatCompletionRequest, text: string): ChatCompletionRequest {
  const { system, messages } = request
  if (system) return extend(request, { system: `${system}\n\n${text}` })
  const [first, ...rest] = messages
  if ((first?.role === 'system' || first?.role === 'developer') && typeof first.content === 'string')
    return extend(request, { messages: [extend(first, { content: `${first.content}\n\n${text}` }), ...rest] })
  return extend(request, { system: text })
}

/**
 * A request that tells the `response_format` in words, for upstreams that do not enforce it.
 * @param left the format that is sent in its place; default none
 */
export function formatInWords(request: ChatCompletionRequest, left?: { type: 'json_object' }): ChatCompletionRequest {
  const format = formatOf(request)
  const bare = extend(request, { response_format: left })
  if (format.type === 'text') return bare
  const schema =
    format.type === 'json_schema'
      ? ` that conforms to this JSON Schema: ${JSON.stringify(format.json_schema.schema)}`
      : ''
  return instruct(bare, `Answer with a JSON object and nothing else${schema}`)
}
