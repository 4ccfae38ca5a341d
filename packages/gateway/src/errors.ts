import { ApiError } from '@turnpike/core'

/** 403 for a caller who may not do this. */
export const forbidden = (
  message: string,
  code: 'forbidden' | 'budget_exceeded' | 'insufficient_credits' = 'forbidden',
): ApiError => new ApiError(403, 'permission_error', message, { code })

/** 404 for an id that nothing has, or nothing that the caller may see. */
export const notFound = (what: string): ApiError =>
  new ApiError(404, 'not_found_error', `There is no ${what} with this id`, { code: 'not_found' })
