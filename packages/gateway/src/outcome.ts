import type { Outcome } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'

/** How a stream ended that failed by itself. */
export const outcomeOf = (error: unknown): Outcome =>
  UpstreamError.is(error) && error.failure.kind === 'truncated' ? 'truncated' : 'upstream_error'
