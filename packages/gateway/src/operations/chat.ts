import type {
  ChatCompletionRequest as ChatRequest,
  ChatStream,
  ChunkChoice,
  Outcome,
  Router,
  ToolDefinition,
  UpstreamCall,
  UsageLedger,
} from '@turnpike/core'
import { ChatCompletion, ChatCompletionRequest, extend, isUuid, UpstreamError, withoutNulls } from '@turnpike/core'
import type { Call, EventStream } from '@turnpike/http'
import { operation, sse } from '@turnpike/http'
import type { Caller } from '../caller.js'
import { chunkText } from '../chunk-text.js'
import { complete, stream } from '../fan-out.js'
import { modernise } from '../legacy-functions.js'
import type { Metered } from '../meter.js'
import { meterAnswer, streamMeter } from '../meter.js'
import type { UpstreamWatches } from '../upstream-watch.js'
import { warnings } from '../warnings.js'

export interface ChatOptions {
  router: Router
  ledger: UsageLedger
  watches: UpstreamWatches
  /** Milliseconds until the upstream's first event or whole answer. */
  firstEventMs: number
  /** Milliseconds between two events. */
  betweenEventsMs: number
  now: () => number
}

/** The request with `null` as what it means, absent: in itself, its messages and its tools, but not within their JSON Schemas; and without deprecated fields. */
function normalise(request: ChatRequest): ChatRequest {
  const tidy = (tool: ToolDefinition): ToolDefinition =>
    tool.type === 'function' ? extend(tool, { function: withoutNulls(tool.function) }) : tool
  const normal = modernise(extend(withoutNulls(request), { messages: request.messages.map(withoutNulls) }))
  if (normal.tools) normal.tools = normal.tools.map(tidy)
  return normal
}

/** A tag header that is fit to be stored: a UUID, else ''. */
const tag = (call: Call, name: string): string => {
  const value = call.header(name)
  return value !== undefined && isUuid(value) ? value.toLowerCase() : ''
}

function outcomeOf(error: unknown): Outcome {
  return UpstreamError.is(error) && error.failure.kind === 'truncated' ? 'truncated' : 'upstream_error'
}

/** POST /v1/chat/completions: one upstream call, whole or streamed, booked before the caller is told that it is complete. */
export function chatCompletions(options: ChatOptions) {
  const { router, ledger, watches, firstEventMs, betweenEventsMs, now } = options

  return operation<Caller, never, never, typeof ChatCompletionRequest>({
    id: 'chat.completions',
    summary: 'Answers a conversation, at once or as a stream.',
    access: 'key',
    body: ChatCompletionRequest,
    output: ChatCompletion,
    async run(caller, { body }, call) {
      const { key, user } = caller!
      const request = normalise(body)
      const [target] = await router.candidates({ capability: 'chat', request })
      const { provider, model } = target!
      request.model = model
      await ledger.ready()
      call.log({ key_id: key.id, user_id: user.id, provider: provider.id, model, stream: request.stream === true })

      const book = async ({ usage, accuracy }: Metered, outcome: Outcome): Promise<void> => {
        const { prompt_tokens, completion_tokens } = usage
        call.log({ outcome, prompt_tokens, completion_tokens })
        await ledger.append({
          request_id: call.requestId,
          user_id: user.id,
          key_id: key.id,
          session_id: tag(call, 'x-session-id'),
          conversation_id: tag(call, 'x-conversation-id'),
          task_id: tag(call, 'x-task-id'),
          project_id: tag(call, 'x-project-id'),
          model,
          provider: provider.id,
          prompt_tokens,
          completion_tokens,
          tokens: prompt_tokens + completion_tokens,
          accuracy,
          outcome,
          timestamp: new Date(now()).toISOString(),
        })
      }

      const watch = watches.watch(call)
      const upstream: UpstreamCall = {
        signal: watch.signal,
        onNotes: (notes) => call.setHeader('x-gateway-warnings', warnings(notes)),
      }
      /** What went wrong, told by whoever stopped the call rather than by the connection that broke of it. */
      const reasonOf = (error: unknown): unknown => watch.stop()?.error ?? error

      if (!request.stream)
        try {
          watch.expect(firstEventMs)
          const answer = await complete(provider.chat!, request, upstream)
          watch.relax()
          const metered = meterAnswer(request, answer)
          await book(metered, 'complete')
          return extend(answer, { usage: metered.usage })
        } catch (error) {
          throw reasonOf(error)
        } finally {
          await watch.end()
        }

      let opened: ChatStream
      try {
        watch.expect(firstEventMs)
        opened = await stream(provider.chat!, request, upstream)
        watch.relax()
      } catch (error) {
        const reason = reasonOf(error)
        await watch.end()
        throw reason
      }

      const withUsage = request.stream_options?.include_usage === true
      const text = chunkText(opened.head, withUsage)
      const meter = streamMeter(request, opened)
      const batches = opened.batches[Symbol.asyncIterator]()
      const close = (outcome: Outcome): Promise<void> => {
        if (outcome !== 'complete') watch.abort()
        return watch.end(book(meter.used(outcome === 'complete'), outcome))
      }
      const events: EventStream<ChunkChoice[]> = {
        next() {
          watch.expect(betweenEventsMs)
          return batches.next()
        },
        encode(batch) {
          watch.relax()
          meter.count(batch)
          return text.choices(batch)
        },
        async complete() {
          await close('complete')
          return withUsage ? text.usage(meter.used(true).usage) : ''
        },
        async fail(error) {
          const reason = reasonOf(error)
          await close(watch.stop()?.outcome ?? outcomeOf(error))
          return reason
        },
        leave: () => close('client_abort'),
      }
      return sse(events)
    },
  })
}
