import { ApiError } from '@turnpike/core'

/**
 * 403 for a caller who may not do this.
 * @param options.isTransient it may be allowed in a moment: the clients of OpenAI try again by themselves
 */
export const forbidden = (
  message: string,
  code: 'forbidden' | 'budget_exceeded' | 'insufficient_credits' = 'forbidden',
  { isTransient = false }: { isTransient?: boolean } = {},
): ApiError =>
  new ApiError(403, 'permission_error', message, { code, ...(isTransient && { shouldRetry: true, retryAfter: 1 }) })

/** 404 for an id that nothing has, or nothing that the caller may see. */
export const notFound = (what: string): ApiError =>
  new ApiError(404, 'not_found_error', `There is no ${what} with this id`, { code: 'not_found' })
