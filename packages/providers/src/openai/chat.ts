import type { ChatCompletionRequest, Completion, FinishReason, Note, ToolCall } from '@turnpike/core'
import { extend, isObject } from '@turnpike/core/internal'
import type { ChatAdapter, UpstreamRequest } from '../adapter.js'
import { checkArguments, finishOf, newCompletionId, newToolCallId, secondsNow, unnamedCall } from '../chunk-builder.js'
import { count } from '../count.js'
import { textOf } from '../json.js'
import { separateThoughts, toFinishReason, toUsage } from './answer.js'
import { errors, missing } from './errors.js'
import { cleanHistory } from './history.js'
import { isReasoningModel } from './models.js'
import { fitParameters } from './parameters.js'
import { dropRouting } from './routing-fields.js'
import type { RulesOf } from './servers.js'
import { fitContent, fitNames, rulesAt } from './servers.js'
import { streamDecoder } from './stream.js'

/** Nothing was refused. */
const none: ReadonlySet<string> = new Set()

/** Builds the request to OpenAI: `system` becomes the first message, `provider` and routing fields are removed, and streams always include usage. */
function toRequest(
  given: ChatCompletionRequest,
  rulesOf: RulesOf,
  refused: ReadonlySet<string> = none,
): UpstreamRequest {
  const notes: Note[] = []
  const rules = rulesOf(given.model)
  const request = fitContent(given, rules, notes)
  const { model, system, stream, stream_options, max_tokens } = request
  const messages = cleanHistory(request.messages, model)
  const asksUsage = stream && !refused.has('stream_options')
  // Undefined fields are not serialized. Deleting them would cost more than the rest of this function.
  const upstream: Record<string, unknown> = extend(request, {
    messages: system ? [{ role: 'system', content: system }, ...messages] : messages,
    system: undefined,
    provider: undefined,
    stream_options: asksUsage ? extend(stream_options ?? {}, { include_usage: true }) : undefined,
  })
  dropRouting(upstream, notes)
  if (max_tokens && isReasoningModel(model)) {
    upstream['max_completion_tokens'] ??= max_tokens
    upstream['max_tokens'] = undefined
  }
  fitParameters(upstream, notes)
  fitNames(upstream, rules, notes)
  const { max_tokens: older = 0, max_completion_tokens: newer = 0 } = upstream as {
    [field: string]: number | undefined
  }
  // A server reads one of the two.
  return { path: '/chat/completions', body: upstream, notes, maxOutput: Math.max(older, newer) || undefined }
}

type Loose = Record<string, unknown>

/** Normalizes a function call to `ToolCall` of spec.md; calls of custom tools are returned unchanged. */
function toToolCall(call: Loose, finish: FinishReason, provider: string): ToolCall {
  if (call['type'] === 'custom') return call as ToolCall
  const given = (call['function'] ?? {}) as { name?: string; arguments?: unknown }
  if (!given.name) throw unnamedCall(provider)
  const text =
    typeof given.arguments === 'object' ? JSON.stringify(given.arguments ?? {}) : String(given.arguments ?? '')
  return {
    ...call,
    id: (call['id'] as string) || newToolCallId(),
    type: 'function',
    function: { ...given, name: given.name, arguments: checkArguments(text, finish, provider) },
  }
}

function toResponse(provider: string, body: Loose, request: ChatCompletionRequest): Completion {
  const { choices } = body
  if (!Array.isArray(choices) || choices.length === 0) throw missing(provider, body, 'choices')
  return extend(body, {
    id: (body['id'] as string) || newCompletionId(),
    object: 'chat.completion' as const,
    created: count(body['created']) || secondsNow(),
    model: (body['model'] as string) || request.model,
    choices: choices.map((choice: Loose, position) => {
      const { tool_calls, function_call, ...message } = (isObject(choice['message']) ? choice['message'] : {}) as Loose
      const given = (tool_calls as Loose[] | null | undefined) ?? []
      // The deprecated `function_call`, which some compatible servers still send.
      const called = given.length === 0 && function_call ? [{ function: function_call }] : given
      const calls = called.length > 0 ? called : undefined
      const textless = calls || message['refusal'] || message['audio']
      const finish = finishOf(toFinishReason(choice['finish_reason']), calls !== undefined)
      separateThoughts(message)
      return extend(choice, {
        index: count(choice['index']) ?? position,
        message: extend(message, {
          role: 'assistant' as const,
          content: textOf(message['content']) || (textless ? null : ''),
          ...(calls && { tool_calls: calls.map((call) => toToolCall(call, finish, provider)) }),
        }),
        finish_reason: finish,
      })
    }),
    usage: toUsage(body['usage']),
  })
}

/**
 * The adapter of the OpenAI family: it passes requests and answers through and normalizes the deviations of compatible servers.
 * @param baseURL tells which server it is; default one that does as OpenAI does
 */
export const openaiChat = (provider: string, baseURL?: string): ChatAdapter => {
  const rulesOf = rulesAt(baseURL)
  return {
    oneChoice: false,
    request: (request, refused) => toRequest(request, rulesOf, refused),
    response: (body, request) => toResponse(provider, body as Loose, request),
    usage: (body: Loose) => toUsage(body['usage']),
    stream: (request) => streamDecoder(provider, request.model),
    errors,
  }
}
