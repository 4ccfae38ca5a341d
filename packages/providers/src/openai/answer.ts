import type { FinishReason, Usage } from '@turnpike/core'
import { count } from '../count.js'

/** Maps a finish reason to one of the four of spec.md. Unknown values from compatible servers map to `stop`. */
export function toFinishReason(reason: unknown): FinishReason {
  switch (reason) {
    case 'length':
    case 'tool_calls':
    case 'content_filter':
      return reason
    case 'function_call':
      return 'tool_calls'
    default:
      return 'stop'
  }
}

/** Joins a list of text parts, the format that Mistral uses. */
const joined = (parts: unknown): string =>
  Array.isArray(parts) ? parts.map((part: { text?: string } | null) => part?.text ?? '').join('') : ''

/** Normalizes `content` to a string and thoughts to `reasoning_content`. Some compatible servers name them `reasoning`; Mistral sends both as content parts. */
export function separateThoughts(fields: Record<string, unknown>): void {
  const { reasoning, content } = fields
  if (reasoning !== undefined) {
    fields['reasoning_content'] ??= reasoning
    delete fields['reasoning']
  }
  if (!Array.isArray(content)) return
  fields['content'] = joined(content)
  const thoughts = content.map((part: { thinking?: unknown } | null) => joined(part?.thinking)).join('')
  if (thoughts) fields['reasoning_content'] = thoughts
}

/**
 * Normalizes the upstream's usage; undefined if it has no token counts. `total_tokens` is always the sum of the other two:
 * xAI counts reasoning tokens in `total_tokens` only, OpenAI in `completion_tokens` as well.
 */
export function toUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { prompt_tokens, completion_tokens, ...details } = value as Record<string, unknown>
  if (count(prompt_tokens) === undefined && count(completion_tokens) === undefined) return undefined
  const prompt = count(prompt_tokens) ?? 0
  let completion = count(completion_tokens) ?? 0
  const parts = details['completion_tokens_details'] as { reasoning_tokens?: unknown } | null | undefined
  const reasoning = count(parts?.reasoning_tokens) ?? 0
  if (reasoning > 0 && details['total_tokens'] === prompt + completion + reasoning) completion += reasoning
  return { prompt_tokens: prompt, completion_tokens: completion, ...details, total_tokens: prompt + completion }
}
