import type {
  ChatCompletionRequest,
  ChatStream,
  ChunkChoice,
  Completion,
  Provider,
  Signal,
  UpstreamCall,
  Usage,
} from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { acceptance, CALLS_AT_ONCE, extend, follow, together } from '@turnpike/core/internal'

/** Sums all counts, including those of the details. Of texts, such as a service tier, the first one is kept. */
function addUsage(a: Usage, b: Usage): Usage {
  const sum: Record<string, unknown> = extend(a, {})
  for (const [key, value] of Object.entries(b)) {
    const before = sum[key]
    if (typeof value === 'number') sum[key] = (typeof before === 'number' ? before : 0) + value
    else if (typeof value === 'string') sum[key] = before ?? value
    else if (typeof value === 'object' && value !== null) sum[key] = addUsage((before ?? {}) as Usage, value as Usage)
  }
  return sum as Usage
}

/** The sum of all reports; undefined where one is missing, because the sum would be too small. */
const sumUsage = (all: (Usage | undefined)[]): Usage | undefined =>
  all.length === 0 ? undefined : all.reduce((sum, usage) => (sum && usage ? addUsage(sum, usage) : undefined))

/**
 * `n` answers from a family that returns one per call: `n` calls, at most 8 at a time. They succeed or fail together.
 * @param ask makes one call
 */
export async function fanOut(
  n: number,
  signal: Signal,
  ask: (signal: Signal) => Promise<Completion>,
): Promise<Completion> {
  const made: Completion[] = []
  const answers = await together(n, signal, async (_, signal) => {
    const answer = await ask(signal)
    made.push(answer)
    return answer
  }).catch((error: unknown) => {
    const usage = sumUsage(made.filter(({ usage }) => usage).map(({ usage }) => usage))
    // The other calls were billed.
    throw usage && UpstreamError.is(error) ? new UpstreamError(error.message, extend(error.failure, { usage })) : error
  })
  return extend(answers[0]!, {
    choices: answers.flatMap(({ choices }, index) => choices.map((choice) => extend(choice, { index }))),
    usage: sumUsage(answers.map(({ usage }) => usage)),
  })
}

/**
 * `n` streamed answers merged into one stream. It resolves when the first calls have begun; if one fails, all fail.
 * @param open opens one stream
 */
export async function fanOutStream(
  n: number,
  signal: Signal,
  open: (signal: Signal) => Promise<ChatStream>,
): Promise<ChatStream> {
  const { controller, dispose } = follow(signal)
  const streams: ChatStream[] = []
  const { count, toError } = acceptance()
  const start = async (index: number): Promise<AsyncIterator<ChunkChoice[]>> => {
    const stream = await count(open(controller.signal))
    streams[index] = stream
    return stream.batches[Symbol.asyncIterator]()
  }
  const first = Math.min(n, CALLS_AT_ONCE)
  let begun: AsyncIterator<ChunkChoice[]>[]
  try {
    begun = await Promise.all(Array.from({ length: first }, (_, index) => start(index)))
  } catch (error) {
    controller.abort()
    dispose()
    throw toError(error)
  }

  type Step = { index: number; iterator: AsyncIterator<ChunkChoice[]>; result: IteratorResult<ChunkChoice[]> }
  const step = async (index: number, iterator: AsyncIterator<ChunkChoice[]>): Promise<Step> => ({
    index,
    iterator,
    result: await iterator.next(),
  })

  async function* merge(): AsyncGenerator<ChunkChoice[]> {
    const pending = new Map<number, Promise<Step>>()
    const add = (index: number, promise: Promise<Step>): void => {
      // It may reject while nobody is reading, such as after the client has disconnected.
      promise.catch(() => undefined)
      pending.set(index, promise)
    }
    for (const [index, iterator] of begun.entries()) add(index, step(index, iterator))
    let next = first
    try {
      while (pending.size > 0) {
        const { index, iterator, result } = await Promise.race(pending.values())
        if (!result.done) {
          add(index, step(index, iterator))
          yield result.value.map((choice) => extend(choice, { index }))
          continue
        }
        pending.delete(index)
        if (next < n) {
          const following = next++
          add(
            following,
            start(following).then((iterator) => step(following, iterator)),
          )
        }
      }
    } finally {
      // Complete ones may still be reading to their end, so that their connections can be reused.
      if (pending.size > 0) controller.abort()
      dispose()
    }
  }

  return {
    head: streams[0]!.head,
    batches: merge(),
    usage: () => sumUsage(Array.from({ length: n }, (_, index) => streams[index]?.usage())),
  }
}

type Chat = NonNullable<Provider['chat']>

/** How many calls make up a request: a provider of one choice per call is called once for each. */
export const callsOf = (chat: Chat, { n }: ChatCompletionRequest): number => (chat.oneChoice ? (n ?? 1) : 1)

/** The request of each single call. */
async function oneOf(
  chat: Chat,
  request: ChatCompletionRequest,
  { signal }: UpstreamCall,
): Promise<ChatCompletionRequest> {
  const one = extend(request, { n: undefined })
  return chat.prepare ? chat.prepare(one, signal) : one
}

/** A whole answer, made of one or several calls. */
export function complete(chat: Chat, request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion> {
  const n = callsOf(chat, request)
  if (n === 1) return chat.complete(request, call)
  return oneOf(chat, request, call).then((one) =>
    fanOut(n, call.signal, (signal) => chat.complete(one, extend(call, { signal }))),
  )
}

/** A streamed answer, made of one or several calls. */
export function stream(chat: Chat, request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream> {
  const n = callsOf(chat, request)
  if (n === 1) return chat.stream(request, call)
  return oneOf(chat, request, call).then((one) =>
    fanOutStream(n, call.signal, (signal) => chat.stream(one, extend(call, { signal }))),
  )
}
