import type { Outcome } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'

/** The outcome of a stream that failed without being stopped by the gateway. */
export const outcomeOf = (error: unknown): Outcome =>
  UpstreamError.is(error) && error.failure.kind === 'truncated' ? 'truncated' : 'upstream_error'
