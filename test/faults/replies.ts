import { expect } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import type { RawReply } from '../support/raw-client.js'
import { parseStream } from '../support/sse.js'
import { error, errors } from './wire.js'

/** An error in place of an answer: the exact body and the headers that tell a client whether and when to ask again. */
export interface ErrorReply {
  status: number
  body: string
  /** Of `retry-after`; default none. */
  retryAfter?: string
  /** Of `x-should-retry`; default none. */
  shouldRetry?: string
}

/** The upstream failed before it can have accepted anything. */
export const failed: ErrorReply = { status: 502, body: errors.failed }
/** After a generation may have been accepted the clients are told not to ask again. */
const accepted = (body: string): ErrorReply => ({ status: 502, body, shouldRetry: 'false' })
export const senseless = accepted(errors.senseless)
export const truncated = accepted(errors.truncated)
export const unreachable = accepted(errors.unreachable)
export const late = accepted(errors.late)
export const limited = (retryAfter: string): ErrorReply => ({ status: 429, body: errors.limited, retryAfter })
/** The fault is the caller's. */
export const invalid = (message: string, code = 'invalid_body'): ErrorReply => ({
  status: 400,
  body: error('invalid_request_error', code, message),
})
/** The prompt is longer than the context: the message begins as OpenAI's does. */
export const overContext = (message: string, limit: string): ErrorReply =>
  invalid(
    `This model's maximum context length is ${limit}. Please reduce the length of the messages. The provider says: ${message}`,
    'context_length_exceeded',
  )

const id = expect.stringMatching(uuidv7Pattern) as unknown as string

/** Expects an error reply, to the byte. */
export function expectError(reply: RawReply, { status, body, retryAfter, shouldRetry }: ErrorReply): void {
  const type = 'application/json; charset=utf-8'
  expect(reply).toEqual({ status, type, requestId: id, retryAfter, shouldRetry, body, whole: true })
}

/** Expects an answer that is not streamed, to the byte. */
export const expectAnswer = (reply: RawReply, body: string): void => expectError(reply, { status: 200, body })

/** Expects a stream, to the byte, that is well formed and ended in good order. */
export function expectStream(reply: RawReply, body: string): void {
  const type = 'text/event-stream; charset=utf-8'
  const none = { retryAfter: undefined, shouldRetry: undefined }
  // A difference in megabytes is not to be printed.
  if (body.length > 100_000) expect(reply.body === body, `${reply.body.length} of ${body.length} characters`).toBe(true)
  expect({ ...reply, body: body.length > 100_000 ? body : reply.body }).toEqual({
    status: 200,
    type,
    requestId: id,
    ...none,
    body,
    whole: true,
  })
  parseStream(reply.body)
}
