import { ApiError } from '@turnpike/core'

/** 401 for a request without a valid credential. */
export const unauthenticated = (
  message = 'Sign in first: a valid access token or session cookie is needed',
): ApiError =>
  new ApiError(401, 'authentication_error', message, {
    code: 'invalid_api_key',
    headers: { 'www-authenticate': 'Bearer' },
  })

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

/** 429 with the seconds after which to try again. */
export const tooMany = (message: string, retryAfter: number): ApiError =>
  new ApiError(429, 'rate_limit_error', message, { code: 'rate_limit_exceeded', retryAfter })

/** 502 where a model wrote more than is kept. */
export const tooLong = (what: string, characters: number): ApiError =>
  new ApiError(502, 'upstream_error', `${what} is longer than ${characters} characters`, { code: 'upstream_error' })

/** 503 where no model can reply. */
export const noModel = (): ApiError =>
  new ApiError(503, 'server_error', 'There is no model that could reply', { code: 'overloaded' })
