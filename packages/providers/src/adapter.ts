import type { ChatChunk, ChatCompletionRequest, Completion } from '@turnpike/core'
import type { UpstreamEvent } from './events.js'

/** An upstream's answer that is not a success. */
export interface ErrorAnswer {
  status: number
  /** A response header by its lower-case name. */
  header(name: string): string | undefined
  /** The body as JSON; undefined where it is none. */
  body: unknown
}

/** What an error answer means. */
export interface ErrorMeaning {
  /** The upstream's own words; undefined where it sent none that a person could use. */
  message: string | undefined
  /** True where the fault is in the caller's request. */
  caller: boolean
  /** True where the gateway's credential was refused. */
  credential: boolean
  /** The upstream's own error code. */
  code: string | undefined
  /** Seconds after which to ask again. */
  retryAfter: number | undefined
}

/**
 * The translation between OpenAI's form and one family's: four pure functions, no I/O.
 * A family is added by writing these and handing them to {@link createProvider}.
 */
export interface ChatAdapter {
  /** The path below the base URL and the body of the upstream call. */
  request(request: ChatCompletionRequest): { path: string; body: object }
  /** @throws UpstreamError `malformed` for an answer that is none */
  response(body: unknown, request: ChatCompletionRequest): Completion
  /** Yields the chunks of each upstream read, also where there are none: that the upstream is alive. @throws UpstreamError */
  stream(reads: AsyncIterable<UpstreamEvent[]>, request: ChatCompletionRequest): AsyncIterable<ChatChunk[]>
  errors(answer: ErrorAnswer): ErrorMeaning
}
