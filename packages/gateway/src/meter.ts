import type { ChatCompletionRequest, ChatStream, ChunkChoice, Completion, Usage } from '@turnpike/core'
import { unitsOf } from '@turnpike/core'
import { areBelieved } from '@turnpike/core/internal'
import { BYTES_PER_TOKEN, PICTURE_INPUT_TOKENS } from './conventions.js'
import type { Used } from './record.js'
import { servedTier } from './service-tier.js'

/** Characters per token for estimates, where an upstream reports no usage (ruling 28). */
const CHARACTERS_PER_TOKEN = 4

/** Estimated tokens of a text. */
export const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN)

/** Parts of messages that are no text. */
const media: unknown[] = 'image_url input_audio audio audio_url video video_url file document document_url'.split(' ')

export const isMedia = ({ type }: { type?: unknown }): boolean => media.includes(type)

/** Characters of all text in a part of a request or answer, whatever its shape; keys, data URLs and media are not counted. */
function characters(value: unknown): number {
  if (typeof value === 'string') return /^data:/i.test(value) ? 0 : value.length
  if (typeof value !== 'object' || value === null || isMedia(value)) return 0
  let sum = 0
  for (const inner of Object.values(value)) sum += characters(inner)
  return sum
}

/** Bytes per second of a recording whose duration is not known: 128 kbit/s. */
export const BYTES_PER_SECOND = 16_000
/** Tokens per second of a recording. */
export const AUDIO_TOKENS = 32

/** Bytes of what a part holds in base64, whatever its shape. */
function bytesIn(value: unknown): number {
  if (typeof value === 'string') return (value.length * 3) / 4
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, inner) => sum + bytesIn(inner), 0)
}

/** Tokens that are expected of a part that is no text, and their class. */
export function mediaTokens(part: { type: string }): { name: 'input' | 'input_audio'; tokens: number } {
  if (part.type === 'image_url') return { name: 'input', tokens: PICTURE_INPUT_TOKENS }
  const bytes = bytesIn(part)
  return part.type.includes('audio')
    ? { name: 'input_audio', tokens: Math.ceil((bytes / BYTES_PER_SECOND) * AUDIO_TOKENS) }
    : { name: 'input', tokens: Math.max(PICTURE_INPUT_TOKENS, Math.ceil(bytes / BYTES_PER_TOKEN)) }
}

/** Estimated tokens of the text of a prediction (`prediction`), which are billed as output where they are not used. */
export const predictionTokens = ({ prediction }: ChatCompletionRequest): number => tokens(characters(prediction))

/** Estimated tokens of the text of a prompt. */
export const promptTokens = ({ messages, system, tools }: ChatCompletionRequest): number =>
  tokens(characters(messages.map(({ content }) => content)) + characters(system) + characters(tools))

/** Used tokens and their accuracy. */
export type Metered = Used & { usage: Usage }

/** A report of usage; undefined where its counts are impossible, such as no tokens at all. */
export const reported = (usage: Usage | undefined): Usage | undefined =>
  usage && areBelieved(usage) && usage.prompt_tokens + usage.completion_tokens > 0 ? usage : undefined

/** Reported tokens by class. */
export const metered = (usage: Usage, accuracy: Used['accuracy'], tier?: string): Metered => ({
  usage,
  units: unitsOf(usage),
  accuracy,
  tier,
})

const estimate = (request: ChatCompletionRequest, completionCharacters: number, tier?: string): Metered => {
  const prompt_tokens = promptTokens(request)
  const completion_tokens = tokens(completionCharacters)
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  return metered(usage, 'estimated', tier)
}

/** The usage of a whole answer: as reported, or estimated. @param asked the service tier that the upstream was asked for */
export function meterAnswer(request: ChatCompletionRequest, answer: Completion, asked: string | undefined): Metered {
  const usage = reported(answer.usage)
  const tier = servedTier(asked, answer, answer.usage)
  if (usage) return metered(usage, 'reported', tier)
  const said = answer.choices.map(({ message }) => [message.content, message['reasoning_content'], message.tool_calls])
  return estimate(request, characters(said), tier)
}

/** Counts the usage of a stream. */
export interface StreamMeter {
  /** Must be called with everything that is sent to the client. */
  count(choices: ChunkChoice[]): void
  /** The usage so far; `complete` = the stream has ended successfully. */
  used(complete: boolean): Metered
}

/** @param asked the service tier that the upstream was asked for */
export function streamMeter(
  request: ChatCompletionRequest,
  stream: ChatStream,
  asked: string | undefined,
): StreamMeter {
  let seen = 0
  return {
    count(choices) {
      for (const { delta } of choices) {
        const { content, reasoning_content: thought, tool_calls } = delta
        if (content) seen += content.length
        if (typeof thought === 'string') seen += thought.length
        if (tool_calls) seen += characters(tool_calls)
      }
    },
    used(complete) {
      const told = stream.usage()
      const usage = reported(told)
      const tier = servedTier(asked, stream.head, told)
      return usage ? metered(usage, complete ? 'reported' : 'partial', tier) : estimate(request, seen, tier)
    },
  }
}
