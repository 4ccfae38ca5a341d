import type { ChatCompletionRequest, ChatStream, ChunkChoice, Completion, Usage } from '@turnpike/core'
import { unitsOf } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { areBelieved, sumUsage } from '@turnpike/core/internal'
import { expectedMedia, expectedText, promptOf } from '../limits/prompt.js'
import type { Used } from './record.js'
import { servedTier } from '../limits/service-tier.js'
import { expectedTokens, jsonBytes, utf8Bytes } from '../limits/text-bytes.js'

/** Used tokens and their accuracy. */
export type Metered = Used & { usage: Usage }

/** A report of usage; undefined where its counts are impossible, such as no tokens at all. */
export const reported = (usage: Usage | undefined): Usage | undefined =>
  usage && areBelieved(usage) && usage.prompt_tokens + usage.completion_tokens > 0 ? usage : undefined

/** Reported tokens by class. @param calls how many calls they are of; default 1 */
export const metered = (usage: Usage, accuracy: Used['accuracy'], tier?: string, calls?: number): Metered => ({
  usage,
  units: unitsOf(usage),
  accuracy,
  tier,
  calls,
})

/**
 * The usage of an answer that the upstream did not report: a token for four bytes of what was said, which are characters in English.
 * @param prompts how many calls were made with the prompt
 */
function estimate(request: ChatCompletionRequest, prompts: number, completionBytes: number): Usage {
  const prompt = promptOf(request)
  const { input, input_audio } = expectedMedia(prompt)
  const prompt_tokens = (expectedText(prompt) + input + input_audio) * prompts
  const completion_tokens = expectedTokens(completionBytes)
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(input_audio > 0 && { prompt_tokens_details: { audio_tokens: input_audio * prompts } }),
  }
}

/** What the upstream of a chat was asked for. */
export interface Asked {
  request: ChatCompletionRequest
  /** How many calls are made with the prompt. */
  prompts: number
  /** The service tier; undefined = the standard one. */
  tier: string | undefined
}

/** The usage of a whole answer: as reported, or estimated. */
export function meterAnswer(asked: Asked, answer: Completion): Metered {
  const usage = reported(answer.usage)
  const tier = servedTier(asked.tier, answer, answer.usage)
  if (usage) return metered(usage, 'reported', tier, asked.prompts)
  let said = 0
  for (const { message } of answer.choices) said += bytesOf(message)
  return metered(estimate(asked.request, asked.prompts, said), 'estimated', tier, asked.prompts)
}

/** A message of an answer, or a delta of one. */
type Said = { content?: string | null | undefined; tool_calls?: object[] | undefined; [field: string]: unknown }

/** Bytes of what is said: text, thoughts, refusal and calls. */
function bytesOf(said: Said): number {
  const { content, reasoning_content: thought, refusal, tool_calls: calls } = said
  let bytes = content ? utf8Bytes(content) : 0
  if (typeof thought === 'string') bytes += utf8Bytes(thought)
  if (typeof refusal === 'string') bytes += utf8Bytes(refusal)
  return calls ? bytes + jsonBytes(calls) : bytes
}

/** Counts the usage of a stream. */
export interface StreamMeter {
  /** Must be called with everything that is sent to the client. */
  count(choices: ChunkChoice[]): void
  /** The usage so far; `complete` = the stream has ended successfully. */
  used(complete: boolean): Metered
}

/** A report of so much less than what was sent was made before that. */
const EARLIER = 1 / 4

/**
 * What of a report stands where the stream is not complete. The prompt is counted before the answer begins; what was answered is counted again
 * and again (Gemini), in the end (OpenAI, Claude), or by some servers once in the beginning.
 */
function partial(report: Usage, guess: Usage): Usage {
  const isEarlier = report.completion_tokens <= guess.completion_tokens * EARLIER
  const prompt_tokens = report.prompt_tokens || guess.prompt_tokens
  const completion_tokens = isEarlier ? guess.completion_tokens : report.completion_tokens
  return extend(report, { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens })
}

type Call = Pick<Metered, 'usage' | 'accuracy'>

/** @param onFirst called when the first text, thought or call comes: chunks before it have a role alone */
export function streamMeter(
  { request, prompts, tier: askedTier }: Asked,
  stream: ChatStream,
  onFirst?: () => void,
): StreamMeter {
  /** Bytes that were sent, and those of each choice where it has a call of its own. */
  let sent = 0
  const sentOf = stream.calls && new Map<number, number>()
  /** What one call has used, or several that report together. @param bytes that were sent of what it said */
  const one = (told: Usage | undefined, prompts: number, bytes: number, complete: boolean): Call => {
    const usage = reported(told)
    if (usage && complete) return { usage, accuracy: 'reported' }
    const guess = estimate(request, prompts, bytes)
    return usage ? { usage: partial(usage, guess), accuracy: 'partial' } : { usage: guess, accuracy: 'estimated' }
  }
  return {
    count(choices) {
      const before = sent
      for (const { index, delta } of choices) {
        const bytes = bytesOf(delta)
        sent += bytes
        sentOf?.set(index, (sentOf.get(index) ?? 0) + bytes)
      }
      if (before === 0 && sent > 0) onFirst?.()
    },
    used(complete) {
      const told = stream.usage()
      const tier = servedTier(askedTier, stream.head, told)
      const calls = stream.calls
        ? Array.from(stream.calls(), ([index, usage]) => one(usage, 1, sentOf!.get(index) ?? 0, complete))
        : [one(told, prompts, sent, complete)]
      const [{ accuracy }] = calls as [Call]
      const usage = sumUsage(calls.map(({ usage }) => usage))!
      const isAlike = calls.every((call) => call.accuracy === accuracy)
      return metered(usage, isAlike ? accuracy : 'partial', tier, calls.length)
    },
  }
}
