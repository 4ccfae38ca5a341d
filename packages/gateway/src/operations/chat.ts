import type { ChatChunk, ChatCompletionRequest as ChatRequest, Outcome, Router, UsageLedger } from '@turnpike/core'
import { ChatCompletion, ChatCompletionRequest, isUuid, UpstreamError } from '@turnpike/core'
import type { Call } from '@turnpike/http'
import { operation, sse } from '@turnpike/http'
import type { Caller } from '../caller.js'
import type { Metered } from '../meter.js'
import { meterAnswer, streamMeter } from '../meter.js'
import type { UpstreamWatches } from '../upstream-watch.js'

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

const withoutNulls = <T extends object>(given: T): T =>
  Object.values(given).includes(null)
    ? // A message's null content is what every family takes for none.
      (Object.fromEntries(Object.entries(given).filter(([key, value]) => value !== null || key === 'content')) as T)
    : given

/** The request with `null` as what it means, absent: in itself, its messages and its tools, but not within their JSON Schemas. */
function normalise(request: ChatRequest): ChatRequest {
  const { tools, ...rest } = withoutNulls(request)
  const tidy = (tool: NonNullable<typeof tools>[number]) =>
    tool.type === 'function' ? { ...tool, function: withoutNulls(tool.function) } : tool
  return { ...rest, messages: request.messages.map(withoutNulls), ...(tools && { tools: tools.map(tidy) }) }
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
      const asked = normalise(body)
      const [target] = await router.candidates({ capability: 'chat', request: asked })
      const { provider, model } = target!
      const request = { ...asked, model }
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
      /** What went wrong, told by whoever stopped the call rather than by the connection that broke of it. */
      const reasonOf = (error: unknown): unknown => watch.stop()?.error ?? error

      if (!request.stream)
        try {
          const answer = await watch.within(firstEventMs, provider.chat!.complete(request, watch))
          const metered = meterAnswer(request, answer)
          await book(metered, 'complete')
          return { ...answer, usage: metered.usage }
        } catch (error) {
          throw reasonOf(error)
        } finally {
          await watch.end()
        }

      let chunks: AsyncIterable<ChatChunk[]>
      try {
        chunks = await watch.within(firstEventMs, provider.chat!.stream(request, watch))
      } catch (error) {
        const reason = reasonOf(error)
        await watch.end()
        throw reason
      }

      return sse(
        (async function* () {
          const meter = streamMeter(request)
          const iterator = chunks[Symbol.asyncIterator]()
          // What holds if the client stops reading, which returns this generator from a `yield`.
          let outcome: Outcome = 'client_abort'
          try {
            for (;;) {
              const { done, value } = await watch.within(betweenEventsMs, iterator.next())
              if (done) break
              const batch = meter.pass(value)
              if (batch.length > 0) yield batch
            }
            yield meter.last()
            outcome = 'complete'
          } catch (error) {
            outcome = watch.stop()?.outcome ?? outcomeOf(error)
            throw reasonOf(error)
          } finally {
            if (outcome !== 'complete') watch.abort()
            await watch.end(book(meter.used(outcome === 'complete'), outcome))
          }
        })(),
      )
    },
  })
}
