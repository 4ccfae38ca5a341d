import type {
  ChatCompletionRequest,
  ChunkChoice,
  ChunkHead,
  Completion,
  Note,
  UpstreamCall,
  Usage,
} from '@turnpike/core'

/** An upstream response with an error status. */
export interface ErrorAnswer {
  status: number
  /** A response header by its lower-case name. */
  header(name: string): string | undefined
  /** The parsed JSON body; its text if it is not JSON. */
  body: unknown
}

/** The interpretation of an error response. */
export interface ErrorMeaning {
  /** The upstream's error message; undefined if it sent none. */
  message: string | undefined
  /** True if the caller's request caused the error. */
  caller: boolean
  /** True if the upstream rejected the gateway's credential. */
  credential: boolean
  /** The upstream's error code. */
  code: string | undefined
  /** Seconds to wait before a retry. */
  retryAfter: number | undefined
  /** True if the upstream bills the request all the same, and does not say how much. */
  unreported?: boolean
  /** What it bills for that at least, in nano-US-dollars; absent = nothing that is known. */
  feeNanoUsd?: number
}

/** An upstream request in the form of the family. */
export interface UpstreamRequest {
  /** Relative to the base URL. */
  path: string
  /** Absent = the request is a GET. */
  body?: object
  /** Each field that is not sent as the caller wrote it. */
  notes: Note[]
  /** The most tokens, thoughts included, that an answer may have by this request; absent = as many as the model can make. */
  maxOutput?: number | undefined
  /** Headers besides those of every request. */
  headers?: Record<string, string> | undefined
}

/** One server-sent event of an upstream. Its name and id are ignored: all families repeat the type in `data`. */
export interface UpstreamEvent {
  /** Without blanks around it, and never empty. */
  data: string
}

/** Converts the events of one stream into items, one read at a time. Synchronous. */
export interface StreamDecoder<Item> {
  /** Decodes the events of one read, which must not be retained. Empty if they only show that the upstream is alive. @throws UpstreamError */
  push(events: UpstreamEvent[]): Item[]
  /** True after the end marker of the stream; anything after it is discarded. */
  done(): boolean
  /** The last items after the end of the body. @throws UpstreamError `truncated` if the stream is incomplete */
  end(): Item[]
  /** After an error: the items decoded before it in the same read. */
  rest(): Item[]
  /** About how many characters it keeps, such as the arguments of calls, which are checked at their end. Absent = none. */
  kept?(): number
}

/** The decoder of one chat stream. */
export interface ChatDecoder extends StreamDecoder<ChunkChoice> {
  /** The fields common to all chunks; valid from the first choice on. */
  head(): ChunkHead
  /** The last reported usage. */
  usage(): Usage | undefined
}

/**
 * Translates between OpenAI's form and that of a family, with pure functions except `prepare`.
 * To add a family, implement this interface and pass it to {@link createProvider}.
 */
export interface ChatAdapter {
  /** True if the family returns only one choice per call. */
  oneChoice: boolean
  /** Fetches what the upstream does not fetch itself, such as remote images: the only asynchronous step. Idempotent. */
  prepare?(request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatCompletionRequest>
  /**
   * @param refused what the upstream has refused of requests to the model, by the fields of OpenAI's form; they are no longer in `request`, so
   *   that only an adapter which adds one of them by itself (`stream_options`) reads it
   * @throws ApiError 400 for what the family does not support, before anything is sent
   */
  request(request: ChatCompletionRequest, refused?: ReadonlySet<string>): UpstreamRequest
  /** @throws UpstreamError `malformed` for an invalid answer */
  response(body: unknown, request: ChatCompletionRequest): Completion
  /** The usage that a response reports; asked for where `response` throws, because it is billed nevertheless. */
  usage(body: object): Usage | undefined
  /** Creates the decoder of one stream. */
  stream(request: ChatCompletionRequest): ChatDecoder
  errors(answer: ErrorAnswer): ErrorMeaning
  /** Whether documents in requests to a model are billed besides tokens; absent = never. */
  billsFiles?(model: string): boolean
  /** What a refusal of a request to a model may be billed, in nano-US-dollars; absent = nothing. */
  refusalFee?(model: string): number
}
