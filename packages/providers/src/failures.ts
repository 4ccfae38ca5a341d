import { UpstreamError } from '@turnpike/core'
import type { ChatAdapter, ErrorAnswer } from './adapter.js'

/**
 * An answer that is none, or that nobody could use; the generation has been paid for.
 * @param code the model's own reason for ending it so, where it gave one: then its provider is none the worse for it
 */
export const malformed = (provider: string, message: string, cause?: unknown, code?: string): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'malformed', accepted: true, cause, code })

/** An answer that ended before it was whole; `code` as with {@link malformed}. */
export const truncated = (provider: string, message: string, cause?: unknown, code?: string): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'truncated', accepted: true, cause, code })

/** What an upstream refused, or failed at, with a status of its own or one that its answer tells of. */
export function statusError(
  provider: string,
  errors: ChatAdapter['errors'],
  answer: Omit<ErrorAnswer, 'header'> & Partial<Pick<ErrorAnswer, 'header'>>,
  accepted: boolean,
): UpstreamError {
  const { status } = answer
  const { message, ...meaning } = errors({ header: () => undefined, ...answer })
  return new UpstreamError(message ?? `The upstream answered with status ${status}`, {
    provider,
    kind: 'status',
    status,
    accepted,
    ...meaning,
  })
}
