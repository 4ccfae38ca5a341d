import type { ChatCompletionRequest, ChunkChoice, ChunkHead, Completion, Note, Signal, Usage } from '@turnpike/core'
import type { UpstreamEvent } from './event-parser.js'

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

/** An upstream call in the family's own form. */
export interface UpstreamRequest {
  /** Below the base URL. */
  path: string
  body: object
  /** Every field that does not reach the upstream as it was given. */
  notes: Note[]
}

/** Turns the events of one stream into items, read by read, without waiting for anything. */
export interface StreamDecoder<Item> {
  /** The items of one read's events, which are not to be kept; none, if they only show that the upstream is alive. @throws UpstreamError */
  push(events: UpstreamEvent[]): Item[]
  /** True once the upstream has said that it is done; what follows is thrown away. */
  done(): boolean
  /** The last items of a stream that has ended. @throws UpstreamError `truncated` where it is not whole */
  end(): Item[]
  /** After a failure: the items that came before it in the same read. */
  rest(): Item[]
  /** A line without data: of an event's name, a comment, or the bare JSON that Gemini ends a failed stream with. @returns whether it says anything */
  stray?(line: string): boolean
}

/** The decoder of one chat stream. */
export interface ChatDecoder extends StreamDecoder<ChunkChoice> {
  /** What every chunk has alike; to be asked for from the first choice on. */
  head(): ChunkHead
  /** The last report of usage. */
  usage(): Usage | undefined
}

/**
 * The translation between OpenAI's form and one family's: four pure functions.
 * A family is added by writing these and handing them to {@link createProvider}.
 */
export interface ChatAdapter {
  /** True where the family gives one answer to a call. */
  oneChoice: boolean
  /** Gets what the family does not get by itself, such as images at addresses: the one step that may wait. What is prepared already stays as it is. */
  prepare?(request: ChatCompletionRequest, signal: Signal): Promise<ChatCompletionRequest>
  /** @throws ApiError 400 for what the family cannot be asked, before anything is sent */
  request(request: ChatCompletionRequest): UpstreamRequest
  /** @throws UpstreamError `malformed` for an answer that is none */
  response(body: unknown, request: ChatCompletionRequest): Completion
  /** What decodes one stream. */
  stream(request: ChatCompletionRequest): ChatDecoder
  errors(answer: ErrorAnswer): ErrorMeaning
}
