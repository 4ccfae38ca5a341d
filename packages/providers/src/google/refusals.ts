import { UpstreamError } from '@turnpike/core'
import type { Answer } from './answer.js'
import { blockOf } from './answer.js'

const reasons =
  /^(SAFETY|IMAGE_SAFETY|PROHIBITED_CONTENT|IMAGE_PROHIBITED_CONTENT|BLOCKLIST|RECITATION|IMAGE_RECITATION|SPII)$/

/** The error that an answer without what was asked for is where the model refused, which is the caller's fault; undefined where it did not. */
export function refusalOf(provider: string, answer: Answer): UpstreamError | undefined {
  const block = blockOf(answer)
  const reason = block ?? answer.candidates?.[0]?.finishReason ?? ''
  if (block === undefined && !reasons.test(reason)) return undefined
  return new UpstreamError(`The model refused this: ${reason}`, {
    provider,
    kind: 'status',
    status: 400,
    caller: true,
    accepted: true,
    code: reason,
  })
}
