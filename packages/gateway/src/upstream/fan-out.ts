import type {
  ChatCompletionRequest,
  ChatStream,
  ChunkChoice,
  Completion,
  Provider,
  Signal,
  UpstreamCall,
} from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { errorOfCalls, extend, follow, together } from '@turnpike/core/helpers'
import { CALLS_AT_ONCE, sumUsage } from '@turnpike/core/internal'

/**
 * `n` answers from a family that returns one per call: `n` calls, at most 8 at a time. They succeed or fail together: after a failure no
 * further call is made, but those that run may end, because they are billed, and only their answers tell for what.
 * @param ask makes one call
 */
export async function fanOut(n: number, ask: () => Promise<Completion>): Promise<Completion> {
  const answers = await together(n, ask)
  return extend(answers[0]!, {
    choices: answers.flatMap(({ choices }, index) => choices.map((choice) => extend(choice, { index }))),
    usage: sumUsage(answers.map(({ usage }) => usage)),
  })
}

/**
 * `n` streamed answers merged into one stream. It resolves when the first calls have begun. They succeed or fail together, like whole answers: after
 * a failure those that run are read to their end.
 * @param open opens one stream
 */
export async function fanOutStream(
  n: number,
  signal: Signal,
  open: (signal: Signal) => Promise<ChatStream>,
): Promise<ChatStream> {
  const { controller, dispose } = follow(signal)
  let head: ChatStream['head'] | undefined
  let most = n
  /** What each call that was made has used, as far as is known. */
  const reports = new Map<number, ChatStream['usage']>()
  const start = async (index: number): Promise<AsyncIterator<ChunkChoice[]>> => {
    reports.set(index, () => undefined)
    try {
      const stream = await open(controller.signal)
      if (index === 0) head = stream.head
      reports.set(index, stream.usage)
      return stream.batches[Symbol.asyncIterator]()
    } catch (error) {
      if (UpstreamError.is(error)) {
        const { usage, accepted } = error.failure
        if (usage) reports.set(index, () => usage)
        else if (!accepted) reports.delete(index)
      }
      throw error
    }
  }
  const first = Math.min(n, CALLS_AT_ONCE)
  const starting = Array.from({ length: first }, (_, index) => start(index))
  let begun: AsyncIterator<ChunkChoice[]>[]
  try {
    begun = await Promise.all(starting)
  } catch (error) {
    const drained = starting.map(async (one) => {
      const iterator = await one
      while (!(await iterator.next()).done);
    })
    await Promise.allSettled(drained)
    dispose()
    const ended = await Promise.allSettled(starting)
    const others = ended.flatMap((one) =>
      one.status === 'rejected' && one.reason !== error ? [one.reason as unknown] : [],
    )
    const done = ended.flatMap(({ status }, index) => (status === 'fulfilled' ? [reports.get(index)!()] : []))
    throw errorOfCalls([error, ...others], done)
  }

  type Step = { index: number; iterator: AsyncIterator<ChunkChoice[]>; result: IteratorResult<ChunkChoice[]> }
  const step = async (index: number, iterator: AsyncIterator<ChunkChoice[]>): Promise<Step> => ({
    index,
    iterator,
    result: await iterator.next(),
  })

  async function* merge(): AsyncGenerator<ChunkChoice[]> {
    /** What has come and was not given on yet; a race of all steps would keep something of each for those that are silent. */
    const come: (Step | { error: unknown })[] = []
    let wake = (): void => undefined
    let pending = 0
    const add = (promise: Promise<Step>): void => {
      pending++
      const push = (one: Step | { error: unknown }): void => {
        come.push(one)
        wake()
      }
      promise.then(push, (error: unknown) => push({ error }))
    }
    for (const [index, iterator] of begun.entries()) add(step(index, iterator))
    let next = first
    let failed: { error: unknown } | undefined
    try {
      while (pending > 0) {
        if (come.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const one = come.shift()!
        pending--
        if ('error' in one) {
          failed ??= one
          most = 0
        } else if (!one.result.done) {
          const { index, iterator, result } = one
          add(step(index, iterator))
          yield result.value.map((choice: ChunkChoice) => extend(choice, { index }))
        } else if (next < most) {
          const following = next++
          add(start(following).then((iterator) => step(following, iterator)))
        }
      }
      if (failed) throw failed.error
    } finally {
      // Complete ones may still be reading to their end, so that their connections can be reused.
      if (pending > 0) controller.abort()
      dispose()
    }
  }

  const calls = () => new Map(Array.from(reports, ([index, report]) => [index, report()]))
  return {
    head: head!,
    batches: merge(),
    usage: () => sumUsage([...calls().values()].filter((usage) => usage !== undefined)),
    calls,
    beginNoMore() {
      most = 0
    },
  }
}

type Chat = NonNullable<Provider['chat']>

/** How many calls make up a request: a provider of one choice per call is called once for each. */
export const callsOf = (chat: Chat, { n }: ChatCompletionRequest): number => (chat.oneChoice ? (n ?? 1) : 1)

/** The request of each single call. */
async function oneOf(chat: Chat, request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatCompletionRequest> {
  const one = extend(request, { n: undefined })
  return chat.prepare ? chat.prepare(one, call) : one
}

/** A whole answer, made of one or several calls. */
export function complete(chat: Chat, request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion> {
  const n = callsOf(chat, request)
  if (n === 1) return chat.complete(request, call)
  return oneOf(chat, request, call).then((one) => fanOut(n, () => chat.complete(one, call)))
}

/** A streamed answer, made of one or several calls. */
export function stream(chat: Chat, request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream> {
  const n = callsOf(chat, request)
  if (n === 1) return chat.stream(request, call)
  return oneOf(chat, request, call).then((one) =>
    fanOutStream(n, call.signal, (signal) => chat.stream(one, extend(call, { signal }))),
  )
}
