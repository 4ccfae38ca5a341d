import { ApiError } from './errors.js'

/** 400 for an invalid request. */
export const invalid = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'invalid_body' })

/** 400 for a request that uses a feature which the gateway, or the provider it is sent to, does not support. */
export const unsupported = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'unsupported_parameter' })
