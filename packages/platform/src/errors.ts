import { ApiError } from '@turnpike/core'
import { REPLY_RETRY_AFTER_S, REPLY_S, RUNNING_REPLIES } from './conventions.js'

/** 403 for what the caller may not do. */
export const forbidden = (message: string): ApiError =>
  new ApiError(403, 'permission_error', message, { code: 'forbidden' })

/** 404, also for what belongs to somebody else. */
export const notFound = (what: string): ApiError =>
  new ApiError(404, 'not_found_error', `There is no such ${what}`, { code: 'not_found' })

/** What was looked for. @throws ApiError 404 where it is null */
export function found<T>(what: string, value: T | null): T {
  if (value === null) throw notFound(what)
  return value
}

/** 404 for a link that was used, has expired, or never was one: which, is not told. */
export const linkIsOver = (): ApiError =>
  new ApiError(404, 'not_found_error', 'This link is not valid, or not any more', { code: 'not_found' })

/** 429 with the seconds after which to try again. */
export const tooMany = (message: string, retryAfter: number): ApiError =>
  new ApiError(429, 'rate_limit_error', message, { code: 'rate_limit_exceeded', retryAfter })

/** 429 where a user has as many replies at a time as {@link RUNNING_REPLIES} says. */
export const tooManyReplies = (): ApiError =>
  tooMany(`You are limited to ${RUNNING_REPLIES} replies at a time; stop one, or wait for its end`, REPLY_RETRY_AFTER_S)

/** 409 for a reply that its user stopped before it began, or where its stream ends for that. */
export const stopped = (): ApiError =>
  new ApiError(409, 'invalid_request_error', 'You stopped the reply', { code: 'invalid_body' })

/** 502 where a model wrote more than is kept. */
export const tooLong = (what: string, characters: number): ApiError =>
  new ApiError(502, 'upstream_error', `${what} is longer than ${characters} characters`, { code: 'upstream_error' })

/** 502 where a model wrote for longer than {@link REPLY_S}. */
export const tooSlow = (): ApiError =>
  new ApiError(502, 'upstream_error', `The reply took longer than ${REPLY_S} seconds`, { code: 'upstream_timeout' })

/** 503 where a reply ends with its process. */
export const givenUp = (message: string): ApiError =>
  new ApiError(503, 'server_error', message, { code: 'internal_error' })

/** 503 where no model can reply. */
export const noModel = (): ApiError =>
  new ApiError(503, 'server_error', 'There is no model that could reply', { code: 'overloaded' })
