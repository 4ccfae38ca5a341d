import type { FinishReason, UpstreamError } from '@turnpike/core'
import { failed, malformed } from '../refusals/failures.js'

/** What ended an answer: `failure` is the upstream's, `unusable` what the model made of a tool call. */
type End = FinishReason | 'failure' | 'unusable'

/**
 * The words of all vendors and servers, by their references; any other, such as `eos_token`, `pause_turn` or `OTHER`, is `stop`. In any
 * case, as Google's OpenAI-compatible API passes on Gemini's, and with hyphens, as the AI SDK writes them.
 */
const words: Record<Exclude<End, 'stop'>, string[]> = {
  tool_calls: ['tool_calls', 'function_call', 'tool_use', 'tool_call'],
  length: [
    'length',
    // Gemini, Claude, Cohere
    'max_tokens',
    // Claude, Z.ai
    'model_context_window_exceeded',
    // Mistral: the context window
    'model_length',
    // MiniMax: the context window
    'max_output',
    // OpenAI's Responses, of which proxies pass on the reason
    'max_output_tokens',
    // Cohere: the context window
    'error_limit',
    // Reka, SenseNova: the context window
    'context',
    // watsonx
    'token_limit',
    'time_limit',
    // vLLM: the text begins to repeat itself
    'repetition',
  ],
  content_filter: [
    'content_filter',
    // Claude
    'refusal',
    // Zhipu, Hunyuan, SenseNova
    'sensitive',
    // GigaChat
    'blacklist',
    // Cohere
    'error_toxic',
    // Bedrock
    'content_filtered',
    'guardrail_intervened',
    // Gemini; the last of the first line is of Vertex AI
    'safety',
    'recitation',
    'language',
    'blocklist',
    'prohibited_content',
    'spii',
    'model_armor',
    'image_safety',
    'image_recitation',
    'image_prohibited_content',
  ],
  failure: [
    // Mistral, OpenRouter, Cohere, Together, vLLM, watsonx, GigaChat
    'error',
    // DeepSeek
    'insufficient_system_resource',
    'aborted',
    // OpenAI's Responses
    'failed',
    // Zhipu
    'network_error',
    // vLLM, SGLang
    'abort',
    // Cohere, TensorRT-LLM
    'timeout',
    // TensorRT-LLM, watsonx: by somebody else, as the gateway reads no further where it cancels
    'cancelled',
    'canceled',
    // Cohere
    'user_cancel',
  ],
  unusable: [
    // Gemini
    'malformed_function_call',
    'unexpected_tool_call',
    'too_many_tool_calls',
    'missing_thought_signature',
    'malformed_response',
    // Bedrock
    'malformed_tool_use',
    'malformed_model_output',
  ],
}

const ends = new Map(
  Object.entries(words).flatMap(([end, all]) => all.map((word): [string, End] => [word, end as keyof typeof words])),
)

/** Characters of a finish reason that are read. */
const REASON_LENGTH = 200

/** A finish reason as an error tells it. */
export const reasonText = (reason: unknown): string => String(reason).slice(0, REASON_LENGTH)

/** What a finish reason means; `content_filter: RECITATION` and the like, of Google's OpenAI-compatible API, by the first of its words that is known. */
export function endOf(reason: unknown): End {
  // Most answers end with one of these, and nothing is to be looked for.
  if (typeof reason !== 'string' || reason === 'stop' || reason === 'STOP') return 'stop'
  for (const word of reasonText(reason).toLowerCase().replaceAll('-', '_').split(/\W+/)) {
    const end = ends.get(word)
    if (end) return end
  }
  return 'stop'
}

/**
 * Maps a finish reason to one of the four of the Chat Completions API, or to the error that it is. The caller makes `stop` and `tool_calls` consistent with the calls.
 * @param usable whether the answer can be used whatever became of a tool call
 */
export function toFinishReason(provider: string, reason: unknown, usable = false): FinishReason | UpstreamError {
  const end = endOf(reason)
  if (end !== 'failure' && end !== 'unusable') return end
  if (end === 'unusable' && usable) return 'stop'
  const text = reasonText(reason)
  return end === 'failure'
    ? failed(provider, `The upstream ended its answer: ${text}`, text)
    : malformed(provider, `The model gave no usable answer: ${text}`, undefined, text)
}

/** The finish reason of a whole answer. @throws the error that it is */
export function finishReason(provider: string, reason: unknown, usable?: boolean): FinishReason {
  const finish = toFinishReason(provider, reason, usable)
  if (typeof finish !== 'string') throw finish
  return finish
}
