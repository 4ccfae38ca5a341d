import type { ChunkChoice, ChunkHead, Need, Task, TranscriptionRequest, Usage } from '@turnpike/core'
import {
  ApiError,
  ChatCompletion,
  ChatCompletionRequest,
  EmbeddingRequest,
  EmbeddingResponse,
  ImageRequest,
  ImageResponse,
  SpeechRequest,
  StorageError,
  TranscriptionFields,
  TranscriptionResponse,
} from '@turnpike/core'
import { concat, extend, invalid } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'
import { parse, toApiError } from '@turnpike/http'
import * as v from 'valibot'
import { allowedTargets } from './admit.js'
import { assembly } from './assembly.js'
import type { Caller, UserCaller } from './caller.js'
import { GUARD_MS, LOGGED_MODEL, LOOK_BACK } from './conventions.js'
import type { Judge } from './guarded-text.js'
import { judged, LookBack } from './guarded-text.js'
import { tag } from './record.js'
import type { UpstreamOptions } from './upstream-request.js'

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
  /** The tag headers of the request. */
  session_id: string
  conversation_id: string
  task_id: string
  project_id: string
  /** Aborted when the client has left, the time of a guard is up, or the server shuts down. */
  signal: AbortSignal
}

/** A request, by its `task`. It is the same object for all guards of a request, and at each step. */
export type Asked = { [T in Task]: AskedBy & { task: T; request: GuardedTasks[T]['request'] } }[Task]

/** A request with its answer, by its `task`. */
export type Answered = { [T in Task]: AskedBy & { task: T } & GuardedTasks[T] }[Task]

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
  guards?: Guard[]
  /** Milliseconds that a call of a guard may take; default 30,000. */
  guardMs?: number
}

/**
 * The error by which a guard refuses a request or an answer: 400 `content_filter`, or 403 `forbidden`. Clients do not send the request again.
 * @param message is shown to the caller
 * @example if (await isHarmful(text)) throw refuse('This request is against our rules')
 */
export const refuse = (message: string, code: 'content_filter' | 'forbidden' = 'content_filter'): ApiError =>
  code === 'forbidden' ? new ApiError(403, 'permission_error', message, { code }) : invalid(message, { code })

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

const shapes = {
  chat: [ChatCompletionRequest, ChatCompletion],
  embeddings: [EmbeddingRequest, EmbeddingResponse],
  images: [ImageRequest, ImageResponse],
  speech: [SpeechRequest, GuardedSpeech],
  transcription: [TranscriptionFields, TranscriptionResponse],
} as const

/** @throws Error for an answer that has not the form of its task */
function check(task: Task, answer: unknown): void {
  try {
    parse(shapes[task][1], answer, 'answer')
  } catch (cause) {
    throw new Error('An answer in place of the upstream is wrong', { cause })
  }
}

const notAgain = ({ status, type, message, code, field, headers, cause }: ApiError): ApiError =>
  new ApiError(status, type, message, { code, field, headers, cause, shouldRetry: false })

/** What a guard says in its time. @throws what the guard throws, and the reason of the signal once it is aborted */
async function within<R>(said: R | Promise<R>, stopping: AbortController, ms: number): Promise<R> {
  if (!(said instanceof Promise)) return said
  const { signal } = stopping
  let stop = (): void => undefined
  const stopped = new Promise<never>((_, reject) => (stop = () => reject(signal.reason as Error)))
  signal.addEventListener('abort', stop)
  const timer = setTimeout(() => stopping.abort(new Error(`It took longer than ${ms} ms`)), ms)
  try {
    return await Promise.race([said, stopped])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** A request on its way through the guards. */
export class Guarding<T extends Task = Task> {
  /** An answer in place of the upstream's, which the guards that it passes have not seen. */
  inPlace: { answer: GuardedTasks[T]['answer']; by: string } | undefined
  /** Whether a guard refused the answer, or failed. */
  hasFailed = false
  readonly #stopping = new AbortController()
  readonly #asked: Asked
  /** Whether an upstream has answered, and bills for it. */
  #isPaid = false
  /** The guards that the answer passes, in this order. */
  readonly #passed: Guard[] = []

  constructor(
    private readonly options: UpstreamOptions,
    private readonly caller: UserCaller,
    private readonly call: Call,
    task: T,
    request: GuardedTasks[T]['request'],
  ) {
    this.#asked = {
      task,
      request,
      request_id: call.requestId,
      user_id: caller.user.id,
      key_id: caller.key?.id ?? '',
      session_id: tag(call, 'x-session-id'),
      conversation_id: tag(call, 'x-conversation-id'),
      task_id: tag(call, 'x-task-id'),
      project_id: tag(call, 'x-project-id'),
      signal: this.#stopping.signal,
    } as Asked
  }

  /** The request as the guards leave it. */
  get request(): GuardedTasks[T]['request'] {
    return this.#asked.request as GuardedTasks[T]['request']
  }

  /** Whether a guard looks at the texts of the answer. */
  get readsTexts(): boolean {
    return this.#passed.some(({ text }) => text)
  }

  /** Whether a guard is told of whole answers. */
  get readsAnswers(): boolean {
    return this.#passed.some(({ answer }) => answer)
  }

  /** Hands the request to the guards. @throws ApiError */
  async ask(): Promise<void> {
    const end = this.#watch()
    try {
      for (const guard of this.options.guards!) {
        const verdict = await this.#said(guard, () => guard.request?.(this.#asked))
        if (verdict && 'answer' in verdict) {
          await this.#said(guard, () => check(this.#asked.task, verdict.answer))
          this.inPlace = { answer: verdict.answer as GuardedTasks[T]['answer'], by: guard.name }
          return
        }
        if (verdict) this.#asked.request = verdict.request
        if (guard.request) this.#validate(guard)
        this.#passed.unshift(guard)
      }
    } finally {
      end()
    }
  }

  /** Admits an answer in place of the upstream's: it is for those who might have had one from there. @throws ApiError 400, 403 */
  async admit(need: Need): Promise<void> {
    const { call, caller, options } = this
    const { targets } = await options.router.candidates(need)
    allowedTargets(caller, targets)
    const { by } = this.inPlace!
    call.log({ task: need.task, requested_model: need.request.model.slice(0, LOGGED_MODEL), guard: by })
    call.setHeader('x-gateway-answered-by', by)
    if (call.header('x-gateway-explain') === 'true') call.setHeader('x-gateway-cost', '0')
  }

  /** {@link admit}, and the answer as the guards before leave it. */
  async give(need: Need): Promise<GuardedTasks[T]['answer']> {
    await this.admit(need)
    return this.judge(this.inPlace!.answer)
  }

  /** A whole answer as the guards leave it. @throws ApiError */
  async judge(answer: GuardedTasks[T]['answer']): Promise<GuardedTasks[T]['answer']> {
    const end = this.#watch()
    this.#isPaid = !this.inPlace
    try {
      let now = answer
      for (const guard of this.#passed) {
        if (guard.text) now = await this.#withTexts(guard, now)
        await this.#tell(guard, now)
      }
      return now
    } finally {
      end()
    }
  }

  /**
   * The chunks of a streamed answer as the guards leave them; a batch for each of the source, which may be empty. Where a guard fails, the source
   * is not closed.
   */
  async *stream(
    source: AsyncIterator<ChunkChoice[], undefined>,
    head: ChunkHead,
    usage: () => Usage,
  ): AsyncGenerator<ChunkChoice[], undefined> {
    const end = this.#watch()
    this.#isPaid = !this.inPlace
    try {
      let chunks = source
      for (const guard of this.#passed) if (guard.text || guard.answer) chunks = this.#stage(guard, chunks, head, usage)
      for (;;) {
        const { done, value } = await chunks.next()
        if (done) return
        yield value
      }
    } finally {
      end()
    }
  }

  /** The pieces of speech, of which the last waits until the guards have seen all. */
  async *speech(pieces: AsyncIterable<Uint8Array>, contentType: string): AsyncGenerator<Uint8Array> {
    const all: Uint8Array[] = []
    let size = 0
    for await (const piece of pieces) {
      this.call.memory.take(piece.length)
      const before = all.at(-1)
      if (before) yield before
      size += all.push(piece) && piece.length
    }
    const answer = { audio: concat(all, size), contentType } as GuardedTasks[T]['answer']
    await this.judge(answer)
    if (size > 0) yield all.at(-1)!
  }

  /** One guard's part in a stream. */
  async *#stage(
    guard: Guard,
    chunks: AsyncIterator<ChunkChoice[], undefined>,
    head: ChunkHead,
    usage: () => Usage,
  ): AsyncGenerator<ChunkChoice[], undefined> {
    const { memory } = this.call
    const waiting = new Map<number, LookBack>()
    const whole = guard.answer && assembly()
    /** The ends of the choices, which wait for the guard's word on the whole answer. */
    const ends: ChunkChoice[] = []
    const through = (choice: ChunkChoice): ChunkChoice[] | Promise<ChunkChoice[]> => {
      if (!guard.text) return [choice]
      const { index } = choice
      const own = waiting.get(index) ?? new LookBack(guard.lookBack ?? LOOK_BACK, this.#judgeOf(guard), memory)
      waiting.set(index, own)
      return own.push(choice)
    }
    for (;;) {
      const { done, value } = await chunks.next()
      if (done) break
      const passed: ChunkChoice[] = []
      for (const given of value)
        for (const choice of await through(given)) {
          if (whole) {
            memory.take(JSON.stringify(choice.delta).length)
            whole.add(choice)
          }
          if (whole && choice.finish_reason !== null) ends.push(choice)
          else passed.push(choice)
        }
      yield passed
    }
    if (!whole) return
    await this.#tell(guard, whole.answer(head, usage()) as GuardedTasks[T]['answer'])
    yield ends
  }

  async #tell(guard: Guard, answer: GuardedTasks[T]['answer']): Promise<void> {
    Object.assign(this.#asked, { answer })
    await this.#said(guard, () => guard.answer?.(this.#asked as Answered))
  }

  /** An answer with its texts as a guard leaves them. */
  async #withTexts(guard: Guard, given: GuardedTasks[T]['answer']): Promise<GuardedTasks[T]['answer']> {
    const whole = async <V>(value: V): Promise<V> => (await judged([value], 1, this.#judgeOf(guard)))![0]!
    const answered = { task: this.#asked.task, answer: given } as Answered
    let answer = answered.answer
    if (answered.task === 'chat') {
      const choices: ChatCompletion['choices'] = []
      for (const choice of answered.answer.choices)
        choices.push(extend(choice, { message: await whole(choice.message) }))
      answer = extend(answered.answer, { choices })
    } else if (answered.task === 'images') answer = extend(answered.answer, { data: await whole(answered.answer.data) })
    else if (answered.task === 'transcription')
      answer = extend(answered.answer, { text: await whole(answered.answer.text) })
    return answer as GuardedTasks[T]['answer']
  }

  #judgeOf(guard: Guard): Judge {
    return async (text) => (await this.#said(guard, () => guard.text!(text, this.#asked))) ?? text
  }

  /** What a guard says. @throws ApiError */
  async #said<R>(guard: Guard, say: () => R | Promise<R>): Promise<R> {
    const { signal } = this.#asked
    try {
      signal.throwIfAborted()
      return await within(say(), this.#stopping, this.options.guardMs ?? GUARD_MS)
    } catch (cause) {
      this.hasFailed = true
      if (signal.aborted && ApiError.is(signal.reason)) throw signal.reason
      this.call.log({ guard: guard.name })
      const isTold = ApiError.is(cause) || StorageError.is(cause)
      const error = toApiError(isTold ? cause : new Error(`The guard ${guard.name} failed`, { cause }))
      // What the upstream has answered is paid: the clients of OpenAI must not send it again (ruling 16).
      throw this.#isPaid ? notAgain(error) : error
    }
  }

  /** Waits with a shutdown for the guards, and stops them where the client leaves. @returns what ends that */
  #watch(): () => void {
    const watch = this.options.watches.watch(this.call, 0)
    const stop = (): void => this.#stopping.abort(watch.reason)
    if (watch.aborted) stop()
    else watch.addEventListener('abort', stop)
    return () => watch.end()
  }

  /** @throws ApiError 400 for a request that is wrong as a guard left it */
  #validate({ name }: Guard): void {
    try {
      parse(shapes[this.#asked.task][0], this.#asked.request, 'request body')
    } catch (error) {
      const { message, field } = error as ApiError
      throw invalid(`${message} (as the guard ${name} left it)`, { field, cause: error })
    }
  }
}

/** The guards' part in a request, once they have let it pass. @throws ApiError */
export async function guarded<T extends Task>(
  options: UpstreamOptions,
  caller: Caller,
  call: Call,
  task: T,
  request: GuardedTasks[T]['request'],
): Promise<Guarding<T>> {
  const guarding = new Guarding(options, caller as UserCaller, call, task, request)
  await guarding.ask()
  return guarding
}
