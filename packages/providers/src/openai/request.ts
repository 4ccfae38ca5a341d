import type { ChatCompletionRequest, Note } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import type { UpstreamRequest } from '../adapter.js'
import { cleanHistory } from './history.js'
import { fitParameters } from './parameters.js'
import { route } from './routing-fields.js'
import type { RulesOf } from './servers.js'
import { fitContent, fitNames } from './servers.js'

/** Nothing was refused. */
const none: ReadonlySet<string> = new Set()

/** Builds the request to OpenAI: `system` becomes the first message, `provider` and routing fields are removed, and streams always include usage. */
export function toRequest(
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
