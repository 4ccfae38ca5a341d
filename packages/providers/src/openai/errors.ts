import type { UpstreamError } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import type { ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { errorObject, errorText } from '../refusals/error-text.js'
import { failed, faultOf, malformed, statusError } from '../refusals/failures.js'
import { retryAfter } from '../upstream/retry-after.js'

/** Codes of a 429 or 400 for an account that cannot pay. */
const unpaid = ['insufficient_quota', 'billing_not_active', 'billing_hard_limit_reached']

/** What xAI refuses by its guidelines, for which it bills a fee of $0.05 (docs.x.ai, "Usage Guidelines Violation Fee"). */
const violation = /^Content violates usage guidelines/
export const VIOLATION_NANO_USD = 50_000_000

/** Parses `{error: {message, type, param, code}}`, and the errors of compatible servers. */
export function errors(answer: ErrorAnswer): ErrorMeaning {
  const { header, body } = answer
  const { code } = errorObject(body)
  const message = errorText(body)
  const ms = Number(header('retry-after-ms'))
  return {
    message,
    ...faultOf(answer, message, unpaid.includes(code as string)),
    code: typeof code === 'string' && code !== '' ? code : undefined,
    retryAfter: retryAfter(ms >= 0 ? String(ms / 1000) : header('retry-after')),
    ...(violation.test(message ?? '') && { unreported: true, feeNanoUsd: VIOLATION_NANO_USD }),
  }
}

/** The statuses of MiniMax's codes, which it sends with 200 (its error codes). */
const ofMinimax: Record<number, number> = {
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1039: 429,
  2013: 400,
  2049: 401,
}

/**
 * Whether an answer or event is an error: `error` beside whatever else, or, without choices, vLLM's `object`, FastAPI's `detail`, Cloudflare's `errors`,
 * MiniMax's `base_resp` and Qwen's `code` beside a message. A message alone may tell the progress.
 */
function isError(body: Record<string, unknown>): boolean {
  const { error, choices, object, type, detail, errors: list, base_resp: base, code } = body
  if (error) return true
  if (Array.isArray(choices)) return false
  if (isObject(base) && base['status_code'] === 0) return false
  return (
    (object === 'error' || type === 'error' || Boolean(detail ?? list ?? base ?? code)) && errorText(body) !== undefined
  )
}

/** The error in the body of a 200 response or in a stream event; undefined if there is none. */
export function toldError(provider: string, body: unknown, begun: boolean): UpstreamError | undefined {
  if (!isObject(body) || !isError(body)) return undefined
  const { code, status, status_code, http_code } = errorObject(body)
  const { status_code: number } = (body['base_resp'] ?? {}) as { status_code?: number }
  const codes = [code, status, status_code, http_code, ofMinimax[number ?? 0]]
  const told = codes.map(Number).find((one) => one >= 400 && one <= 599)
  return statusError(provider, errors, { status: told ?? 500, body }, begun)
}

/** The error of a choice, which OpenRouter sets where an answer had begun: whatever its code is, no other request would do better. */
export function choiceError(provider: string, error: unknown): UpstreamError {
  const { message, code } = errors({ status: 500, header: () => undefined, body: { error } })
  return failed(provider, message ?? 'The upstream ended its answer with an error', code ?? 'error')
}

/** The error for an answer without `what`: the error that the body contains, otherwise `malformed`. */
export const missing = (provider: string, body: unknown, what: string): UpstreamError =>
  toldError(provider, body, false) ?? malformed(provider, `The answer has no ${what}`)
