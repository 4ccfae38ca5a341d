import type { UpstreamError } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import type { ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { errorText } from '../refusals/error-text.js'
import { faultOf, statusError } from '../refusals/failures.js'
import { retryAfter } from '../upstream/retry-after.js'

type Loose = Record<string, unknown>

/** The error of a body: `{error: …}`, or `[{error: …}]` from a stream without `alt=sse`. Undefined if there is none. */
function errorOf(body: unknown): Loose | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body
  if (!isObject(first) || !first['error']) return undefined
  return isObject(first['error']) ? first['error'] : {}
}

/** The delay of a RetryInfo, such as `34.4s`, rounded up to whole seconds. */
function delayOf(details: Loose[]): number | undefined {
  const delay = details.find((detail) => String(detail['@type']).endsWith('RetryInfo'))?.['retryDelay']
  const seconds = typeof delay === 'string' && delay.endsWith('s') ? Number(delay.slice(0, -1)) : NaN
  return seconds >= 0 && seconds < Infinity ? Math.ceil(seconds) : undefined
}

/**
 * Parses `{error: {code, message, status, details}}`. An invalid key, and an unsupported region or account, are reported with status 400; an
 * account without credit is told from a rate limit by the message alone.
 */
export function errors(answer: ErrorAnswer): ErrorMeaning {
  const { status, header, body } = answer
  const { status: word, details } = errorOf(body) ?? {}
  const known = Array.isArray(details) ? details.filter(isObject) : []
  const message = errorText(body)
  const denied =
    (status === 400 && (word === 'FAILED_PRECONDITION' || known.some(({ reason }) => reason === 'API_KEY_INVALID'))) ||
    /credits are depleted/i.test(message ?? '')
  const { caller, credential } = faultOf(answer, message, denied)
  // What a caller has named is another account's, or not there; Google answers as if the key were refused.
  const isOfFile = status === 403 && /\bFile \S+ or it may not exist/.test(message ?? '')
  return {
    message,
    // Google's 409 is a conflict between two calls.
    caller: (caller && status !== 409) || isOfFile,
    credential: credential && !isOfFile,
    code: typeof word === 'string' ? word : undefined,
    retryAfter: delayOf(known) ?? retryAfter(header('retry-after')),
  }
}

/** The error in the body of a 200 response or in a stream event; undefined if there is none. */
export function toldError(provider: string, body: unknown, begun: boolean): UpstreamError | undefined {
  const error = errorOf(body)
  if (!error) return undefined
  const code = Number(error['code'])
  const status = code >= 400 && code <= 599 ? code : 500
  return statusError(provider, errors, { status, body }, begun)
}
