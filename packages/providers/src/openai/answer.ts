import type { Usage } from '@turnpike/core'
import { extend, isObject } from '@turnpike/core/helpers'
import { count } from '../answers/count.js'
import { textOf } from '../upstream/json.js'

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

type Loose = Record<string, unknown>

const none: Loose = Object.freeze({})
const loose = (value: unknown): Loose => (isObject(value) ? value : none)

/** The largest of the counts; 0 if none is one. Servers fill the standard field with 0 beside their own. */
function largest(...values: unknown[]): number {
  let most = 0
  for (const value of values) most = Math.max(most, count(value) ?? 0)
  return most
}

/** `details` with the counts that are not 0. */
function counting(details: Loose, counts: Record<string, number>): Loose {
  const counted: Loose = extend(details, {})
  for (const [field, tokens] of Object.entries(counts)) if (tokens > 0) counted[field] = tokens
  return counted
}

/**
 * Normalizes the upstream's usage to OpenAI's fields, and keeps its own; undefined if it has no token counts. `total_tokens` is always the sum
 * of the other two. The sources are the references of the servers (November 2026):
 * - prompt: `prompt_tokens`, `input_tokens`, or DeepSeek's hits and misses of the cache; and Perplexity's `citation_tokens`, which it bills as
 *   prompt.
 * - read from a cache: OpenAI's details; `cached_tokens` beside the counts (Kimi, Together); `prompt_cache_hit_tokens` (DeepSeek);
 *   `num_cached_tokens` or `prompt_token_details` (Mistral); `cache_read_input_tokens` (Claude through other servers); `cache_n` (llama.cpp).
 * - written to one: `cache_write_tokens` (OpenAI, OpenRouter), `cache_creation_input_tokens` (Qwen, Claude), `cache_creation_tokens` (LiteLLM);
 *   of these for an hour: `ephemeral_1h_input_tokens`, in Claude's `cache_creation` or LiteLLM's `cache_creation_token_details`.
 * - Where these are more than the prompt, or the total is the sum with them, it does not include them (some models of xAI).
 * - reasoning: in the details; beside the counts and in them (SGLang); in `total_tokens` only (xAI; Gemini through Google's own compatible API,
 *   which does not name it); in neither (Perplexity).
 * - sound: in the details; in `total_tokens` only, beside its `prompt_audio_seconds` (Mistral).
 * @param timings llama.cpp's, beside the usage
 * @param model which answered
 */
export function toUsage(value: unknown, timings?: unknown, model = ''): Usage | undefined {
  const usage = loose(value)
  const { cache_n, prompt_n, predicted_n } = loose(timings)
  const { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: missed } = usage
  const given =
    count(usage['prompt_tokens']) ??
    count(usage['input_tokens']) ??
    (count(missed) === undefined ? undefined : largest(missed) + largest(hit)) ??
    (count(prompt_n) === undefined ? undefined : largest(prompt_n) + largest(cache_n))
  const made = count(usage['completion_tokens']) ?? count(usage['output_tokens']) ?? count(predicted_n)
  if (given === undefined && made === undefined) return undefined
  const promptDetails = loose(usage['prompt_tokens_details'] ?? usage['input_tokens_details'])
  const completionDetails = loose(usage['completion_tokens_details'] ?? usage['output_tokens_details'])

  const cached_tokens = largest(
    promptDetails['cached_tokens'],
    usage['cached_tokens'],
    hit,
    usage['num_cached_tokens'],
    loose(usage['prompt_token_details'])['cached_tokens'],
    usage['cache_read_input_tokens'],
    cache_n,
  )
  const cache_write_tokens = largest(
    promptDetails['cache_write_tokens'],
    promptDetails['cache_creation_input_tokens'],
    promptDetails['cache_creation_tokens'],
    usage['cache_creation_input_tokens'],
  )
  const kept = loose(
    promptDetails['cache_creation_token_details'] ?? promptDetails['cache_creation'] ?? usage['cache_creation'],
  )
  const cache_write_1h_tokens = largest(promptDetails['cache_write_1h_tokens'], kept['ephemeral_1h_input_tokens'])
  let prompt = given ?? 0
  let completion = made ?? 0
  let reasoning_tokens = largest(completionDetails['reasoning_tokens'], usage['reasoning_tokens'])
  const cache = cached_tokens + cache_write_tokens
  let rest = largest(usage['total_tokens']) - prompt - completion
  if (cache > prompt || (cache > 0 && rest !== reasoning_tokens && [cache, cache + reasoning_tokens].includes(rest))) {
    prompt += cache
    rest -= cache
  }
  const audio_tokens = largest(usage['prompt_audio_seconds']) > 0 ? Math.max(rest, 0) : 0
  prompt += audio_tokens
  rest -= audio_tokens
  const citations = largest(usage['citation_tokens'])
  prompt += citations
  rest -= citations

  if (reasoning_tokens === 0 && rest > 0 && model.includes('gemini')) reasoning_tokens = rest
  if (reasoning_tokens > 0 && (rest === reasoning_tokens || count(usage['citation_tokens']) !== undefined))
    completion += reasoning_tokens

  const told: Usage = extend(usage, {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  })
  if (cache + audio_tokens > 0)
    told['prompt_tokens_details'] = counting(promptDetails, {
      cached_tokens,
      cache_write_tokens,
      cache_write_1h_tokens,
      audio_tokens,
    })
  if (reasoning_tokens > 0) told['completion_tokens_details'] = counting(completionDetails, { reasoning_tokens })
  return told
}

/**
 * The usage that an answer or a chunk reports: its own, that of its choice (Kimi), in `x_groq` (Groq), or llama.cpp's `timings`.
 * It costs a chunk without any a few reads.
 */
export function reportOf(body: Loose): Usage | undefined {
  const { usage, x_groq, timings, choices } = body
  const told = usage ?? (x_groq as Loose | undefined)?.['usage'] ?? (choices as Loose[] | undefined)?.[0]?.['usage']
  return told || timings ? toUsage(told, timings, textOf(body['model'])) : undefined
}
