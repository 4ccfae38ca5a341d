import type { Signal } from '@preact/signals'
import type { Schemas } from '@turnpike/client'

export type Message = Schemas['Message']

/** A message that is about to be sent. */
export type Asked = Pick<Message, 'text' | 'attachments'>

/** A reply that is streamed to this page. */
export interface Reply {
  /** Undefined until the platform has accepted the request. */
  id: string | undefined
  text: string
  thinking: string
}

/** What the last request for a reply came to; how a reply ended is told by its message. */
export interface Outcome {
  /** `replied` = there is a reply; `unanswered` = none began, but the message is stored; `unsent` = the message is not stored either. */
  kind: 'replied' | 'unanswered' | 'unsent'
  /** What went wrong, if anything did. */
  error?: unknown
}

/** A conversation as the page shows it. It goes on when the page shows something else, until somebody signs out. */
export interface Conversation {
  /** Oldest first; undefined until they have been read. */
  messages: Signal<readonly Message[] | undefined>
  /** The `after` of the messages before those; undefined where there are none. */
  earlier: Signal<string | undefined>
  reply: Signal<Reply | undefined>
  /** Whether a reply is being written, for this page or another one. */
  isWriting: { readonly value: boolean }
  outcome: Signal<Outcome | undefined>
  /** The text of an earlier message that is being changed, to be sent as a new one. */
  edited: Signal<string | undefined>
  /** Reads the last messages, unless that is under way, and goes on with replies that are being written. */
  read(): Promise<void>
  readEarlier(): Promise<void>
  /** Sends what was typed, and streams the reply. */
  send(): Promise<void>
  /** Streams another reply to the last message of the user. */
  askAgain(): Promise<void>
  /** Stops the replies that are being written. */
  stop(): Promise<void>
  clear(): Promise<void>
}
