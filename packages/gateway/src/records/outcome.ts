import type { Outcome } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'

/** The outcome of a stream that failed without being stopped by the gateway. */
export const outcomeOf = (error: unknown): Outcome =>
  UpstreamError.is(error) && error.failure.kind === 'truncated' ? 'truncated' : 'upstream_error'

/** Whether the upstream bills a failed call. */
export const isBilled = (error: unknown): boolean =>
  UpstreamError.is(error) && (error.failure.usage !== undefined || error.failure.unreported === true)

/** Whether more of an answer came than is read, which was made all the same. */
export const isTooLarge = (error: unknown): boolean => UpstreamError.is(error) && error.failure.code === 'too_large'

/** The kind of a failure, for the metrics; undefined where the provider is not its cause. */
export const kindOf = (error: unknown): string | undefined => {
  if (!UpstreamError.is(error)) return undefined
  const { kind, status, caller, credential } = error.failure
  return credential ? 'credential' : status === 429 ? 'rate_limited' : caller ? 'refused' : kind
}
