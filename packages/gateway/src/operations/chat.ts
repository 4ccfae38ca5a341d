import type {
  Capability,
  ChatCompletionRequest as ChatRequest,
  ChatStream,
  ChunkChoice,
  Model,
  Target,
  ToolDefinition,
  Usage,
} from '@turnpike/core'
import { ChatChunk, ChatCompletion, ChatCompletionRequest } from '@turnpike/core'
import { extend, readerOf, withoutNulls } from '@turnpike/core/internal'
import type { EventStream } from '@turnpike/http'
import { sse } from '@turnpike/http'
import { chunkText } from '../chunk-text.js'
import { EXPECTED_OUTPUT_TOKENS } from '../conventions.js'
import { complete, stream } from '../fan-out.js'
import { modernise } from '../legacy-functions.js'
import { meterAnswer, promptTokens, streamMeter } from '../meter.js'
import { outcomeOf } from '../outcome.js'
import type { Cost } from '../upstream-answer.js'
import { begin, close, reasonOf, whole } from '../upstream-answer.js'
import type { UpstreamOptions, UpstreamRequest } from '../upstream-request.js'
import { callsUpstream, upstreamRequest } from '../upstream-request.js'
import { operation } from '../operation.js'

/** The request with `null` as what it means, absent: in itself, its messages and its tools, but not within their JSON Schemas; and without deprecated fields. */
function normalise(request: ChatRequest): ChatRequest {
  const tidy = (tool: ToolDefinition): ToolDefinition =>
    tool.type === 'function' ? extend(tool, { function: withoutNulls(tool.function) }) : tool
  const normal = modernise(extend(withoutNulls(request), { messages: request.messages.map(withoutNulls) }))
  if (normal.tools) normal.tools = normal.tools.map(tidy)
  return normal
}

/** What a model must be able to do, of what the catalogue tells. */
function abilities({ tools, messages, ...request }: ChatRequest): Capability[] {
  const needed: Capability[] = []
  if (tools?.length) needed.push('tools')
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  if (parts.some(({ type }) => type === 'image_url')) needed.push('vision')
  if ((request['response_format'] as { type?: unknown } | undefined)?.type === 'json_schema') needed.push('json_schema')
  return needed
}

/** Whether a target takes a request as it is. */
function fits(request: ChatRequest, { provider, model }: Target, listed: Model | undefined): boolean {
  if (listed && !abilities(request).every((ability) => listed.capabilities.includes(ability))) return false
  try {
    provider.chat!.preview(extend(request, { model }))
    return true
  } catch {
    return false
  }
}

/** Usage as the caller is told it: with its cost, where that was asked for. */
const told = ({ explained }: UpstreamRequest, usage: Usage, cost: Cost): Usage =>
  explained ? extend(usage, cost) : usage

/** A stream as the caller is sent it; it is booked as it ends. */
function eventsOf(upstream: UpstreamRequest, request: ChatRequest, opened: ChatStream): EventStream<ChunkChoice[]> {
  const { watch } = upstream
  const withUsage = request.stream_options?.include_usage === true
  const text = chunkText(opened.head, withUsage)
  const meter = streamMeter(request, opened)
  const batches = opened.batches[Symbol.asyncIterator]()
  const read = readerOf(batches)
  /** Reads on, so that the upstream's own report is booked. @returns whether the stream is whole */
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
    async leave() {
      await close(upstream, 'client_abort', meter.used(upstream.options.drainMs > 0 && (await drain())))
    },
  }
}

/** POST /v1/chat/completions: one answer, whole or streamed, booked before the caller is told that it is complete. */
export function chatCompletions(options: UpstreamOptions) {
  return operation({
    id: 'chat.completions',
    summary: 'Answers a conversation, at once or as a stream.',
    access: 'key',
    body: ChatCompletionRequest,
    output: ChatCompletion,
    events: ChatChunk,
    ...callsUpstream,
    async run(caller, { body }, call) {
      const request = normalise(body)
      call.log({ stream: request.stream === true })
      const { n, max_completion_tokens, max_tokens } = request
      const answers = n ?? 1
      const output = max_completion_tokens ?? max_tokens ?? EXPECTED_OUTPUT_TOKENS
      const upstream = await upstreamRequest(options, caller, call, {
        task: 'chat',
        request,
        expected({ provider }) {
          // Where each answer is a call of its own, each pays for the prompt.
          const prompts = provider.chat!.oneChoice ? answers : 1
          return { input: promptTokens(request) * prompts, output: output * answers }
        },
        size: () => ({ prompt: promptTokens(request), output }),
        fits: (target, listed) => fits(request, target, listed),
      })
      /** The request to the model that a target has. */
      const to = ({ model }: Target): ChatRequest => (model === request.model ? request : extend(request, { model }))
      if (!request.stream) {
        const { answer, used, cost } = await whole(
          upstream,
          (target, call) => complete(target.provider.chat!, to(target), call),
          (answer) => meterAnswer(request, answer),
        )
        return extend(answer, { usage: told(upstream, used.usage, cost) })
      }

      const opened = await begin(upstream, (target, call) => stream(target.provider.chat!, to(target), call))
      return sse(eventsOf(upstream, request, opened))
    },
  })
}
