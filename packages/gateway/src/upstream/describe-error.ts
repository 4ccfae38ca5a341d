import type { UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { scrub } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import { toApiError } from '@turnpike/http'
import { RETRY_AFTER_S } from '../conventions.js'

/** Messages for failures that the caller did not cause. They are fixed, because an upstream's own message may contain secrets. */
const fixed: Record<UpstreamFailure['kind'], { code: ApiError['code']; message: string }> = {
  status: { code: 'upstream_error', message: 'The upstream provider failed' },
  malformed: { code: 'upstream_error', message: 'The upstream provider sent an answer that makes no sense' },
  unavailable: { code: 'upstream_unavailable', message: 'The upstream provider could not be reached' },
  timeout: { code: 'upstream_timeout', message: 'The upstream provider did not answer in time' },
  truncated: { code: 'upstream_truncated', message: 'The upstream provider ended its answer before it was whole' },
}

/** The codes by which callers decide what to do. */
const codes = {
  model: 'model_not_found',
  parameter: 'unsupported_parameter',
  length: 'invalid_body',
  content: 'invalid_body',
} as const

/**
 * The message for a prompt over the model's context. It begins as OpenAI's does, whatever the family: litellm and LangChain know it by "This
 * model's maximum context length is", coding agents by "reduce the length of the messages" as well.
 */
function tooLong({ message, failure: { context } }: UpstreamError): string {
  if (/^This model's maximum context length is \d/.test(message)) return message
  const limit = context === undefined ? 'exceeded' : `${context} tokens`
  return `This model's maximum context length is ${limit}. Please reduce the length of the messages. The provider says: ${message}`
}

/** The error that the caller gets for a failed upstream call. */
function describeUpstream(error: UpstreamError): ApiError {
  const { kind, status, caller, accepted, code, refused, retryAfter, encoding, cause } = error.failure
  // The answer came, and the gateway had no memory for it.
  if (ApiError.is(cause) && cause.code === 'overloaded')
    return new ApiError(cause.status, cause.type, cause.message, { code: cause.code, shouldRetry: false, cause: error })
  if (kind === 'status' && status === 429)
    return new ApiError(429, 'rate_limit_error', 'The upstream provider is rate limiting; try again later', {
      code: 'rate_limit_exceeded',
      retryAfter: Math.max(1, retryAfter ?? RETRY_AFTER_S),
      shouldRetry: accepted ? false : undefined,
      cause: error,
    })
  if (kind === 'status' && caller) {
    const isTooLong = code === 'context_length_exceeded'
    return invalid(scrub(isTooLong ? tooLong(error) : error.message), {
      code: isTooLong ? code : refused ? codes[refused] : 'invalid_body',
      cause: error,
    })
  }
  const { message, code: word } = fixed[kind]
  const words =
    encoding === undefined ? message : `The upstream provider used an unknown content encoding: ${scrub(encoding)}`
  return new ApiError(502, 'upstream_error', words, {
    code: word,
    // Clients must not retry a request that was accepted, because it would be billed twice.
    shouldRetry: accepted ? false : undefined,
    retryAfter,
    cause: error,
  })
}

/** The error that the caller gets for any thrown value. */
export const describeError = (error: unknown): ApiError =>
  UpstreamError.is(error) ? describeUpstream(error) : toApiError(error)
