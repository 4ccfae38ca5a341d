import type { ChatCompletionRequest, ChatStream, ChunkChoice, Completion, Usage } from '@turnpike/core'
import { unitsOf } from '@turnpike/core'
import { areBelieved } from '@turnpike/core/internal'
import type { Used } from './record.js'

/** Characters per token where an upstream reports no usage (ruling 28). */
const CHARACTERS_PER_TOKEN = 4

/** Tokens of a text, where nobody has counted them. */
export const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN)

/** Characters of all text in a part of a request or answer, whatever its shape; keys and data URLs are no text. */
function characters(value: unknown): number {
  if (typeof value === 'string') return value.startsWith('data:') ? 0 : value.length
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  for (const inner of Object.values(value)) sum += characters(inner)
  return sum
}

/** Tokens of a prompt, estimated. */
export const promptTokens = ({ messages, system, tools }: ChatCompletionRequest): number =>
  tokens(characters(messages.map(({ content }) => content)) + characters(system) + characters(tools))

/** Used tokens, and how exactly they are known. */
export type Metered = Used & { usage: Usage }

/** A report of usage; what no answer can have used is no report. */
export const reported = (usage: Usage | undefined): Usage | undefined =>
  usage && areBelieved(usage) ? usage : undefined

/** Tokens as they were counted, by class. */
export const metered = (usage: Usage, accuracy: Used['accuracy'], tier?: string): Metered => ({
  usage,
  units: unitsOf(usage),
  accuracy,
  tier,
})

/** OpenAI's tiers of service that cost otherwise than the price list says; `scale` is paid for in advance. */
const TIERS = ['flex', 'priority', 'scale']

/** Such a tier, as an answer tells it. */
const tierOf = ({ service_tier: tier }: { [field: string]: unknown }): string | undefined =>
  TIERS.find((name) => name === tier)

const estimate = (request: ChatCompletionRequest, completionCharacters: number, tier?: string): Metered => {
  const prompt_tokens = promptTokens(request)
  const completion_tokens = tokens(completionCharacters)
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
  return metered(usage, 'estimated', tier)
}

/** The usage of a whole answer: as reported, or estimated. */
export function meterAnswer(request: ChatCompletionRequest, answer: Completion): Metered {
  const usage = reported(answer.usage)
  if (usage) return metered(usage, 'reported', tierOf(answer))
  const said = answer.choices.map(({ message }) => [message.content, message['reasoning_content'], message.tool_calls])
  return estimate(request, characters(said), tierOf(answer))
}

/** Counts what a stream uses. */
export interface StreamMeter {
  /** To be called with all that the client is sent. */
  count(choices: ChunkChoice[]): void
  /** What was used so far; `complete` = the stream is whole. */
  used(complete: boolean): Metered
}

export function streamMeter(request: ChatCompletionRequest, stream: ChatStream): StreamMeter {
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
      const usage = reported(stream.usage())
      const tier = tierOf(stream.head)
      return usage ? metered(usage, complete ? 'reported' : 'partial', tier) : estimate(request, seen, tier)
    },
  }
}
