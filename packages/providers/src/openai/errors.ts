import type { UpstreamError } from '@turnpike/core'
import type { ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { malformed, statusError } from '../failures.js'
import { retryAfter } from '../retry-after.js'

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Statuses that tell of a fault in the caller's own request. 404 is one only in OpenAI's own form: a wrong base URL answers it too. */
const callerStatuses = [400, 409, 413, 422]
const credentialStatuses = [401, 402, 403]

/** `{error: {message, type, param, code}}`, and the shorter forms of compatible servers. */
export function errors({ status, header, body }: ErrorAnswer): ErrorMeaning {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: unknown }
  const detail = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown; code?: unknown }
  const message = textOf(detail.message) ?? textOf(error)
  const ms = Number(header('retry-after-ms'))
  return {
    message,
    caller: callerStatuses.includes(status) || (status === 404 && message !== undefined),
    credential: credentialStatuses.includes(status),
    code: textOf(detail.code),
    retryAfter: retryAfter(ms >= 0 ? String(ms / 1000) : header('retry-after')),
  }
}

/** The error that a whole answer with status 200, or an event of a stream, turns out to be; undefined where it is none. */
export function toldError(provider: string, body: unknown, begun: boolean): UpstreamError | undefined {
  const { error } = (body ?? {}) as { error?: unknown }
  if (!error) return undefined
  const { code, status } = (typeof error === 'object' ? error : {}) as Record<string, unknown>
  const told = [code, status].map(Number).find((number) => number >= 400 && number <= 599)
  return statusError(provider, errors, { status: told ?? 500, body }, begun)
}

/** What a whole answer is that has none of `what` was asked for: an error in its place, or malformed. */
export const missing = (provider: string, body: unknown, what: string): UpstreamError =>
  toldError(provider, body, false) ?? malformed(provider, `The answer has no ${what}`)
