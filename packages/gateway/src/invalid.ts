import { ApiError } from '@turnpike/core'

/** 400 for a request that is not what it should be. */
export const invalid = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'invalid_body' })

/** 400 for a request that asks for what the gateway does not do. */
export const unsupported = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'unsupported_parameter' })
