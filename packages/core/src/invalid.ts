import type { ErrorCode } from './conventions.js'
import { ApiError } from './errors.js'

/**
 * 400 for an invalid request.
 * @param options.code default `invalid_body`
 * @param options.field the field that is wrong, for the log
 * @example throw invalid('temperature must be at most 1', { field: 'temperature' })
 */
export const invalid = (
  message: string,
  options: { code?: ErrorCode; field?: string | undefined; cause?: unknown } = {},
): ApiError => new ApiError(400, 'invalid_request_error', message, { code: 'invalid_body', ...options })

/**
 * 400 for a request that uses a feature which the gateway, or the provider it is sent to, does not support.
 * @example throw unsupported('This provider has no audio')
 */
export const unsupported = (message: string): ApiError => invalid(message, { code: 'unsupported_parameter' })

/** 400 for the `after` of a list that none of its pages has had as `next`. */
export const noSuchPage = (): ApiError => invalid('after: there is no such page', { field: 'after' })
