import type { Rates, Units } from '../prices/price.js'
import type { Considered, Task } from '../provider.js'

/** How a request to an upstream ended; every stream ends in exactly one of these. */
export type Outcome = 'complete' | 'upstream_error' | 'truncated' | 'client_abort' | 'idle_timeout' | 'server_shutdown'

/** One request's use of a model, and what it cost at the price in force when it was made. */
export type UsageRecord = {
  /** The request id that the caller was given. */
  request_id: string
  user_id: string
  /** '' where the user was known otherwise than by a gateway key. */
  key_id: string
  /** The tag headers of the request; '' where it had none. */
  session_id: string
  conversation_id: string
  task_id: string
  project_id: string
  /** Whether it counts for the totals of that session: it was there, live, and this user's. */
  in_session: boolean
  task: Task
  model: string
  provider: string
  /** Calls of upstreams that it took. */
  attempts: number
  /** Who was compared, where price decided. */
  considered?: Considered[]
  prompt_tokens: number
  completion_tokens: number
  /** prompt_tokens + completion_tokens. */
  tokens: number
  /** `reported` by the upstream, `partial` where it ended before its report was whole, or `estimated` by us. */
  accuracy: 'reported' | 'partial' | 'estimated'
  /** The tier of service, where it was not the standard one; its price is not known. */
  service_tier?: string
  /** What was used, by class. */
  units: Units
  /** US dollars for a million units of each class, as charged; empty where the price is not known. */
  rates: Rates
  /** Version of the prices that these are from. */
  catalogue: string
  /** Billionths of a US dollar; null where the price is not known. */
  cost_nano_usd: number | null
  outcome: Outcome
  /** Milliseconds from the parsed request to its end. */
  latency_ms: number
  /** Milliseconds until the upstream's answer began; null where it came whole. */
  first_token_ms: number | null
  timestamp: string
}

/** A call of an upstream that failed before it could cost anything, or of which it is not known; it leaves no record, only a count. */
export interface FailedCall {
  provider: string
  /** Such as `timeout`, `rate_limited` or `refused`. */
  kind: string
  timestamp: string
}
