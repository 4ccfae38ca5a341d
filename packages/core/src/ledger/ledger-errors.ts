import { STORAGE_RETRY_AFTER_S } from '../conventions.js'
import { ApiError } from '../errors.js'

/** Whether a commit was rejected as invalid, so that nothing of it was stored: the store itself works. */
export const isRefusal = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError

/** @param spent whether the answer of the upstream has been paid for: a client that retried would pay twice */
export const unavailable = (cause: unknown, spent: boolean): ApiError =>
  new ApiError(500, 'server_error', 'Usage cannot be recorded at the moment', {
    code: 'ledger_unavailable',
    ...(spent ? { shouldRetry: false } : { retryAfter: STORAGE_RETRY_AFTER_S }),
    cause,
  })
