import type { UpstreamError } from '@turnpike/core'
import type { ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { statusError } from '../failures.js'
import { retryAfter } from '../retry-after.js'

/** The status that each error of the family has; a stream tells of an error by its type alone. */
const statuses: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Statuses that tell of a fault in the caller's own request. 404 is one only in the family's own form: a wrong base URL answers it too. */
const callerStatuses = [400, 409, 413, 422]
const credentialStatuses = [401, 402, 403]

/** `{type: "error", error: {type, message}}`. */
export function errors({ status, header, body }: ErrorAnswer): ErrorMeaning {
  const { error } = (body ?? {}) as { error?: { message?: unknown } | null }
  const message = (typeof error?.message === 'string' && error.message) || undefined
  return {
    message,
    caller: callerStatuses.includes(status) || (status === 404 && message !== undefined),
    credential: credentialStatuses.includes(status),
    code: undefined,
    retryAfter: retryAfter(header('retry-after')),
  }
}

/** The error that a whole answer with status 200, or an event of a stream, turns out to be; undefined where it is none. */
export function toldError(provider: string, body: unknown, begun: boolean): UpstreamError | undefined {
  const { type, error } = (body ?? {}) as { type?: unknown; error?: { type?: string } | null }
  if (type !== 'error') return undefined
  return statusError(provider, errors, { status: Number(statuses[error?.type ?? '']) || 500, body }, begun)
}
