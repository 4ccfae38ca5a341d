import type { UpstreamError } from '@turnpike/core'
import type { ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { errorObject, errorText } from '../error-text.js'
import { failed, faultOf, malformed, statusError } from '../failures.js'
import { retryAfter } from '../retry-after.js'

/** Codes of a 429 or 400 for an account that cannot pay. */
const unpaid = ['insufficient_quota', 'billing_not_active', 'billing_hard_limit_reached']

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
  }
}

/** The error in the body of a 200 response or in a stream event; undefined if there is none. */
export function toldError(provider: string, body: unknown, begun: boolean): UpstreamError | undefined {
  const { error } = (body ?? {}) as { error?: unknown }
  if (!error) return undefined
  const { code, status } = (typeof error === 'object' ? error : {}) as Record<string, unknown>
  const told = [code, status].map(Number).find((number) => number >= 400 && number <= 599)
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
