import type { Usage } from '@turnpike/core'
import { newCompletionId } from '../answers/chunk-builder.js'
import { count } from '../answers/count.js'
import type { PartialArgument } from './partial-arguments.js'
import { toExtraContent } from './signatures.js'

/** A part of an answer. Fields without an equivalent in OpenAI's form are omitted. */
export interface AnswerPart {
  text?: string
  /** True if `text` is a thought. */
  thought?: boolean
  thoughtSignature?: string
  functionCall?: {
    id?: string
    name?: string
    args?: object
    /** Vertex AI streams arguments in fragments. */
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

/** A response of generateContent, or one event of its stream. */
export interface Answer {
  candidates?: Candidate[]
  promptFeedback?: { blockReason?: string }
  usageMetadata?: object | undefined
  responseId?: string
}

export const idOf = ({ responseId }: Answer): string => (responseId ? `chatcmpl-${responseId}` : newCompletionId())

/** Why the prompt was blocked; undefined if it was not. The upstream may omit the reason. */
export const blockOf = ({ candidates, promptFeedback }: Answer): string | undefined =>
  candidates?.length || !promptFeedback ? undefined : (promptFeedback.blockReason ?? 'BLOCK_REASON_UNSPECIFIED')

const modality = (details: unknown, name: string): number =>
  Array.isArray(details)
    ? (count(
        (details as { modality?: unknown; tokenCount?: unknown }[]).find((part) => part?.modality === name)?.tokenCount,
      ) ?? 0)
    : 0

/** Whether a usage report contains token counts. */
export const hasCounts = (value: object | null | undefined): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ('promptTokenCount' in value || 'candidatesTokenCount' in value || 'thoughtsTokenCount' in value)

/** The service tier by the Gemini API (`serviceTier`) or Vertex AI (`trafficType`), in OpenAI's words; undefined if none is told. */
function tierOf({ serviceTier, trafficType }: Record<string, unknown>): string | undefined {
  const told = serviceTier ?? (typeof trafficType === 'string' ? /^ON_DEMAND_(.+)/.exec(trafficType)?.[1] : undefined)
  return typeof told === 'string' && /^[a-z]+$/i.test(told) ? told.toLowerCase() : undefined
}

/** Converts usage to OpenAI's form; undefined if there are no counts. Thoughts are completion tokens, which some models already include in `candidatesTokenCount`. */
export function toUsage(value: object | undefined): Usage | undefined {
  const metadata = (value ?? {}) as Record<string, unknown>
  const given = count(metadata['promptTokenCount'])
  const candidates = count(metadata['candidatesTokenCount'])
  const thoughts = count(metadata['thoughtsTokenCount']) ?? 0
  if (given === undefined && candidates === undefined && thoughts === 0) return undefined
  const prompt = (given ?? 0) + (count(metadata['toolUsePromptTokenCount']) ?? 0)
  /** Uncached prompt tokens of a modality. Cached tokens are billed at one rate for all modalities. */
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
    service_tier: tierOf(metadata),
  }
}

/** The usage that a response reports. */
export const reportOf = ({ usageMetadata }: Answer): Usage | undefined => toUsage(usageMetadata)

const utf8 = new TextEncoder()

/** Characters of tokens whose bytes are told: the longest answer, of 16,384 tokens with the 20 likeliest for each, has fewer. */
const TOKEN_CHARACTERS = 3_000_000

/** Converts log probabilities to OpenAI's form; null if there are none. */
export function toLogprobs({ logprobsResult }: Candidate): { content: object[]; refusal: null } | null {
  if (!logprobsResult?.chosenCandidates) return null
  const { chosenCandidates, topCandidates = [] } = logprobsResult
  let left = TOKEN_CHARACTERS
  const toLogprob = ({ token = '', logProbability = 0 }: LogProbability) => {
    left -= token.length
    return { token, logprob: logProbability, bytes: left < 0 ? null : [...utf8.encode(token)] }
  }
  const content = chosenCandidates.map((chosen, position) =>
    Object.assign(toLogprob(chosen), { top_logprobs: (topCandidates[position]?.candidates ?? []).map(toLogprob) }),
  )
  return { content, refusal: null }
}

/** Whether a part is text of the answer itself. */
export const isText = ({ text, thought, functionCall }: AnswerPart): boolean =>
  text !== undefined && !thought && !functionCall

/** The image of a part, in base64; undefined for other media and for drafts in thoughts. */
export function imageOf({ thought, inlineData }: AnswerPart): { mimeType: string; data: string } | undefined {
  const { mimeType, data } = inlineData ?? {}
  return thought || typeof data !== 'string' || data === '' || !mimeType?.startsWith('image/')
    ? undefined
    : { mimeType, data }
}

/** Converts an image to the form that other gateways use for `message.images`, with its signature; undefined if the part has none. */
export function toImage(part: AnswerPart): object | undefined {
  const image = imageOf(part)
  const { thoughtSignature: signature } = part
  return (
    image && {
      type: 'image_url',
      image_url: { url: `data:${image.mimeType};base64,${image.data}` },
      ...(signature && { extra_content: toExtraContent(signature) }),
    }
  )
}
