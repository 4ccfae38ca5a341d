import type { RequestLog } from '@turnpike/http'
import * as v from 'valibot'
import { EVENTS_KEPT } from '../conventions.js'

const text = v.optional(v.string())
const number = v.optional(v.number())

/** The event of a finished request: these fields of its log record, and never a body or a key. */
export const RequestEvent = v.object({
  /** The value of the answer's X-Request-ID. */
  request_id: v.string(),
  /** When it ended. */
  time: v.string(),
  method: v.string(),
  route: v.string(),
  status: v.number(),
  duration_ms: v.number(),
  key_id: text,
  user_id: text,
  /** The project of the usage record; absent where there is none. */
  project_id: text,
  task: text,
  /** The model as the caller named it, cut to 100 characters. */
  requested_model: text,
  /** Who served the request, and with which model. */
  provider: text,
  model: text,
  stream: v.optional(v.boolean()),
  /** The outcome of the upstream call; absent where there is no usage record. */
  outcome: text,
  error_type: text,
  error_code: text,
  /** The field of the request that is wrong, such as `messages[3]`. */
  error_field: text,
  /** Number of upstream calls. */
  attempts: number,
  /** The upstream calls that failed before the answer, such as `google/gemini-2.5-pro: rate_limited 429, openai/gpt-4o: timeout`. */
  failed_calls: text,
  /** When those calls began and ended, in milliseconds from the choice of the provider, and when the one began that answered: `0-120, 121`. */
  calls_ms: text,
  prompt_tokens: number,
  completion_tokens: number,
  /** US dollars; 0 where the price is not known. */
  cost_usd: number,
  /** True where the price is not known. */
  unpriced: v.optional(v.boolean()),
  /** Milliseconds until the first event. */
  first_token_ms: number,
})
export type RequestEvent = v.InferOutput<typeof RequestEvent>

/** Whether a request is one to a model, of which there is an event. */
export const isToModel = ({ route }: RequestLog): boolean => route.startsWith('/v1/') && !route.startsWith('/v1/users')

/** The event of a log record; null where the request is not one to a model. */
export function eventOf(log: RequestLog, now: number): RequestEvent | null {
  if (!isToModel(log)) return null
  // The fields have the types with which they were logged.
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
    project_id: fields.project_id,
    task: fields.task,
    requested_model: fields.requested_model,
    provider: fields.provider,
    model: fields.model,
    stream: fields.stream,
    outcome: fields.outcome,
    error_type: fields.error_type,
    error_code: fields.error_code,
    error_field: fields.error_field,
    attempts: fields.attempts,
    failed_calls: fields.failed_calls,
    calls_ms: fields.calls_ms,
    prompt_tokens: fields.prompt_tokens,
    completion_tokens: fields.completion_tokens,
    cost_usd: fields.cost_usd,
    unpriced: fields.unpriced,
    first_token_ms: fields.first_token_ms,
  }
}

/** Publishes the events of finished requests to subscribers. Events of other processes may be published here as well. */
export interface RequestEvents {
  publish(event: RequestEvent): void
  /** The last events, oldest first. */
  recent(): RequestEvent[]
  /** @returns a function that unsubscribes */
  subscribe(listener: (event: RequestEvent) => void): () => void
}

/** An event, and as the how manyth it came. */
type Numbered = [n: number, event: RequestEvent]

/** The last events, `keep` at most. */
function ring(keep: number) {
  const events: Numbered[] = []
  /** Position of the oldest event once there are as many. */
  let oldest = 0
  return {
    add(event: Numbered): void {
      if (events.length < keep) events.push(event)
      else if (keep > 0) {
        events[oldest] = event
        oldest = (oldest + 1) % keep
      }
    },
    all: (): Numbered[] => [...events.slice(oldest), ...events.slice(0, oldest)],
  }
}

/**
 * The events of this process, with the last ones. Of requests without a user, such as those with wrong keys, a tenth as many are kept besides, so that
 * they displace no others.
 * @param options.keep how many are kept; default 1,000
 * @example const gateway = createGateway({ router, kv, events: requestEvents({ keep: 100 }) })
 */
export function requestEvents({ keep = EVENTS_KEPT }: { keep?: number } = {}): RequestEvents {
  const ofUsers = ring(keep)
  const ofNobody = ring(Math.ceil(keep / 10))
  let count = 0
  const listeners = new Set<(event: RequestEvent) => void>()
  return {
    publish(event) {
      const { add } = event.user_id === undefined ? ofNobody : ofUsers
      add([count++, event])
      for (const listener of listeners) listener(event)
    },
    recent: () => [...ofUsers.all(), ...ofNobody.all()].toSorted(([a], [b]) => a - b).map(([, event]) => event),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
