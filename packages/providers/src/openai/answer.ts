import type { FinishReason, Usage } from '@turnpike/core'
import { count } from '../count.js'

/** The four reasons of spec.md; what compatible servers add means `stop`. */
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

/** The text of a list of parts, as Mistral gives it. */
const joined = (parts: unknown): string =>
  Array.isArray(parts) ? parts.map((part: { text?: string } | null) => part?.text ?? '').join('') : ''

/** Text as a string, and thoughts under the name that clients read: some compatible servers call them `reasoning`, Mistral lists both as parts of the text. */
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
 * An upstream's usage, or nothing where it does not say how many tokens there were. The parts always add up to the total:
 * xAI leaves reasoning out of `completion_tokens` and counts it in `total_tokens` only, OpenAI has it in both.
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
