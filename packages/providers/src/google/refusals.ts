import { UpstreamError } from '@turnpike/core'
import { malformed, truncated } from '../failures.js'
import type { Answer } from './answer.js'
import { blockOf, filtered } from './answer.js'
import { toldError } from './errors.js'

/** The error that an answer without what was asked for is where the model refused, which is the caller's fault; undefined where it did not. */
function refusalOf(provider: string, answer: Answer): UpstreamError | undefined {
  const block = blockOf(answer)
  const reason = block ?? answer.candidates?.[0]?.finishReason ?? ''
  if (block === undefined && !filtered.test(reason)) return undefined
  return new UpstreamError(`The model refused this: ${reason}`, {
    provider,
    kind: 'status',
    status: 400,
    caller: true,
    accepted: true,
    code: reason,
  })
}

/** What an answer is that has none of `what` was asked for: an error in its place, a refusal, or malformed. */
export const missing = (provider: string, answer: Answer, what: string): UpstreamError =>
  toldError(provider, answer, false) ??
  refusalOf(provider, answer) ??
  malformed(provider, `The answer has no ${what}`, undefined, answer.candidates?.[0]?.finishReason)

/** @throws UpstreamError for an answer that the model did not bring to its end: a part of a speech or a recording is none */
export function requireEnd(provider: string, answer: Answer): void {
  const reason = answer.candidates?.[0]?.finishReason
  if (reason !== undefined && reason !== 'STOP')
    throw (
      refusalOf(provider, answer) ??
      truncated(provider, `The model stopped before the end: ${reason}`, undefined, reason)
    )
}
