import type { ChatChunk, ChatCompletion, ChatCompletionRequest, Usage } from './schemas/chat.js'
import type { Capability, Model } from './schemas/models.js'

/** What goes with one upstream call besides the request. */
export interface UpstreamCall {
  /** Aborting it closes the connection to the upstream. */
  signal: AbortSignal
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

/** An upstream. A capability that it lacks is a property that it lacks. */
export interface Provider {
  /** The word that callers use in `provider` and as the prefix of a model id. */
  readonly id: string
  /** Whether a model id that no catalogue lists is of this family, such as `gpt-…`. Absent = never. */
  owns?(model: string): boolean
  models(call: UpstreamCall): Promise<Model[]>
  chat?: {
    /** @throws UpstreamError */
    complete(request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion>
    /**
     * Resolves with the upstream's first event: before that nothing was sent, and a rejection is an HTTP error.
     * The iterator yields the chunks of one upstream read at a time (none, if the read only showed that the upstream is alive),
     * ends only after a whole answer, and throws otherwise.
     * If the upstream reports usage, the last chunk carries it and has no choices; no other chunk has a `usage` key.
     * @throws UpstreamError
     */
    stream(request: ChatCompletionRequest, call: UpstreamCall): Promise<AsyncIterable<ChatChunk[]>>
  }
}

/** A provider and the model id to ask it for. */
export interface Target {
  provider: Provider
  model: string
}

export interface Router {
  /**
   * Who can serve a request, best first; never empty.
   * @throws ApiError 400 for an unknown model or provider, 502 where no provider is left
   */
  candidates(need: {
    capability: Capability
    request: { model: string; provider?: string | null | undefined }
  }): Promise<Target[]>
  /** The catalogue of the configured providers; with `provider`, that provider's part of it. */
  models(filter?: { provider?: string | undefined }): Promise<Model[]>
}
