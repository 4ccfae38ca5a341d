import type {
  ApiError,
  ChatCompletion,
  ChatCompletionRequest,
  EmbeddingRequest,
  EmbeddingResponse,
  ImageRequest,
  ImageResponse,
  SpeechRequest,
  CallKind,
  TranscriptionRequest,
  TranscriptionResponse,
} from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import * as v from 'valibot'
import { LOOK_BACK } from '../conventions.js'
import { forbidden } from '../errors.js'

/** Speech, whole. */
export const GuardedSpeech = v.object({ audio: v.instance(Uint8Array), contentType: v.string() })
export type GuardedSpeech = v.InferOutput<typeof GuardedSpeech>

/** What guards see of each task: the body that the caller sent, and the body of the answer. */
export interface GuardedTasks {
  chat: { request: ChatCompletionRequest; answer: ChatCompletion }
  embeddings: { request: EmbeddingRequest; answer: EmbeddingResponse }
  images: { request: ImageRequest; answer: ImageResponse }
  speech: { request: SpeechRequest; answer: GuardedSpeech }
  transcription: { request: TranscriptionRequest; answer: TranscriptionResponse }
}

/** Who asks, with the ids of the usage record; '' where there is none. */
export interface AskedBy {
  /** The value of the answer's X-Request-ID. */
  request_id: string
  user_id: string
  /** '' for users who are signed in without a gateway key. */
  key_id: string
  /** The end user whom the request names, by the header of `endUserHeader` or the `user` of a body; '' where it names none. */
  end_user: string
  /** The tag headers of the request. */
  session_id: string
  conversation_id: string
  task_id: string
  project_id: string
  /** Aborted when the client has left, the time of a guard is up, or the server shuts down. */
  signal: AbortSignal
}

/** A request, by its `task`. It is the same object for all guards of a request, and at each step. */
export type Asked = { [T in CallKind]: AskedBy & { task: T; request: GuardedTasks[T]['request'] } }[CallKind]

/** A request with its answer, by its `task`. */
export type Answered = { [T in CallKind]: AskedBy & { task: T } & GuardedTasks[T] }[CallKind]

/**
 * Sees, changes or refuses requests to upstreams and their answers; all of its functions are optional and may be asynchronous.
 *
 * To refuse, a function throws {@link refuse} or another `ApiError`, which is what the caller gets. What else it throws is a 500 for the caller, and
 * `cause` of what `onError` gets; so is a function that takes longer than `guardMs`.
 *
 * Of several guards, each surrounds those behind it: requests go from the first to the last, answers from the last to the first.
 */
export interface Guard {
  /** For logs and headers: letters, digits, `_`, `.` and `-`. */
  name: string
  /**
   * Called once the caller may use the gateway, before anything is looked up, held or sent.
   * @returns nothing, or another request, which is validated like that of a caller, or an answer in place of the upstream's: nothing is booked, the
   * header `x-gateway-answered-by` names the guard, and only guards before this one see the answer
   */
  request?(asked: Asked): GuardVerdict | Promise<GuardVerdict>
  /**
   * Called with each text of an answer: content, reasoning, refusals and arguments of tool calls (JSON as it is written), transcripts and the
   * revised prompts of pictures. Of a stream it is called with one piece after the other, of which the last characters come again with the next.
   * @returns nothing, or the text in its place
   */
  text?(text: string, asked: Asked): string | undefined | void | Promise<string | undefined | void>
  /**
   * Characters of a stream that are held back until more follow, so that `text` sees together what is split over chunks: at least as many as
   * what it looks for is long. With Infinity, `text` is called once with each text, whole. Default {@link LOOK_BACK}.
   */
  lookBack?: number
  /**
   * Called with the whole answer, as it is sent but for what guards before this one change in it. Of a stream and of speech, all is sent by then
   * but the end: if this throws, the stream ends with an error. The answer is not to be changed here.
   */
  answer?(answered: Answered): void | Promise<void>
}

/** What a guard says of a request: nothing, another request, or an answer in place of the upstream's. */
export type GuardVerdict = { request: Asked['request'] } | { answer: Answered['answer'] } | undefined | void

/** Options for guards. */
export interface GuardOptions {
  /** Called before upstreams and on their answers, in this order. Default none. */
  guards?: Guard[] | undefined
  /** Milliseconds that a call of a guard may take; default 30,000. */
  guardMs?: number
}

/**
 * The error by which a guard refuses a request or an answer: 400 `content_filter`, or 403 `forbidden`. Clients do not send the request again.
 * @param message is shown to the caller
 * @example if (await isHarmful(text)) throw refuse('This request is against our rules')
 */
export const refuse = (message: string, code: 'content_filter' | 'forbidden' = 'content_filter'): ApiError =>
  code === 'forbidden' ? forbidden(message) : invalid(message, { code })

const functions = ['request', 'text', 'answer'] as const
const fields: readonly string[] = ['name', 'lookBack', ...functions]

/** @throws TypeError for what is no guard */
export function checkGuards(guards: Guard[]): void {
  for (const [index, guard] of guards.entries()) {
    const place = `guards[${index}]`
    if (!/^[\w.-]{1,60}$/.test(guard.name ?? ''))
      throw new TypeError(`${place}.name must be 1 to 60 letters, digits, "_", "." or "-"`)
    for (const field of Object.keys(guard))
      if (!fields.includes(field))
        throw new TypeError(`${place}.${field} is not known: a guard has ${fields.join(', ')}`)
    if (!functions.some((field) => guard[field]))
      throw new TypeError(`${place} needs ${functions.join(', ')} or several of them`)
    for (const field of functions)
      if (guard[field] && typeof guard[field] !== 'function')
        throw new TypeError(`${place}.${field} must be a function`)
    const { lookBack = LOOK_BACK } = guard
    if (!(lookBack > 0)) throw new TypeError(`${place}.lookBack must be a number of characters above 0`)
  }
}
