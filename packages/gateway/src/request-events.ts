import type { RequestLog } from '@turnpike/http'
import * as v from 'valibot'

const text = v.optional(v.string())
const number = v.optional(v.number())

/** What is told of a finished request: no more of its log line than this, and never anything of its body or its key. */
export const RequestEvent = v.object({
  /** The id that the caller was given in X-Request-ID. */
  request_id: v.string(),
  /** When it ended. */
  time: v.string(),
  method: v.string(),
  route: v.string(),
  status: v.number(),
  duration_ms: v.number(),
  key_id: text,
  user_id: text,
  task: text,
  provider: text,
  model: text,
  stream: v.optional(v.boolean()),
  /** How its upstream ended; absent where none was paid. */
  outcome: text,
  error_type: text,
  error_code: text,
  /** Calls of upstreams that it took. */
  attempts: number,
  prompt_tokens: number,
  completion_tokens: number,
  /** US dollars; 0 where the price is not known. */
  cost_usd: number,
  /** Milliseconds until its first event. */
  first_token_ms: number,
})
export type RequestEvent = v.InferOutput<typeof RequestEvent>

/** The event of a log line; null where the request is none to a model. */
export function eventOf(log: RequestLog, now: number): RequestEvent | null {
  if (!log.route.startsWith('/v1/')) return null
  // The fields that there are have the types that whoever logged them gave them.
  const fields = log as unknown as RequestEvent
  return {
    request_id: log.request_id,
    time: new Date(now).toISOString(),
    method: log.method,
    route: log.route,
    status: log.status,
    duration_ms: log.duration_ms,
    key_id: fields.key_id,
    user_id: fields.user_id,
    task: fields.task,
    provider: fields.provider,
    model: fields.model,
    stream: fields.stream,
    outcome: fields.outcome,
    error_type: fields.error_type,
    error_code: fields.error_code,
    attempts: fields.attempts,
    prompt_tokens: fields.prompt_tokens,
    completion_tokens: fields.completion_tokens,
    cost_usd: fields.cost_usd,
    first_token_ms: fields.first_token_ms,
  }
}

/** Where finished requests are told of, and who wants to know. What other processes tell may be published here as well. */
export interface RequestEvents {
  publish(event: RequestEvent): void
  /** The last events, oldest first. */
  recent(): RequestEvent[]
  /** @returns what ends it */
  subscribe(listener: (event: RequestEvent) => void): () => void
}

/** Events of this process, of which the last are kept. @param options.keep how many; default 1,000 */
export function requestEvents({ keep = 1_000 }: { keep?: number } = {}): RequestEvents {
  const ring: RequestEvent[] = []
  /** Where the oldest is, once the ring is full. */
  let oldest = 0
  const listeners = new Set<(event: RequestEvent) => void>()
  return {
    publish(event) {
      if (ring.length < keep) ring.push(event)
      else if (keep > 0) {
        ring[oldest] = event
        oldest = (oldest + 1) % keep
      }
      for (const listener of listeners) listener(event)
    },
    recent: () => [...ring.slice(oldest), ...ring.slice(0, oldest)],
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
