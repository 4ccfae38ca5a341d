import type { Rates, Units } from '../prices/price.js'
import type { Considered, CallKind } from '../router.js'

/** How a request to an upstream ended; each stream has exactly one outcome. `refused` = a guard ended it, or a content filter left nothing of it and a fallback was called. */
export type Outcome =
  'complete' | 'upstream_error' | 'truncated' | 'client_abort' | 'idle_timeout' | 'server_shutdown' | 'refused'

/** The usage of one request, and its cost at the price in force at the time of the request. */
export type UsageRecord = {
  /** The request id that was returned to the caller. */
  request_id: string
  user_id: string
  /** '' if the user was not authenticated by a gateway key. */
  key_id: string
  /** The end user, among those of the first of the keys that were rotated to `key_id`; absent = none was told. */
  end_user?: { key: string; id: string }
  /** The tag headers of the request; '' if absent. */
  session_id: string
  conversation_id: string
  task_id: string
  /** Without that header, the project of the task, else that of the conversation, if they belong to this user. */
  project_id: string
  /** Whether it is added to the totals of that session: the session existed, was live, and belonged to this user. */
  in_session: boolean
  /** Whether it is added to the totals of that conversation, task and project: they existed and belonged to this user. Absent = it is not. */
  in_conversation?: true
  in_task?: true
  in_project?: true
  task: CallKind
  model: string
  provider: string
  /** The number of calls of upstreams. */
  attempts: number
  /** The providers that were compared, if the choice was made by price. */
  considered?: Considered[]
  prompt_tokens: number
  completion_tokens: number
  /** prompt_tokens + completion_tokens. */
  tokens: number
  /** `reported` by the upstream, `partial` if the stream ended before the report was complete, or `estimated` by the gateway. */
  accuracy: 'reported' | 'partial' | 'estimated'
  /** The service tier, if it was not the standard one. Without a price of its own, it is charged at the standard one. */
  service_tier?: string
  /** The used units of each class. */
  units: Units
  /** The charged US dollars per million units of each class; empty if the price is unknown. */
  rates: Rates
  /** The version of the price table that the rates are from. */
  catalogue: string
  /** In nano-US-dollars: that of the units at their rates, or what the provider has told, if that is more; null if the price is unknown. */
  cost_nano_usd: number | null
  /** What the provider has told that it cost, in nano-US-dollars, where that is more than the units cost (OpenRouter's `usage.cost`, xAI's `cost_in_usd_ticks`, Perplexity's `cost.total_cost`), or is known to bill for a refusal. */
  told_cost_nano_usd?: number
  outcome: Outcome
  /** Milliseconds from the parsing of the request to the end of its response. */
  latency_ms: number
  /** Milliseconds until the first part of a streamed answer; null if the answer was not streamed. */
  first_token_ms: number | null
  timestamp: string
}

/** A call of an upstream that failed before it cost anything, as far as is known; it is counted, and has no record. */
export interface FailedCall {
  provider: string
  /** The kind of failure, such as `timeout`, `rate_limited` or `refused`. */
  kind: string
  timestamp: string
}
