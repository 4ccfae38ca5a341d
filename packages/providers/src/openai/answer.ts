import type { Usage } from '@turnpike/core'
import { isObject } from '@turnpike/core/internal'
import { count } from '../count.js'

/**
 * A choice in the form that was asked for, `message` for a whole answer and `delta` for a chunk: some servers give the other one, or the `text`
 * of completions.
 */
export function inForm(form: 'message' | 'delta', choice: Record<string, unknown>): Record<string, unknown> {
  if (isObject(choice[form])) return choice
  const { message, delta, text, ...rest } = choice
  return { ...rest, [form]: [message, delta].find(isObject) ?? (typeof text === 'string' ? { content: text } : {}) }
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
