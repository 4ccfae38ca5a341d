import type { ChatCompletionRequest, Completion, ToolCall } from '@turnpike/core'
import { finishOf, newCompletionId, newToolCallId, secondsNow } from '../answers/chunk-builder.js'
import { malformed } from '../refusals/failures.js'
import { finishReason } from '../answers/finish-reasons.js'
import type { UpstreamUsage } from './answer.js'
import { toUsage } from './answer.js'
import { toldError } from './errors.js'
import type { Thought, ThoughtFields } from './thoughts.js'
import { thoughtCarrier } from './thoughts.js'
import { jsonTool } from './tools.js'

/** A content block of an answer. Types without an equivalent in OpenAI's form are ignored. */
export interface AnswerBlock extends Thought {
  text?: string
  id?: string
  name?: string
  input?: unknown
}

/** A response of the Messages API that is not streamed. */
export interface Message {
  id?: string
  model?: string
  content?: AnswerBlock[]
  stop_reason?: string | null
  stop_details?: { explanation?: string | null } | null
  usage?: UpstreamUsage | null
}

/** @throws UpstreamError for an error in the body, and `malformed` for a body without content */
export function toResponse(provider: string, body: Message, request: ChatCompletionRequest): Completion {
  if (!Array.isArray(body.content))
    throw toldError(provider, body, false) ?? malformed(provider, 'The answer has no content')
  const json = jsonTool(request)
  const reason = finishReason(provider, body.stop_reason)
  const calls: ToolCall[] = []
  let text = ''
  let thoughts = ''
  const carrier = thoughtCarrier()
  const carried: ThoughtFields = { reasoning_details: [], thinking_blocks: [] }
  for (const block of body.content) {
    if (block.type === 'text') {
      carrier.move(carried)
      text += block.text ?? ''
    } else if (block.type === 'tool_use') {
      const { id = newToolCallId(), name = '' } = block
      const input = JSON.stringify(block.input ?? {})
      carrier.move(carried, name === json ? undefined : id)
      if (name === json) text = input
      else calls.push({ id, type: 'function', function: { name, arguments: input } })
    } else {
      if (block.type === 'thinking') thoughts += block.thinking ?? ''
      carrier.add(block)
    }
  }
  carrier.move(carried)
  const refusal = reason === 'content_filter' ? body.stop_details?.explanation : undefined
  const called = calls.length > 0
  return {
    id: body.id || newCompletionId(),
    object: 'chat.completion',
    created: secondsNow(),
    model: body.model || request.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text || (called || refusal ? null : ''),
          refusal: refusal ?? null,
          ...(thoughts && { reasoning_content: thoughts }),
          ...(carried.reasoning_details.length > 0 && carried),
          ...(called && { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishOf(reason, called),
      },
    ],
    usage: body.usage ? toUsage(body.usage) : undefined,
  }
}
