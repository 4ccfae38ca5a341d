import { ApiError } from '@turnpike/core'
import { Shares } from '@turnpike/core/helpers'
import { BODY_MEMORY, COMMON_PART } from '../conventions.js'

/** 503 for bytes that there is no memory for. */
const noMemory = (): ApiError =>
  new ApiError(
    503,
    'server_error',
    'The server has no memory for more requests and answers of this size; try again later',
    {
      code: 'overloaded',
      retryAfter: 1,
    },
  )

/** The same for an answer to a request that was carried out, which must not be sent again. */
export const unanswered = ({ status, type, message, code }: ApiError): ApiError =>
  new ApiError(status, type, message, { code, shouldRetry: false })

/** Takes bytes for a caller, or gives them back where they are negative. @throws ApiError 503 where there are too many */
export type BodyMemory = (caller: string, bytes: number) => void

/**
 * Limits the bytes that running requests hold, which callers share (docs/decisions/037).
 * @param total default 512 MB
 * @example const handler = createHandler({ ...options, bodyMemory: bodyMemory(512_000_000) })
 */
export function bodyMemory(total = BODY_MEMORY): BodyMemory {
  const shares = new Shares(total)
  return (caller, bytes) => {
    const all = shares.taken + bytes
    if (bytes > 0 && (all > total || (all > total * COMMON_PART && !shares.isBelow(caller)))) throw noMemory()
    shares.take(caller, bytes)
  }
}
