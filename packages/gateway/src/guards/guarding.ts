import type { ChunkChoice, ChunkHead, Need, CallKind, Usage } from '@turnpike/core'
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
import { concat, extend, oneLine } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'
import { parse, toApiError } from '@turnpike/http'
import { allowedTargets } from '../limits/allowed-models.js'
import { calledEndUser } from '../limits/end-user.js'
import { assembly } from './assembly.js'
import { bareAnswer, bareChunks } from '../upstream/bare-answer.js'
import type { Caller, UserCaller } from '../caller.js'
import { GUARD_MS, LOGGED_MODEL, LOOK_BACK } from '../conventions.js'
import { countEndUser, endUserOf } from '../limits/end-user.js'
import type { Judge } from './guarded-text.js'
import { judgedWhole, LookBack } from './guarded-text.js'
import type { Answered, Asked, Guard, GuardedTasks } from './guards.js'
import { GuardedSpeech, refuse } from './guards.js'
import { tag } from '../records/record.js'
import type { UpstreamOptions } from '../upstream/upstream-request.js'

const shapes = {
  chat: [ChatCompletionRequest, ChatCompletion],
  embeddings: [EmbeddingRequest, EmbeddingResponse],
  images: [ImageRequest, ImageResponse],
  speech: [SpeechRequest, GuardedSpeech],
  transcription: [TranscriptionFields, TranscriptionResponse],
} as const

/** @throws Error for an answer that has not the form of its task */
function check(task: CallKind, answer: unknown): void {
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
export class Guarding<T extends CallKind = CallKind> {
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
      end_user: String(calledEndUser(options.endUserHeader, request as Need['request'], call) ?? ''),
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

  /** Admits an answer in place of the upstream's: it is for those who might have had one from there. @throws ApiError 400, 403, 429 */
  async admit(need: Need): Promise<void> {
    const { call, caller, options } = this
    const { targets } = await options.router.candidates(need)
    allowedTargets(options.router, caller, targets)
    const endUser = await endUserOf(options, caller, need, call)
    if (endUser) await countEndUser(options, caller, endUser, 1)
    const { by } = this.inPlace!
    call.log({ task: need.task, requested_model: oneLine(need.request.model, LOGGED_MODEL), guard: by })
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
      if (this.#asked.task === 'chat' && this.readsTexts) now = bareAnswer(now as ChatCompletion) as typeof now
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
      let chunks = this.readsTexts ? bareChunks(source) : source
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
      all.push(piece)
      size += piece.length
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
    const whole = <V>(value: V): Promise<V> => judgedWhole(value, this.#judgeOf(guard), this.call.memory)
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
    return async (text, sent = '') => {
      const now = (await this.#said(guard, () => guard.text!(text, this.#asked))) ?? text
      if (now.startsWith(sent)) return now
      return this.#said(guard, () => {
        throw refuse('What this answer goes on with would change what was sent of it')
      })
    }
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
      // What the upstream has answered is paid: the clients of OpenAI must not send it again.
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
export async function guarded<T extends CallKind>(
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
