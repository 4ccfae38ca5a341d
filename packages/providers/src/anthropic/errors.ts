import type { UpstreamError } from '@turnpike/core'
import type { ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { errorText } from '../refusals/error-text.js'
import { faultOf, statusError } from '../refusals/failures.js'
import { retryAfter } from '../upstream/retry-after.js'

/** The status of each error type. In a stream, errors have a type but no status. */
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

/** Messages of a 400 for an account that cannot pay. */
const unpaid = /^(your credit balance is too low|you have reached your specified api usage limits)/i

/** Parses `{type: "error", error: {type, message}}`. An account that cannot pay is told by the message alone. */
export function errors(answer: ErrorAnswer): ErrorMeaning {
  const { header, body } = answer
  const message = errorText(body)
  return {
    message,
    ...faultOf(answer, message, unpaid.test(message ?? '')),
    code: undefined,
    retryAfter: retryAfter(header('retry-after')),
  }
}

/** The error in the body of a 200 response or in a stream event, also in OpenAI's form, as proxies have it; undefined if there is none. */
export function toldError(provider: string, body: unknown, begun: boolean): UpstreamError | undefined {
  const { type, error } = (body ?? {}) as { type?: unknown; error?: { type?: string; code?: unknown } | null }
  if (type !== 'error' && !error) return undefined
  const code = Number(error?.code)
  const status = statuses[error?.type ?? ''] ?? (code >= 400 && code <= 599 ? code : 500)
  return statusError(provider, errors, { status, body }, begun)
}
