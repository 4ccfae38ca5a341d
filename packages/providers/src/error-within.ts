import { UpstreamError } from '@turnpike/core'
import type { ChatAdapter } from './adapter.js'

/** An error that an upstream tells of after it has answered with status 200; the status is then what its body says of itself. */
export function errorWithin(
  provider: string,
  errors: ChatAdapter['errors'],
  answer: { status: number; body: unknown },
  begun: boolean,
): UpstreamError {
  const { status, body } = answer
  const { message, ...meaning } = errors({ status, header: () => undefined, body })
  return new UpstreamError(message ?? 'The upstream reported an error in its answer', {
    provider,
    kind: 'status',
    status,
    accepted: begun,
    ...meaning,
  })
}
