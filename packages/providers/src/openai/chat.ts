import type { ChatCompletionRequest, Completion, FinishReason, Note, ToolCall } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import type { ChatAdapter, UpstreamRequest } from '../adapter.js'
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
import { choiceError, errors, missing, toldError } from './errors.js'
import { cleanHistory } from './history.js'
import { OPENAI } from './models.js'
import { fitParameters } from './parameters.js'
import { route } from './routing-fields.js'
import type { RulesOf } from './servers.js'
import { fitContent, fitNames, rulesAt } from './servers.js'
import { streamDecoder } from './stream.js'
import { thinkTags } from './think-tags.js'

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
  const { model, system, stream, stream_options } = request
  const messages = cleanHistory(request.messages, model, rules.noThoughts === true, notes)
  const asksUsage = stream && !refused.has('stream_options')
  // Undefined fields are not serialized. Deleting them would cost more than the rest of this function.
  const upstream: Record<string, unknown> = extend(request, {
    messages: system ? [{ role: 'system', content: system }, ...messages] : messages,
    system: undefined,
    provider: undefined,
    // OpenAI's own and other servers refuse an empty list.
    tools: request.tools?.length ? request.tools : undefined,
    stream_options: asksUsage ? extend(stream_options ?? {}, { include_usage: true }) : undefined,
  })
  route(upstream, notes)
  fitParameters(upstream, notes)
  fitNames(upstream, rules, notes)
  const { max_tokens: older = 0, max_completion_tokens: newer = 0 } = upstream as {
    [field: string]: number | undefined
  }
  // A server reads one of the two.
  return { path: '/chat/completions', body: upstream, notes, maxOutput: Math.max(older, newer) || undefined }
}

type Loose = Record<string, unknown>

/** Normalizes a function call to `ToolCall`; calls of custom tools are returned unchanged. */
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

function toResponse(provider: string, body: Loose, request: ChatCompletionRequest, options: ChatOptions): Completion {
  const { choices } = body
  if (!Array.isArray(choices) || choices.length === 0) throw missing(provider, body, 'choices')
  const told = toldError(provider, body, true)
  if (told) throw told
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
      if (options.thinkTags) {
        const tags = thinkTags(options.thinkTags)
        tags.separate(message)
        tags.end(message)
      }
      asTexts(message)
      return extend(choice, {
        index: count(choice['index']) ?? position,
        message: extend(message, {
          role: 'assistant' as const,
          content: (message['content'] as string | null | undefined) || (textless ? null : ''),
          ...(calls && { tool_calls: calls.map((call) => toToolCall(call, finish, provider)) }),
        }),
        finish_reason: finish,
      })
    }),
    usage: reportOf(body),
  })
}

/** Options of {@link openaiChat}. */
export interface ChatOptions {
  /** The address of the server, by which its differences are known; default OpenAI's. */
  baseURL?: string | undefined
  /**
   * For servers without a reasoning parser: thoughts at the beginning of the content, in `<think>…</think>` or the tags of other models, become
   * `reasoning_content`. `open` = the prompt has the opening tag, as by the templates of DeepSeek R1 and QwQ, and the answer begins within it.
   * Default false: contents are not looked into.
   */
  thinkTags?: boolean | 'open'
}

/** The adapter of the OpenAI family: it passes requests and answers through and normalizes the deviations of compatible servers. */
export const openaiChat = (provider: string, options: ChatOptions = {}): ChatAdapter => {
  const rulesOf = rulesAt(options.baseURL ?? OPENAI)
  return {
    oneChoice: false,
    request: (request, refused) => toRequest(request, rulesOf, refused),
    response: (body, request) => toResponse(provider, body as Loose, request, options),
    usage: reportOf,
    stream: (request) => streamDecoder(provider, request.model, options.thinkTags),
    errors,
  }
}
