import type { ChatCompletionRequest } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import type { ResponseFormat } from './request-fields.js'
import { formatOf } from './request-fields.js'

/** What a model is told of a format that is not enforced. */
export function toInstruction(format: Exclude<ResponseFormat, { type: 'text' }>): string {
  const isSchema = format.type === 'json_schema'
  const only = `Answer with ${isSchema ? 'JSON' : 'a JSON object'} and nothing else, without a code fence.`
  return isSchema ? `${only} It must be valid by this JSON Schema: ${JSON.stringify(format.json_schema.schema)}` : only
}

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
  return format.type === 'text' ? bare : instruct(bare, toInstruction(format))
}
