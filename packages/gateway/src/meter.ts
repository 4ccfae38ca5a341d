import type { ChatCompletionRequest, ChatStream, ChunkChoice, Completion, Usage } from '@turnpike/core'
import { unitsOf } from '@turnpike/core'
import { areBelieved } from '@turnpike/core/internal'
import type { Used } from './record.js'

/** Characters per token for estimates, where an upstream reports no usage (ruling 28). */
const CHARACTERS_PER_TOKEN = 4

/** Estimated tokens of a text. */
export const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN)

/** Characters of all text in a part of a request or answer, whatever its shape; keys and data URLs are not counted. */
function characters(value: unknown): number {
  if (typeof value === 'string') return /^data:/i.test(value) ? 0 : value.length
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  for (const inner of Object.values(value)) sum += characters(inner)
  return sum
}

/** Estimated tokens of a prompt. */
export const promptTokens = ({ messages, system, tools }: ChatCompletionRequest): number =>
  tokens(characters(messages.map(({ content }) => content)) + characters(system) + characters(tools))

/** Used tokens and their accuracy. */
export type Metered = Used & { usage: Usage }

/** A report of usage; undefined where its counts are impossible. */
export const reported = (usage: Usage | undefined): Usage | undefined =>
  usage && areBelieved(usage) ? usage : undefined

/** Reported tokens by class. */
export const metered = (usage: Usage, accuracy: Used['accuracy'], tier?: string): Metered => ({
  usage,
  units: unitsOf(usage),
  accuracy,
  tier,
})

/** OpenAI's service tiers with prices other than the standard ones; `scale` is paid for in advance. */
const TIERS = ['flex', 'priority', 'scale']

/** The tier that an answer reports, if it is one of these. */
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

/** Counts the usage of a stream. */
export interface StreamMeter {
  /** Must be called with everything that is sent to the client. */
  count(choices: ChunkChoice[]): void
  /** The usage so far; `complete` = the stream has ended successfully. */
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
