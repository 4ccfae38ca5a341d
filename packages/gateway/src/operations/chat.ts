import type {
  Capability,
  ChatCompletionRequest as ChatRequest,
  ChatStream,
  ChunkChoice,
  Model,
  Need,
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

/** The request without fields that are `null`, also in its messages and tools but not within their JSON Schemas, and without deprecated fields. */
export function normalise(request: ChatRequest): ChatRequest {
  const tidy = (tool: ToolDefinition): ToolDefinition =>
    tool.type === 'function' ? extend(tool, { function: withoutNulls(tool.function) }) : tool
  const normal = modernise(extend(withoutNulls(request), { messages: request.messages.map(withoutNulls) }))
  if (normal.tools) normal.tools = normal.tools.map(tidy)
  return normal
}

/** The capabilities that a request needs, of those that the catalogue lists. */
function abilities({ tools, messages, ...request }: ChatRequest): Capability[] {
  const needed: Capability[] = []
  if (tools?.length) needed.push('tools')
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  if (parts.some(({ type }) => type === 'image_url')) needed.push('vision')
  if ((request['response_format'] as { type?: unknown } | undefined)?.type === 'json_schema') needed.push('json_schema')
  return needed
}

/** Whether a target supports a request as it is. */
function fits(request: ChatRequest, { provider, model }: Target, listed: Model | undefined): boolean {
  if (listed && !abilities(request).every((ability) => listed.capabilities.includes(ability))) return false
  try {
    provider.chat!.preview(extend(request, { model }))
    return true
  } catch {
    return false
  }
}

/** What the router has to find for a normalised request. */
export function needOf(request: ChatRequest): Need {
  const { n, max_completion_tokens, max_tokens } = request
  const answers = n ?? 1
  const output = max_completion_tokens ?? max_tokens ?? EXPECTED_OUTPUT_TOKENS
  return {
    task: 'chat',
    request,
    expected({ provider }) {
      // A provider of one choice per call is called once for each, and each call pays for the prompt.
      const prompts = provider.chat!.oneChoice ? answers : 1
      return { input: promptTokens(request) * prompts, output: output * answers }
    },
    size: () => ({ prompt: promptTokens(request), output }),
    fits: (target, listed) => fits(request, target, listed),
  }
}

/** Usage for the response: with its cost where the caller asked for it (`X-Gateway-Explain`). */
const told = ({ explained }: UpstreamRequest, usage: Usage, cost: Cost): Usage =>
  explained ? extend(usage, cost) : usage

/** The events for the client; the usage record is written when the stream ends. */
function eventsOf(upstream: UpstreamRequest, request: ChatRequest, opened: ChatStream): EventStream<ChunkChoice[]> {
  const { watch } = upstream
  const withUsage = request.stream_options?.include_usage === true
  const text = chunkText(opened.head, withUsage)
  const meter = streamMeter(request, opened)
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
      await close(upstream, 'client_abort', meter.used(upstream.options.drainMs > 0 && (await drain())))
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
      const request = normalise(body)
      call.log({ stream: request.stream === true })
      const upstream = await upstreamRequest(options, caller, call, needOf(request))
      /** The request with the target's model. */
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
