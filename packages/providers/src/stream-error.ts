import { UpstreamError } from '@turnpike/core'
import type { ChatAdapter } from './adapter.js'

/** An error that an upstream tells of within a stream, where it has a status only as far as its body says so. */
export function errorInStream(
  provider: string,
  errors: ChatAdapter['errors'],
  answer: { status: number; body: unknown },
  started: boolean,
): UpstreamError {
  const { status, body } = answer
  const { message, ...meaning } = errors({ status, header: () => undefined, body })
  return new UpstreamError(message ?? 'The upstream reported an error in the stream', {
    provider,
    kind: 'status',
    status,
    accepted: started,
    ...meaning,
  })
}
