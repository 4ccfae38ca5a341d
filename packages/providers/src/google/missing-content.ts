import { UpstreamError } from '@turnpike/core'
import { malformed, truncated } from '../refusals/failures.js'
import { endOf, reasonText } from '../answers/finish-reasons.js'
import type { Answer } from './answer.js'
import { blockOf } from './answer.js'
import { toldError } from './errors.js'

const givenReason = ({ candidates }: Answer): string | undefined => {
  const reason = candidates?.[0]?.finishReason
  return reason === undefined ? undefined : reasonText(reason)
}

/** The error for a refusal by the model, which counts as the caller's fault; undefined if the model did not refuse. */
function refusalOf(provider: string, answer: Answer): UpstreamError | undefined {
  const block = blockOf(answer)
  const reason = reasonText(block ?? givenReason(answer) ?? '')
  if (block === undefined && endOf(reason) !== 'content_filter') return undefined
  return new UpstreamError(`The model refused this: ${reason}`, {
    provider,
    kind: 'status',
    status: 400,
    caller: true,
    accepted: true,
    code: reason,
  })
}

/** The error for an answer without `what`: the error that the body contains, a refusal, or `malformed`. */
export const missing = (provider: string, answer: Answer, what: string): UpstreamError =>
  toldError(provider, answer, false) ??
  refusalOf(provider, answer) ??
  malformed(provider, `The answer has no ${what}`, undefined, givenReason(answer))

/** @throws UpstreamError if the model stopped early: partial speech and partial transcriptions are of no use */
export function requireEnd(provider: string, answer: Answer): void {
  const reason = givenReason(answer)
  if (reason !== undefined && reason !== 'STOP')
    throw (
      refusalOf(provider, answer) ??
      truncated(provider, `The model stopped before the end: ${reason}`, undefined, reason)
    )
}
