import type { ErrorCode, ErrorType } from './conventions.js'
import { MESSAGE_LENGTH } from './conventions.js'
import type { Usage } from './schemas/chat.js'

/** Whether an error carries this mark. Unlike `instanceof`, this also works for another copy of this package. */
export const isMarked = (error: unknown, mark: string): boolean =>
  (error as { turnpike?: unknown } | null | undefined)?.turnpike === mark

/**
 * An error that is sent to the caller: an HTTP status, a `type` and `code` of a closed list, and a message that is safe to show, of which the
 * first 1,000 characters are kept.
 */
export class ApiError extends Error {
  readonly turnpike = 'ApiError'
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  /** The field of the request that is wrong, such as `messages[3]`, for the log; absent where none is known. */
  readonly field: string | undefined
  /** Seconds for the `Retry-After` header; absent = no such header. */
  readonly retryAfter: number | undefined
  /** `false` sends `x-should-retry: false`, which keeps the OpenAI clients from paying for the same generation again. */
  readonly shouldRetry: boolean | undefined
  /** Further response headers, such as `allow` or `www-authenticate`. */
  readonly headers: Record<string, string>

  constructor(
    readonly status: number,
    readonly type: ErrorType,
    message: string,
    options: {
      code: ErrorCode
      field?: string | undefined
      retryAfter?: number | undefined
      shouldRetry?: boolean | undefined
      headers?: Record<string, string>
      cause?: unknown
    },
  ) {
    super(message.length > MESSAGE_LENGTH ? `${message.slice(0, MESSAGE_LENGTH)}…` : message, { cause: options.cause })
    this.code = options.code
    this.field = options.field
    this.retryAfter = options.retryAfter
    this.shouldRetry = options.shouldRetry
    this.headers = options.headers ?? {}
  }

  /** Whether `value` is an `ApiError`, including one of another copy of this package. */
  static is(value: unknown): value is ApiError {
    return isMarked(value, 'ApiError')
  }
}

/** 401 for a request without a valid credential. */
export const unauthenticated = (
  message = 'Sign in first: a valid access token or session cookie is needed',
): ApiError =>
  new ApiError(401, 'authentication_error', message, {
    code: 'invalid_api_key',
    headers: { 'www-authenticate': 'Bearer' },
  })

/** How an upstream call failed, in the provider's own terms; the gateway maps it to the caller's error. */
export interface UpstreamFailure {
  /** Id of the provider that failed. */
  provider: string
  /** An HTTP error status, no connection, a time-out, a response that ended early, or one that could not be parsed. */
  kind: 'status' | 'unavailable' | 'timeout' | 'truncated' | 'malformed'
  /** HTTP status of the upstream; absent if there was no response. */
  status?: number | undefined
  /** True if the caller's request is at fault, so that `message` is meant for the caller. */
  caller?: boolean | undefined
  /** True if the provider refused the gateway's credential. */
  credential?: boolean | undefined
  /** True if the upstream may have accepted and billed a generation. */
  accepted: boolean
  /** The upstream's own error code, such as `unsupported_parameter`. */
  code?: string | undefined
  /**
   * What of the caller's request was refused, where another provider may take it as it is: the model, the length of the prompt or a parameter; or its
   * content, by a filter.
   */
  refused?: 'model' | 'length' | 'parameter' | 'content' | undefined
  /** True if it refused the content by an answer that says nothing, which is charged already, so that a fallback may be called all the same. */
  withheld?: boolean | undefined
  /** Where the prompt is longer than the model's context (`code` is then `context_length_exceeded`): its tokens, as far as known. */
  context?: number | undefined
  /** The content encoding of the answer, where it is not known. */
  encoding?: string | undefined
  /** The usage that the upstream reported before it failed, and will bill. */
  usage?: Usage | undefined
  /**
   * Of a request that needs several calls: how many reported `usage`, how many are billed without a report, and how many `open` ones may be, as they were
   * stopped. Absent = it was one.
   */
  calls?: { reported: number; unreported: number; open: number } | undefined
  /** True if the upstream bills more than `usage`, because it had begun to answer without a report of its usage. */
  unreported?: boolean | undefined
  /** What the upstream bills for a refusal, in nano-US-dollars. */
  feeNanoUsd?: number | undefined
  /** True if the provider's own time-out ended the call, after which another one may be called. */
  overdue?: boolean | undefined
  /** Seconds to wait before a retry, as given by the upstream. */
  retryAfter?: number | undefined
  cause?: unknown
}

/** A failed upstream call. The message may contain upstream text: callers get it only through `scrub`, and only for 4xx that they caused. */
export class UpstreamError extends Error {
  readonly turnpike = 'UpstreamError'
  override readonly name = 'UpstreamError'

  constructor(
    message: string,
    readonly failure: UpstreamFailure,
  ) {
    super(message, { cause: failure.cause })
  }

  /** Whether `value` is an `UpstreamError`, including one of another copy of this package. */
  static is(value: unknown): value is UpstreamError {
    return isMarked(value, 'UpstreamError')
  }
}

/** A storage failure. `outcome: 'unknown'` = the commit may or may not have been applied; `'none'` = nothing was written. */
export class StorageError extends Error {
  readonly turnpike = 'StorageError'
  override readonly name = 'StorageError'

  constructor(
    message: string,
    readonly outcome: 'none' | 'unknown',
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }

  /** Whether `value` is a `StorageError`, including one of another copy of this package. */
  static is(value: unknown): value is StorageError {
    return isMarked(value, 'StorageError')
  }
}
