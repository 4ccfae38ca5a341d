import { UpstreamError } from '@turnpike/core'
import type { ChatAdapter } from './adapter.js'

/** An answer that is none, or that nobody could use; the generation has been paid for. */
export const malformed = (provider: string, message: string, cause?: unknown, code?: string): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'malformed', accepted: true, cause, code })

/** An answer that ended before it was whole. */
export const truncated = (provider: string, message: string, cause?: unknown): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'truncated', accepted: true, cause })

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
