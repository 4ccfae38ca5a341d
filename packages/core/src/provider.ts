import type { UpstreamFailure } from './errors.js'
import type { Price, PriceTable, Units } from './prices/price.js'
import type { SpeechRequest, TranscriptionFields } from './schemas/audio.js'
import type { ChatChunk, ChatCompletion, ChatCompletionRequest, Usage } from './schemas/chat.js'
import type { EmbeddingRequest, EmbeddingResponse } from './schemas/embeddings.js'
import type { ImageRequest } from './schemas/images.js'
import type { Fidelity, Model } from './schemas/models.js'

/** What an upstream call needs of an AbortSignal. Every AbortSignal is one; who makes one per request can do with less. */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** What became of a field that an upstream does not take as it was given. */
export interface Note {
  /** As the caller wrote it, such as `logit_bias` or `messages.name`. */
  field: string
  action: Extract<Fidelity, 'dropped' | 'clamped' | 'emulated'>
}

/** What goes with one upstream call besides the request. */
export interface UpstreamCall {
  /** Aborting it closes the connection to the upstream. */
  signal: Signal
  /** Told of every field that does not reach the upstream as it was given, before anything is sent. */
  onNotes?(notes: Note[]): void
}

/** A whole answer, whose upstream may have reported no usage. */
export interface Completion {
  id: string
  object: 'chat.completion'
  created: number
  model: string
  choices: ChatCompletion['choices']
  usage: Usage | undefined
  [field: string]: unknown
}

/** What every chunk of one stream has alike. */
export interface ChunkHead {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  /** What else the upstream says of the whole answer, such as `system_fingerprint`. */
  [field: string]: unknown
}

/** What one chunk has of its own: a delta, or the reason why a choice ended. */
export type ChunkChoice = ChatChunk['choices'][number]

/** A streamed answer, as what its chunks have alike and what each has of its own: whole objects would cost as much as all else of a chunk. */
export interface ChatStream {
  head: ChunkHead
  /**
   * The choices of one upstream read at a time, each for a chunk (none, if the read only showed that the upstream is alive).
   * Ends only after a whole answer, and throws otherwise.
   */
  batches: AsyncIterable<ChunkChoice[]>
  /** As far as the upstream has reported it; final when `batches` has ended. */
  usage(): Usage | undefined
}

/** Vectors in the encoding that was asked for; the upstream may have reported no usage. */
export interface EmbeddingAnswer {
  object: 'list'
  data: EmbeddingResponse['data']
  model: string
  usage: Usage | undefined
}

/** Pictures as the upstream made them. */
export interface ImageAnswer {
  images: { base64: string; revised_prompt?: string | undefined }[]
  usage: Usage | undefined
}

/** Spoken text, as it arrives. */
export interface SpeechAnswer {
  /** Such as `audio/mpeg`. */
  contentType: string
  /** Resolved with its first piece already there. Returning its iterator early closes the connection. */
  body: AsyncIterable<Uint8Array>
  usage: Usage | undefined
}

/** A file that can be read more than once, so that a call can be repeated. */
export interface FileInput {
  /** As the caller named it, with its extension. */
  name: string
  type: string
  /** In bytes. */
  size: number
  read(): AsyncIterable<Uint8Array>
}

/** A transcription as a provider is asked for it: the fields of the form and the file. */
export type TranscriptionRequest = TranscriptionFields & { file: FileInput }

/** What a provider returns for a transcription. */
export interface TranscriptionAnswer {
  /** The text, or with `srt` and `vtt` the whole document. */
  text: string
  /** How long the audio is, if the upstream tells. */
  seconds: number | undefined
  usage: Usage | undefined
}

/** An upstream. A capability that it lacks is a property that it lacks. */
export interface Provider {
  /** The word that callers use in `provider` and as the prefix of a model id. */
  readonly id: string
  /** Whether a model id that no catalogue lists is of this family, such as `gpt-…`. Absent = never. */
  owns?(model: string): boolean
  models(call: UpstreamCall): Promise<Model[]>
  /** Whether it can do a task besides chat as it is asked; absent = it can. */
  fits?(need: Pick<Need, 'task' | 'request'>): boolean
  chat?: {
    /** True where a call gives one answer and `n` above 1 is refused: more answers are more calls, which the gateway makes. */
    readonly oneChoice: boolean
    /**
     * Gets what the upstream does not get by itself, such as images at addresses; what is prepared already stays as it is.
     * Who makes several calls of a request does it once before them.
     */
    prepare?(request: ChatCompletionRequest, signal: Signal): Promise<ChatCompletionRequest>
    /**
     * What of a request would not reach the upstream as it was given; nothing is sent.
     * @throws ApiError 400 for what the upstream cannot be asked
     */
    preview(request: ChatCompletionRequest): Note[]
    /** @throws UpstreamError */
    complete(request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion>
    /**
     * Resolves with the upstream's first choice: before that nothing was sent, and a rejection is an HTTP error.
     * @throws UpstreamError
     */
    stream(request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream>
  }
  /** @throws UpstreamError */
  embeddings?(request: EmbeddingRequest, call: UpstreamCall): Promise<EmbeddingAnswer>
  /** Makes one picture. @throws UpstreamError */
  images?(request: ImageRequest & { model: string }, call: UpstreamCall): Promise<ImageAnswer>
  /** Resolves with the first piece of audio: before that nothing was sent. @throws UpstreamError */
  speech?(request: SpeechRequest, call: UpstreamCall): Promise<SpeechAnswer>
  /** @throws UpstreamError */
  transcription?(request: TranscriptionRequest, call: UpstreamCall): Promise<TranscriptionAnswer>
}

/** A provider and the model id to ask it for. */
export interface Target {
  provider: Provider
  model: string
  /** The price at this moment; undefined where it is not known. */
  price: Price | undefined
  /** Version of the table that it is from. */
  catalogue: string
}

/** What a provider can be asked to do: names of {@link Provider}'s methods. */
export type Task = 'chat' | 'embeddings' | 'images' | 'speech' | 'transcription'

/** What a request needs of whoever serves it. */
export interface Need {
  task: Task
  request: { model: string; provider?: string | null | undefined }
  /** What a target will probably use for it; asked only where prices are compared. */
  expected(target: Target): Units
  /** Tokens of the prompt and of one answer to it; asked only where prices are compared. Default: no matter. */
  size?(): { prompt: number; output: number }
  /** Whether a target can do it as it is asked; asked only where prices are compared; `listed` is its entry in the catalogue. Default: yes. */
  fits?(target: Target, listed: Model | undefined): boolean
}

/** One that could have served a request whose provider was chosen by price. */
export type Considered = {
  provider: string
  model: string
  /** What the request was expected to cost; null where the price is not known. */
  expected_nano_usd: number | null
  /** Why it cannot serve the request; absent where it can. */
  excluded?: 'unfit' | 'context' | 'output'
  /** Why it was put behind dearer ones; absent where it was not. */
  behind?: 'unhealthy' | 'limited'
}

/** Who is to serve a request. */
export interface Choice {
  /** Best first; never empty. */
  targets: Target[]
  /** All that were compared, cheapest first; absent where price did not decide. */
  considered?: Considered[]
}

/** How a provider has been doing. */
export interface ProviderHealth {
  id: string
  /** `unhealthy` = others are asked before it until `next_try`. */
  status: 'healthy' | 'unhealthy'
  /** Failures since its last success. */
  failures: number
  /** Kind of the last of them. */
  last_failure: UpstreamFailure['kind'] | null
  /** When one request may try it again. */
  next_try: string | null
}

/** A provider that is configured, and what it is like at the moment. */
export interface ProviderState extends ProviderHealth {
  /** What it can be asked to do. */
  tasks: Task[]
  /** `open` = others are asked before it; `half-open` = one request may try it, or does. */
  breaker: 'closed' | 'open' | 'half-open'
  /** Its models that others are asked before because they were rate limited, and until when. */
  limited: { model: string; until: string }[]
}

/** A choice that was made among several, and what came of it. */
export interface RecentChoice {
  time: string
  /** As the request had it. */
  model: string
  /** The request's `provider` field; null where it had none. */
  provider: string | null
  /** What decided: the expected cost, or the order in which they are configured. */
  by: 'price' | 'order'
  /** In the order in which they were to be asked, and after them those that are excluded. What they cost is told where price decided. */
  order: Considered[]
  /** Who accepted the request; null where nobody did, or not yet. */
  served: { provider: string; model: string } | null
  /** Calls that it took. */
  attempts: number
}

/** How a router chooses, and among whom; of this process. */
export interface RouterState {
  /** In the order in which they were configured. */
  providers: ProviderState[]
  /** Names that stand for models. */
  groups: Record<string, string[]>
  /** The last 100 choices where there was something to choose, newest first. */
  choices: RecentChoice[]
  /** The prices in force. */
  prices: PriceTable
}

/** Finds the providers that can serve a request, and learns from what became of it. */
export interface Router {
  /**
   * Who can serve a request.
   * @throws ApiError 400 for an unknown model or provider, and where none can do what is asked for
   */
  candidates(need: Need): Choice | Promise<Choice>
  /**
   * Runs a call with the first target, and where it surely was not accepted, with the next, or again.
   * How a call went that this resolves with is to be told by `report`.
   * @throws what `run` threw for the first target, or for a later one where that may have been accepted or nobody else would take it
   */
  attempt<T>(
    targets: Target[],
    signal: Signal,
    run: (target: Target) => Promise<T>,
  ): Promise<{ value: T; target: Target; attempts: number }>
  /** How a call that was accepted ended; without `error`, well. */
  report(target: Target, error?: unknown): void
  /** The catalogue of the configured providers; with `provider`, that provider's part of it. */
  models(filter?: { provider?: string | undefined }): Promise<Model[]>
  /** One model of the catalogue, by its id, bare or behind its provider's, with what becomes of each field of a request to it. */
  model(id: string): Promise<Model | undefined>
  /** How the providers have been doing, in the order in which they were configured. */
  health(): ProviderHealth[]
  /** What it knows and did, for those who look after it. */
  state(): RouterState
}
