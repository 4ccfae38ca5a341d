import type {
  ChatCompletionRequest as ChatRequest,
  ChatStream,
  ChunkChoice,
  Note,
  Target,
  ToolDefinition,
  Usage,
} from '@turnpike/core'
import { ChatChunk, ChatCompletion, ChatCompletionRequest } from '@turnpike/core'
import { extend, readerOf, withoutNulls } from '@turnpike/core/internal'
import type { EventStream } from '@turnpike/http'
import { sse } from '@turnpike/http'
import { needOf } from '../chat-need.js'
import { chunkText } from '../chunk-text.js'
import { chatFields, permitted } from '../documented-fields.js'
import { early } from '../early.js'
import { callsOf, complete, stream } from '../fan-out.js'
import { modernise } from '../legacy-functions.js'
import type { Asked } from '../meter.js'
import { meterAnswer, streamMeter } from '../meter.js'
import { inOpenaiForm } from '../other-forms.js'
import { outcomeOf } from '../outcome.js'
import { askedTier } from '../service-tier.js'
import type { Cost } from '../upstream-answer.js'
import { begin, close, explain, reasonOf, whole } from '../upstream-answer.js'
import type { UpstreamOptions, UpstreamRequest } from '../upstream-request.js'
import { callsUpstream, upstreamRequest } from '../upstream-request.js'
import { operation } from '../operation.js'

/**
 * The request without fields that are `null`, also in its messages and tools but not within their JSON Schemas, and without deprecated fields and
 * those of other vendors that OpenAI has in another form.
 * @param notes receives a note for each field whose meaning that changes
 */
export function normalise(request: ChatRequest, notes: Note[] = []): ChatRequest {
  const tidy = (tool: ToolDefinition): ToolDefinition =>
    tool.type === 'function' ? extend(tool, { function: withoutNulls(tool.function) }) : tool
  const given = extend(withoutNulls(request), { messages: request.messages.map(withoutNulls) })
  const normal = inOpenaiForm(modernise(given), notes)
  if (normal.tools) normal.tools = normal.tools.map(tidy)
  return normal
}

/** What the upstream was asked for: a family without the service tier in the request notes that. */
const askedOf = ({ notes, target }: UpstreamRequest, request: ChatRequest): Asked => ({
  request,
  prompts: callsOf(target.provider.chat!, request),
  tier: notes.some(({ field }) => field === 'service_tier') ? undefined : askedTier(request),
})

/** Usage for the response: with its cost where the caller asked for it (`X-Gateway-Explain`). */
const told = ({ explained }: UpstreamRequest, usage: Usage, cost: Cost): Usage =>
  explained ? extend(usage, cost) : usage

/** The events for the client; the usage record is written when the stream ends. */
function eventsOf(upstream: UpstreamRequest, request: ChatRequest, opened: ChatStream): EventStream<ChunkChoice[]> {
  const { watch } = upstream
  const withUsage = request.stream_options?.include_usage === true
  const text = chunkText(opened.head, withUsage)
  const meter = streamMeter(askedOf(upstream, request), opened)
  const batches = opened.batches[Symbol.asyncIterator]()
  const read = readerOf(batches)
  /** Reads to the end, so that the usage record has the usage that the upstream reports. @returns whether the stream is complete */
  const drain = async (): Promise<boolean> => {
    try {
      for (;;) {
        watch.expect(upstream.options.betweenEventsMs)
        const { done, value } = await batches.next()
        watch.relax()
        if (done) return true
        meter.count(value)
      }
    } catch {
      return false
    }
  }
  return {
    read(onBatch, onError) {
      watch.expect(upstream.options.betweenEventsMs)
      read(onBatch, onError)
    },
    encode(batch) {
      watch.relax()
      meter.count(batch)
      return text.choices(batch)
    },
    async complete() {
      const used = meter.used(true)
      const cost = await close(upstream, 'complete', used)
      return withUsage ? text.usage(told(upstream, used.usage, cost)) : ''
    },
    async fail(error) {
      const reason = reasonOf(upstream, error)
      await close(upstream, watch.stop?.outcome ?? outcomeOf(error), meter.used(false), reason)
      return reason
    },
    async disconnect() {
      await close(upstream, 'client_abort', meter.used(watch.drainMs > 0 && (await drain())))
    },
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
      const notes: Note[] = []
      const request = permitted(options, caller, normalise(body, notes), chatFields, notes)
      call.log({ stream: request.stream === true })
      const upstream = await upstreamRequest(options, caller, call, needOf(request), notes)
      /** The request with the target's model. */
      const to = ({ model }: Target): ChatRequest => (model === request.model ? request : extend(request, { model }))
      if (!request.stream) {
        const { answer, used, cost } = await whole(
          upstream,
          (target, call) => complete(target.provider.chat!, to(target), call),
          (answer) => meterAnswer(askedOf(upstream, request), answer),
        )
        return extend(answer, { usage: told(upstream, used.usage, cost) })
      }

      const opening = begin(
        upstream,
        (target, call) => stream(target.provider.chat!, to(target), call),
        (opened) => eventsOf(upstream, request, opened),
      )
      const { earlyPingMs } = options
      return sse(await (earlyPingMs < Infinity ? early(opening, earlyPingMs, () => explain(upstream)) : opening))
    },
  })
}
