import { ApiError } from './errors.js'

/** 400 for a request that is not what it should be. */
export const invalid = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'invalid_body' })

/** 400 for a request that asks for what the gateway, or the provider that it is for, does not do. */
export const unsupported = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'unsupported_parameter' })
