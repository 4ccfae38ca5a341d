import type { ChatCompletionRequest, Completion, FinishReason, ToolCall } from '@turnpike/core'
import type { JsonCount } from '@turnpike/core/helpers'
import { extend, jsonCount } from '@turnpike/core/helpers'
import {
  checkArguments,
  finishOf,
  newCompletionId,
  newToolCallId,
  secondsNow,
  unnamedCall,
} from '../answers/chunk-builder.js'
import { count } from '../answers/count.js'
import { finishReason } from '../answers/finish-reasons.js'
import { asTexts, textOf } from '../upstream/json.js'
import { inForm, reportOf, separateThoughts } from './answer.js'
import type { ChatOptions } from './chat.js'
import { choiceError, missing, toldError } from './errors.js'
import { thinkTags } from './think-tags.js'

export type Loose = Record<string, unknown>

/** Normalizes a function call to `ToolCall`; calls of custom tools are returned unchanged. */
function toToolCall(call: Loose, finish: FinishReason, provider: string, ofArguments: JsonCount): ToolCall {
  if (call['type'] === 'custom') return call as ToolCall
  const given = (call['function'] ?? {}) as { name?: string; arguments?: unknown }
  if (!given.name) throw unnamedCall(provider)
  const text =
    typeof given.arguments === 'object'
      ? JSON.stringify(given.arguments ?? {})
      : checkArguments(String(given.arguments ?? ''), finish, provider, ofArguments)
  return {
    ...call,
    id: (call['id'] as string) || newToolCallId(),
    type: 'function',
    function: { ...given, name: given.name, arguments: text },
  }
}

/**
 * Makes a chat completion of the answer of a server. What deviates from OpenAI's form is normalized.
 * @param tags how thoughts begin in the content: see {@link ChatOptions}
 * @throws UpstreamError where the answer is an error, or has no choices
 */
export function toResponse(
  provider: string,
  body: Loose,
  request: ChatCompletionRequest,
  tags: ChatOptions['thinkTags'],
): Completion {
  const { choices } = body
  if (!Array.isArray(choices) || choices.length === 0) throw missing(provider, body, 'choices')
  const told = toldError(provider, body, true)
  if (told) throw told
  const ofArguments = jsonCount()
  return extend(body, {
    id: textOf(body['id']) || newCompletionId(),
    object: 'chat.completion' as const,
    created: count(body['created']) || secondsNow(),
    model: textOf(body['model']) || request.model,
    choices: choices.map((given: Loose, position) => {
      if (given['error']) throw choiceError(provider, given['error'])
      const choice = inForm('message', given)
      const { tool_calls, function_call, ...message } = choice['message'] as Loose
      const listed = (tool_calls as Loose[] | null | undefined) ?? []
      // The deprecated `function_call`, which some compatible servers still send.
      const called = listed.length === 0 && function_call ? [{ function: function_call }] : listed
      const calls = called.length > 0 ? called : undefined
      const textless = calls || message['refusal'] || message['audio']
      const finish = finishOf(finishReason(provider, choice['finish_reason']), calls !== undefined)
      separateThoughts(message)
      if (tags) {
        const thoughts = thinkTags(tags)
        thoughts.separate(message)
        thoughts.end(message)
      }
      asTexts(message)
      return extend(choice, {
        index: count(choice['index']) ?? position,
        message: extend(message, {
          role: 'assistant' as const,
          content: (message['content'] as string | null | undefined) || (textless ? null : ''),
          ...(calls && { tool_calls: calls.map((call) => toToolCall(call, finish, provider, ofArguments)) }),
        }),
        finish_reason: finish,
      })
    }),
    usage: reportOf(body),
  })
}
