import type { FinishReason, Usage } from '@turnpike/core'
import { newCompletionId } from '../chunk-builder.js'
import { count } from '../count.js'
import { malformed } from '../failures.js'
import type { PartialArgument } from './partial-arguments.js'

/** A part of an answer; kinds that a client of OpenAI's form cannot be shown are left out. */
export interface AnswerPart {
  text?: string
  /** True where `text` is a thought. */
  thought?: boolean
  thoughtSignature?: string
  functionCall?: {
    id?: string
    name?: string
    args?: object
    /** Vertex AI: arguments piece by piece. */
    partialArgs?: PartialArgument[]
    willContinue?: boolean
  }
  inlineData?: { mimeType?: string; data?: string }
}

interface LogProbability {
  token?: string
  logProbability?: number
}

export interface Candidate {
  index?: number
  content?: { parts?: AnswerPart[] }
  finishReason?: string
  logprobsResult?: { chosenCandidates?: LogProbability[]; topCandidates?: { candidates?: LogProbability[] }[] }
}

/** A whole answer of generateContent, or one event of its stream. */
export interface Answer {
  candidates?: Candidate[]
  promptFeedback?: { blockReason?: string }
  usageMetadata?: object | undefined
  responseId?: string
}

export const idOf = ({ responseId }: Answer): string => (responseId ? `chatcmpl-${responseId}` : newCompletionId())

/** Why a prompt was not answered, where it was not; the reason may be left out. */
export const blockOf = ({ candidates, promptFeedback }: Answer): string | undefined =>
  candidates?.length || !promptFeedback ? undefined : (promptFeedback.blockReason ?? 'BLOCK_REASON_UNSPECIFIED')

/** Reasons of an answer that was withheld; the last is Vertex AI's. */
export const filtered = /^(IMAGE_)?(SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR)$/

/** Reasons of one whose tool call cannot be read. */
const broken =
  /^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE|MALFORMED_RESPONSE)$/

/** A finish reason as `stop` before it is known whether tools were called. A broken answer of which nothing can be used is a failure. */
export function toFinishReason(reason: string | undefined, usable: boolean, provider: string): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (filtered.test(reason ?? '')) return 'content_filter'
  if (!usable && broken.test(reason ?? ''))
    throw malformed(provider, `The model gave no usable answer: ${reason}`, undefined, reason)
  return 'stop'
}

const modality = (details: unknown, name: string): number =>
  Array.isArray(details)
    ? (count(
        (details as { modality?: unknown; tokenCount?: unknown }[]).find((part) => part?.modality === name)?.tokenCount,
      ) ?? 0)
    : 0

/** Whether a report of usage counts anything. */
export const hasCounts = (value: object | null | undefined): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ('promptTokenCount' in value || 'candidatesTokenCount' in value || 'thoughtsTokenCount' in value)

/** Usage in OpenAI's form; undefined where no tokens were counted. Thoughts belong to the completion, and some models count them as candidates already. */
export function toUsage(value: object | undefined): Usage | undefined {
  const metadata = (value ?? {}) as Record<string, unknown>
  const given = count(metadata['promptTokenCount'])
  const candidates = count(metadata['candidatesTokenCount'])
  const thoughts = count(metadata['thoughtsTokenCount']) ?? 0
  if (given === undefined && candidates === undefined && thoughts === 0) return undefined
  const prompt = (given ?? 0) + (count(metadata['toolUsePromptTokenCount']) ?? 0)
  /** Those of the prompt that were not in the cache, whose tokens are billed alike. */
  const fresh = (name: string): number =>
    Math.max(modality(metadata['promptTokensDetails'], name) - modality(metadata['cacheTokensDetails'], name), 0)
  const inclusive = candidates !== undefined && prompt + candidates === metadata['totalTokenCount']
  const completion = (candidates ?? 0) + (inclusive ? 0 : thoughts)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: count(metadata['cachedContentTokenCount']) ?? 0,
      audio_tokens: fresh('AUDIO'),
      image_tokens: fresh('IMAGE') || undefined,
    },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      audio_tokens: modality(metadata['candidatesTokensDetails'], 'AUDIO') || undefined,
      image_tokens: modality(metadata['candidatesTokensDetails'], 'IMAGE') || undefined,
    },
  }
}

const utf8 = new TextEncoder()

const toLogprob = ({ token = '', logProbability = 0 }: LogProbability) => ({
  token,
  logprob: logProbability,
  bytes: [...utf8.encode(token)],
})

/** Log probabilities in OpenAI's form; null where there are none. */
export function toLogprobs({ logprobsResult }: Candidate): { content: object[]; refusal: null } | null {
  if (!logprobsResult?.chosenCandidates) return null
  const { chosenCandidates, topCandidates = [] } = logprobsResult
  const content = chosenCandidates.map((chosen, position) =>
    Object.assign(toLogprob(chosen), { top_logprobs: (topCandidates[position]?.candidates ?? []).map(toLogprob) }),
  )
  return { content, refusal: null }
}

/** An image of an answer, in the form in which other gateways give it; undefined for other media and for drafts among the thoughts. */
export function toImage({ thought, inlineData }: AnswerPart): object | undefined {
  const { mimeType, data } = inlineData ?? {}
  if (thought || !data || !mimeType?.startsWith('image/')) return undefined
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }
}

/** Where a tool call keeps its signature: Google's own name for it, which clients send back. */
export const toExtraContent = (signature: string): object => ({ google: { thought_signature: signature } })
