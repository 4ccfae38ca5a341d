import type { GatewaySchemas } from '@turnpike/client'
import type { Call } from './request.js'

type Delta = GatewaySchemas['ChatCompletionChunk']['choices'][number]['delta']
type Message = GatewaySchemas['ChatCompletionResponse']['choices'][number]['message']

/** Most calls that are kept of an answer, each of which is shown: whoever sends more would have the page stand still. */
export const MOST_CALLS = 200

/** What a model has said so far. */
export interface Answer {
  text: string
  thinking: string
  /** The first ones. */
  calls: readonly Call[]
  hasMoreCalls: boolean
}

export const nothing: Answer = { text: '', thinking: '', calls: [], hasMoreCalls: false }

/** What of a call comes in one piece: that of a function, or of a tool with a text as its input. */
interface CallPiece {
  index?: number
  id?: string
  function?: { name?: string; arguments?: string }
  custom?: { name?: string; input?: string }
}

/** The answer with a piece of it, or with a whole message; the same one where nothing was said. */
export function withPiece(answer: Answer, piece: Delta | Message): Answer {
  const { content, reasoning_content, refusal } = piece as Record<string, string | null | undefined>
  const pieces = (piece.tool_calls ?? []) as readonly CallPiece[]
  if (!content && !reasoning_content && !refusal && pieces.length === 0) return answer
  const calls = [...answer.calls]
  let { hasMoreCalls } = answer
  for (const [at, { index = at, id, function: called, custom }] of pieces.entries()) {
    if (index >= MOST_CALLS) {
      hasMoreCalls = true
      continue
    }
    const before = calls[index] ?? { id: '', name: '', arguments: '' }
    calls[index] = {
      id: id ?? before.id,
      name: before.name + (called?.name ?? custom?.name ?? ''),
      arguments: before.arguments + (called?.arguments ?? custom?.input ?? ''),
    }
  }
  return {
    text: answer.text + (content ?? '') + (refusal ?? ''),
    thinking: answer.thinking + (reasoning_content ?? ''),
    calls,
    hasMoreCalls,
  }
}

/** A candidate that was compared by price. */
export interface Compared {
  /** `provider/model` */
  name: string
  /** Dollars that the request was expected to cost; undefined where the price is not known. */
  usd: number | undefined
  /** Why it came after the others, or was left out; undefined where it was neither. */
  reason: string | undefined
}

/** What the gateway says of an answer in its headers (docs/routing.md, "Explaining a choice"). */
export interface Explanation {
  requestId: string | undefined
  provider: string | undefined
  /** Calls of upstreams. */
  attempts: number
  /** Cheapest first; empty where prices were not compared. */
  considered: readonly Compared[]
  fallback: string | undefined
  /** Sentences. */
  warnings: readonly string[]
}

const reasons: Record<string, string> = {
  unhealthy: 'fails at present, so it comes last',
  limited: 'limits requests at present, so it comes last',
  unfit: 'lacks something that the request needs',
  context: 'the prompt is too long for it',
  output: 'it cannot write as many tokens',
  forbidden: 'not allowed to you',
}

const warningTexts: Record<string, string> = {
  dropped: 'The model does not take this, so it was left out',
  clamped: 'Changed to what the model takes',
  emulated: 'The model lacks this, so the gateway does it in another way',
}

function comparedIn(header: string): Compared[] {
  return header.split('; ').flatMap((text) => {
    const [, name, price, reason] = /^(.*)=([^=()]+)(?:\((\w+)\))?$/.exec(text) ?? []
    if (name === undefined) return []
    return {
      name,
      usd: price === 'unpriced' ? undefined : Number(price),
      reason: reason && (reasons[reason] ?? reason),
    }
  })
}

/** The sentences of `dropped=seed,logit_bias; clamped=temperature`. */
const warningsIn = (header: string): string[] =>
  header.split('; ').map((part) => {
    const [action = '', fields = ''] = part.split('=')
    const names = fields.split(',').map((field) => (field.startsWith('+') ? `${field.slice(1)} more` : field))
    return `${warningTexts[action] ?? action}: ${names.join(', ')}.`
  })

export function explanationIn(headers: Headers): Explanation {
  const value = (name: string): string | undefined => headers.get(name) ?? undefined
  const warnings = value('x-gateway-warnings')
  const considered = value('x-gateway-considered')
  return {
    requestId: value('x-request-id'),
    provider: value('x-gateway-provider'),
    attempts: Number(value('x-gateway-attempts') ?? 0),
    considered: considered === undefined ? [] : comparedIn(considered),
    fallback: value('x-gateway-fallback'),
    warnings: warnings === undefined ? [] : warningsIn(warnings),
  }
}

/** Why a provider answered, in sentences. @param asked the provider that the request named, if it did */
export function reasonsOf({ provider, attempts, considered, fallback }: Explanation, asked: unknown): string[] {
  const first =
    considered.length > 0
      ? `${provider} is the cheapest that can answer.`
      : typeof asked === 'string'
        ? `${provider} is the provider that you chose.`
        : `${provider} is the first that can answer, in the order of the configuration.`
  return [
    ...(provider === undefined ? [] : [first]),
    ...(attempts > 1 ? [`It took ${attempts} calls: another provider failed, or a parameter was refused.`] : []),
    ...(fallback === 'length' ? ['The prompt was too long for the first model, so the fallback answered.'] : []),
    ...(fallback === 'content' ? ['A content filter stopped the first model, so the fallback answered.'] : []),
  ]
}
