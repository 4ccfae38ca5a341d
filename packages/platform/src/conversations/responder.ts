import type { ContentPart, User } from '@turnpike/core'
import type { Project } from '../schemas.js'

/** What the next message of a conversation is made from. */
export interface ReplyRequest {
  user: User
  project: Project
  conversation_id: string
  /** Models in order of preference, as far as the project's team names one. */
  models: string[]
  /** The last messages of the conversation, oldest first; the last one is to be replied to. One with files has parts: its text, then each file. */
  messages: { role: 'user' | 'assistant' | 'system'; content: string | ContentPart[] }[]
  /** Aborted when the reply is stopped, takes too long, or is not wanted any more. That its reader leaves does not end it. */
  signal: AbortSignal
}

/** A chunk of a chat completion, as the gateway streams them. It is sent on as it is. */
export interface ReplyChunk {
  model?: string
  choices: {
    delta: {
      content?: string | null | undefined
      /** What the model thinks. */
      reasoning_content?: string | null | undefined
    }
    finish_reason?: string | null
  }[]
  /** In the last chunk; `cost` in US dollars, unless `priced` is false. */
  usage?: { prompt_tokens: number; completion_tokens: number; cost?: number; priced?: boolean } | null | undefined
}

/**
 * Port: writes the replies of conversations, such as `gatewayResponder()`.
 * What is thrown before the first chunk is the answer's error, an ApiError with its status; after it, the stream ends with it.
 */
export type Responder = (request: ReplyRequest) => AsyncIterable<ReplyChunk>
