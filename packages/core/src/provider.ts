import type { PriceRow } from './prices/price.js'
import type { Need } from './router.js'
import type { SpeechRequest, TranscriptionFields } from './schemas/audio.js'
import type { ChatChunk, ChatCompletion, ChatCompletionRequest, Usage } from './schemas/chat.js'
import type { EmbeddingRequest, EmbeddingResponse } from './schemas/embeddings.js'
import type { ImageRequest } from './schemas/images.js'
import type { Capability, Fidelity, Model } from './schemas/models.js'

/** The part of AbortSignal that upstream calls use. Every AbortSignal is one; a smaller object is cheaper to create per request. */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** How a field was changed that the upstream does not support as given. */
export interface Note {
  /** As the caller wrote it, such as `logit_bias` or `messages.name`. */
  field: string
  action: Extract<Fidelity, 'dropped' | 'clamped' | 'emulated'>
}

/** The memory that running requests share. */
export interface Memory {
  /** Takes so many bytes until the request ends. @throws ApiError 503 where there are none left */
  take(bytes: number): void
}

/** The context of one upstream call. */
export interface UpstreamCall {
  /** Aborting it closes the connection to the upstream. */
  signal: Signal
  /** What the bytes of a whole answer are taken from as they arrive; absent = they are not counted. */
  memory?: Memory
  /** Called before anything is sent, with each field that is not sent as given. */
  onNotes?(notes: Note[]): void
  /** Called before a request is sent once more, without a parameter that the upstream has refused; `onNotes` follows. */
  onRepeat?(): void
}

/** What a provider leaves out of requests to a model, because its upstream has refused it. */
export interface Learnt {
  model: string
  /** A field of OpenAI's form, with its value where only that is refused: `temperature`, `reasoning_effort=minimal`. */
  field: string
  /** When it is tried again. */
  until: string
}

/** A complete answer; usage is undefined if the upstream reported none. */
export interface Completion {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: ChatCompletion['choices']
  usage: Usage | undefined
  [field: string]: unknown
}

/** The fields common to all chunks of a stream. */
export interface ChunkHead {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  /** Further fields of the upstream, such as `system_fingerprint`. */
  [field: string]: unknown
}

/** The part specific to one chunk: a delta or the finish reason of a choice. */
export type ChunkChoice = ChatChunk['choices'][number]

/** A streamed answer, split into the common head and the choices of each chunk: building complete chunks would double the cost of each. */
export interface ChatStream {
  head: ChunkHead
  /**
   * The choices of each upstream read, one per chunk; empty if the read only showed that the upstream is alive.
   * Ends only after a complete answer, and throws otherwise.
   */
  batches: AsyncIterable<ChunkChoice[]>
  /** The usage reported so far; final after `batches` has ended. */
  usage(): Usage | undefined
  /**
   * Of a stream that several calls make: what each call reports so far that may be billed, by its number, which is the index of its choice. `usage` is
   * then the sum of what is known.
   */
  calls?(): ReadonlyMap<number, Usage | undefined>
  /** Of such a stream: begins no further call, because nobody reads it any more. */
  beginNoMore?(): void
}

/**
 * Vectors in the requested encoding; usage is undefined if the upstream reported none. `embedding` may be a getter that makes its vector each time:
 * thousands of numbers, and their text, take many times the memory of what they are made of.
 */
export interface EmbeddingAnswer {
  object: 'list'
  data: EmbeddingResponse['data']
  model: string
  usage: Usage | undefined
}

/** Images as the upstream generated them. */
export interface ImageAnswer {
  images: { base64: string; revised_prompt?: string | undefined }[]
  usage: Usage | undefined
}

/** Streamed speech. */
export interface SpeechAnswer {
  /** Media type, such as `audio/mpeg`. */
  contentType: string
  /** The audio, whose first piece has already arrived. Returning its iterator early closes the connection. */
  body: AsyncIterable<Uint8Array>
  usage: Usage | undefined
}

/** A file that can be read repeatedly, so that calls can be retried. */
export interface FileInput {
  /** File name given by the caller, including the extension. */
  name: string
  type: string
  /** In bytes. */
  size: number
  read(): AsyncIterable<Uint8Array>
}

/** A transcription request: the fields of the form and the file. */
export type TranscriptionRequest = TranscriptionFields & { file: FileInput }

/** The result of a transcription. */
export interface TranscriptionAnswer {
  /** The text; with `srt` and `vtt` the complete document. */
  text: string
  /** Duration of the audio; undefined if the upstream does not report it. */
  seconds: number | undefined
  usage: Usage | undefined
}

/** What is said of a model where its provider is configured: it goes before every catalogue, list and table, for this provider alone. */
export interface OwnModel {
  /** The id that callers use. By it the rules of a model are known, such as which parameters it takes. */
  id: string
  /** What its upstream calls it, such as a deployment of Azure; default its id. */
  upstream?: string
  /** In US dollars per million units, with the fields of a price table's row. */
  price?: PriceRow
  /** The most tokens of prompt and answer together. */
  contextWindow?: number
  /** The most tokens of an answer, thoughts included. */
  maxOutput?: number
  /** All that it can do. */
  capabilities?: Capability[]
}

/** An upstream. The methods of tasks that it does not support are absent. */
export interface Provider {
  /** Identifies the provider in the `provider` field and as the prefix of a model id. */
  readonly id: string
  /** Whether an unlisted model id, such as `gpt-…`, belongs to this family. Absent = never. */
  owns?(model: string): boolean
  /** Its models, such as those that its upstream lists. Where it cannot tell them, routers go by the last list. @throws UpstreamError */
  models(call: UpstreamCall): Promise<Model[]>
  /**
   * Whether `models` tells all that it has, as far as it can be known: public tables of a vendor's models add none. Absent = no: `models` is a
   * catalogue of some date.
   */
  readonly listsAll?: boolean
  /** What is said of its models where it is configured, by their ids; absent = nothing. */
  readonly own?: ReadonlyMap<string, OwnModel>
  /** Asks the upstream for its list of models, which costs nothing. Absent = it cannot be asked. @throws UpstreamError */
  check?(call: UpstreamCall): Promise<void>
  /** What it has learnt from refusals in this process; absent = nothing. */
  learnt?(): Learnt[]
  /** Whether it supports a request of a task other than chat; absent = always. */
  fits?(need: Pick<Need, 'task' | 'request'>): boolean
  chat?: {
    /** True if a call returns one choice and `n` above 1 is rejected: the gateway then makes one call per choice. */
    readonly oneChoice: boolean
    /**
     * Called once before several calls for one request, which are then made with what it returns: fetches what the upstream does not fetch
     * itself, such as remote images, and translates the request. Idempotent.
     * @throws ApiError 400 for what the upstream does not support
     */
    prepare?(request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatCompletionRequest>
    /**
     * The fields that would not be sent as given; makes no call.
     * @throws ApiError 400 for what the upstream does not support
     */
    preview(request: ChatCompletionRequest): Note[]
    /**
     * The most tokens, thoughts included, of one answer by the request as it would be sent; undefined = as many as the model can make.
     * Absent = not known. Makes no call.
     * @throws ApiError 400 for what the upstream does not support
     */
    maxOutput?(request: ChatCompletionRequest): number | undefined
    /** Whether documents in requests to a model are billed besides tokens, as where the upstream reads them for it. Absent = never. */
    billsFiles?(model: string): boolean
    /** What a refusal of a request to a model may be billed, in nano-US-dollars. Absent = nothing. */
    refusalFee?(model: string): number
    /** @throws UpstreamError */
    complete(request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion>
    /**
     * Resolves when the first choice has arrived. Nothing was sent to the client before, so a rejection can become an HTTP error.
     * @throws UpstreamError
     */
    stream(request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream>
  }
  /** The most texts of one upstream call of `embeddings` with a model, where more take several; default any number. */
  textsPerCall?(model: string): number
  /** @throws UpstreamError */
  embeddings?(request: EmbeddingRequest, call: UpstreamCall): Promise<EmbeddingAnswer>
  /** Generates one image. @throws UpstreamError */
  images?(request: ImageRequest & { model: string }, call: UpstreamCall): Promise<ImageAnswer>
  /** Resolves when the first piece of audio has arrived. @throws UpstreamError */
  speech?(request: SpeechRequest, call: UpstreamCall): Promise<SpeechAnswer>
  /** @throws UpstreamError */
  transcription?(request: TranscriptionRequest, call: UpstreamCall): Promise<TranscriptionAnswer>
}

/** A provider that supports chat, as those of all adapters do. */
export type ChatProvider = Provider & Required<Pick<Provider, 'chat'>>
