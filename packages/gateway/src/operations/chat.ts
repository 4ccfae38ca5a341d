import type {
  ChatCompletionRequest as ChatRequest,
  ChatStream,
  ChunkChoice,
  ChunkHead,
  Note,
  Target,
  ToolDefinition,
  Usage,
} from '@turnpike/core'
import { ChatChunk, ChatCompletion, ChatCompletionRequest } from '@turnpike/core'
import { extend, readerOf, withoutNulls } from '@turnpike/core/helpers'
import type { EventStream } from '@turnpike/http'
import { sse } from '@turnpike/http'
import { needOf } from '../limits/chat-need.js'
import { chunksOf } from '../guards/assembly.js'
import { bareHead } from '../upstream/bare-answer.js'
import { chunkText } from '../upstream/chunk-text.js'
import { chatFields, permitted } from '../limits/documented-fields.js'
import { early } from '../upstream/early.js'
import { callsOf, complete, stream } from '../upstream/fan-out.js'
import type { Guarding } from '../guards/guarding.js'
import { guarded } from '../guards/guarding.js'
import { modernise } from '../upstream/legacy-functions.js'
import type { Asked, StreamMeter } from '../records/meter.js'
import { meterAnswer, streamMeter } from '../records/meter.js'
import { inOpenaiForm } from '../upstream/other-forms.js'
import { isTooLarge, outcomeOf } from '../records/outcome.js'
import { atLeast } from '../records/record.js'
import { askedTier } from '../limits/service-tier.js'
import type { Cost } from '../records/charge.js'
import { charged, reasonOf } from '../records/charge.js'
import { begin, close, drain, explain, firstToken, whole } from '../upstream/upstream-answer.js'
import type { UpstreamOptions, AdmittedRequest } from '../upstream/upstream-request.js'
import { callsUpstream, timeOutOf, upstreamRequest } from '../upstream/upstream-request.js'
import type { UpstreamWatch } from '../upstream/upstream-watch.js'
import { hasContentFallback, heldBack, isWithheld } from '../guards/withheld.js'
import { operation } from '../operation.js'

const tidy = (tool: ToolDefinition): ToolDefinition =>
  tool.type === 'function' ? extend(tool, { function: withoutNulls(tool.function) }) : tool

/**
 * The request without fields that are `null`, also in its messages and tools but not within their JSON Schemas, and without deprecated fields and
 * those of other vendors that OpenAI has in another form.
 * @param notes receives a note for each field whose meaning that changes
 */
export function normalise(request: ChatRequest, notes: Note[] = []): ChatRequest {
  const given = extend(withoutNulls(request), { messages: request.messages.map(withoutNulls) })
  const normal = inOpenaiForm(modernise(given), notes)
  if (normal.tools) normal.tools = normal.tools.map(tidy)
  return normal
}

/** The request without log probabilities, whose texts guards would not see. */
function withoutLogprobs(request: ChatRequest, notes: Note[]): ChatRequest {
  const { logprobs, top_logprobs, ...rest } = request
  if (!logprobs && top_logprobs === undefined) return request
  notes.push({ field: 'logprobs', action: 'dropped' })
  return rest
}

/** The request with the target's model. */
const requestTo = ({ model }: Target, request: ChatRequest): ChatRequest =>
  model === request.model ? request : extend(request, { model })

/** What the upstream was asked for: a family without the service tier in the request notes that. */
const askedOf = ({ notes, target }: AdmittedRequest, request: ChatRequest): Asked => ({
  request,
  prompts: callsOf(target.provider.chat!, request),
  tier: notes.some(({ field }) => field === 'service_tier') ? undefined : askedTier(request),
})

/** Usage for the response: with its cost where the caller asked for it (`X-Gateway-Explain`). */
const told = ({ explained }: AdmittedRequest, usage: Usage, cost: Cost): Usage =>
  explained ? extend(usage, cost) : usage

/** The batches of an upstream for guards: what they change is sent, and what came is charged. */
class Received implements AsyncIterator<ChunkChoice[], undefined> {
  /** Whether the upstream has ended, successfully. */
  isWhole = false

  constructor(
    private readonly batches: AsyncIterator<ChunkChoice[], undefined>,
    private readonly watch: UpstreamWatch,
    private readonly meter: StreamMeter,
  ) {}

  async next(): Promise<IteratorResult<ChunkChoice[], undefined>> {
    const result = await this.batches.next()
    this.watch.relax()
    if (result.done) this.isWhole = true
    else this.meter.count(result.value)
    return result
  }
}

/** The events for the client; the usage record is written when the stream ends. */
function eventsOf(
  upstream: AdmittedRequest,
  request: ChatRequest,
  opened: ChatStream,
  guarding: Guarding<'chat'> | undefined,
): EventStream<ChunkChoice[]> {
  const { watch } = upstream
  const withUsage = request.stream_options?.include_usage === true
  const head = guarding?.readsTexts ? bareHead(opened.head) : opened.head
  const text = chunkText(head, withUsage)
  const meter = streamMeter(askedOf(upstream, request), opened, () => firstToken(upstream))
  const batches = opened.batches[Symbol.asyncIterator]()
  const received = guarding && new Received(batches, watch, meter)
  const guards = received && guarding.stream(received, head, () => meter.used(true).usage)
  const read = readerOf(guards ?? batches)
  /** Reads to the end, where a stream is drained. @returns whether it is complete */
  const readRest = async (): Promise<boolean> => {
    if (watch.drainMs === 0) return false
    opened.beginNoMore?.()
    return drain(upstream, batches, (batch) => meter.count(batch))
  }
  /** Ends a stream that a guard does not let pass. Its rest is read for the usage record as where a client leaves. @returns the guard's error */
  const refused = async (error: unknown): Promise<unknown> => {
    const { isWhole } = received!
    const hasLeft = watch.disconnected
    if (!isWhole && !hasLeft) watch.disconnect()
    const isKnown = isWhole || (await readRest())
    await close(upstream, hasLeft ? 'client_abort' : 'refused', meter.used(isKnown))
    return error
  }
  return {
    read(onBatch, onError) {
      watch.expect(timeOutOf(upstream.target, 'betweenEventsMs', upstream.options))
      read(onBatch, onError)
    },
    encode(batch) {
      if (!guards) {
        watch.relax()
        meter.count(batch)
      }
      return text.choices(batch)
    },
    async complete() {
      const used = meter.used(true)
      const cost = await close(upstream, 'complete', used)
      return withUsage ? text.usage(told(upstream, used.usage, cost)) : ''
    },
    async fail(error) {
      if (guarding?.hasFailed && !watch.stop) return refused(error)
      const reason = reasonOf(upstream, error)
      const used = meter.used(false)
      const charge = isTooLarge(reason) ? atLeast(upstream.need.expected(upstream.target), used) : used
      await close(upstream, watch.stop?.outcome ?? outcomeOf(error), charge, reason)
      return reason
    },
    async disconnect() {
      void guards?.return(undefined)
      await close(upstream, 'client_abort', meter.used(await readRest()))
    },
  }
}

async function* once<T>(batch: T): AsyncGenerator<T, undefined> {
  yield batch
}

/** The events of an answer that a guard gave in place of an upstream. */
function eventsInPlace(
  answer: ChatCompletion,
  request: ChatRequest,
  guarding: Guarding<'chat'>,
): EventStream<ChunkChoice[]> {
  const { choices: _, usage, ...rest } = answer
  const head: ChunkHead = { ...rest, object: 'chat.completion.chunk' }
  const withUsage = request.stream_options?.include_usage === true
  const text = chunkText(head, withUsage)
  const batches = guarding.stream(once(chunksOf(answer)), head, () => usage)
  return {
    read: readerOf(batches),
    encode: (batch) => text.choices(batch),
    complete: async () => (withUsage ? text.usage(usage) : ''),
    fail: async (error) => error,
    disconnect: async () => void (await batches.return(undefined)),
  }
}

/** POST /v1/chat/completions, whole or streamed. The usage record is written before the client receives the end of the answer. */
export function chatCompletions(options: UpstreamOptions) {
  return operation({
    id: 'chat.completions',
    summary: 'Answers a conversation, at once or as a stream.',
    access: 'key',
    body: ChatCompletionRequest,
    example: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] },
    output: ChatCompletion,
    events: ChatChunk,
    ...callsUpstream,
    async run(caller, { body }, call) {
      const guarding = options.guards && (await guarded(options, caller, call, 'chat', body))
      const notes: Note[] = []
      const given = permitted(options, caller, normalise(guarding?.request ?? body, notes), chatFields, notes)
      const request = guarding?.readsTexts ? withoutLogprobs(given, notes) : given
      call.log({ stream: request.stream === true })
      const need = needOf(request)
      if (guarding?.inPlace) {
        if (!request.stream) return guarding.give(need)
        await guarding.admit(need)
        return sse(eventsInPlace(guarding.inPlace.answer, request, guarding))
      }
      const upstream = await upstreamRequest(options, caller, call, need, notes)
      if (!request.stream) {
        const { answer, used, cost } = await whole(
          upstream,
          (target, call) => {
            const answering = complete(target.provider.chat!, requestTo(target, request), call)
            if (!hasContentFallback(upstream)) return answering
            return answering.then(async (answer) => {
              if (!isWithheld(answer)) return answer
              throw await charged(upstream, meterAnswer(askedOf(upstream, request), answer))
            })
          },
          (answer) => meterAnswer(askedOf(upstream, request), answer),
        )
        const judged = guarding ? await guarding.judge(extend(answer, { usage: used.usage })) : answer
        const usage = told(upstream, used.usage, cost)
        return judged.usage === usage ? judged : extend(judged, { usage })
      }

      const opening = begin(
        upstream,
        (target, call) => {
          const opening = stream(target.provider.chat!, requestTo(target, request), call)
          if (!hasContentFallback(upstream)) return opening
          return opening.then(heldBack).then(async ({ stream, isWithheld }) => {
            if (!isWithheld) return stream
            throw await charged(upstream, streamMeter(askedOf(upstream, request), stream).used(true))
          })
        },
        (opened) => eventsOf(upstream, request, opened, guarding),
      )
      const { earlyPingMs } = options
      return sse(await (earlyPingMs < Infinity ? early(opening, earlyPingMs, () => explain(upstream)) : opening))
    },
  })
}
