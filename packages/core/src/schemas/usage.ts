import * as v from 'valibot'
import { count } from './integers.js'

/** A usage record. */
export const UsageEntry = v.object({
  session_id: v.string(),
  model: v.string(),
  provider: v.string(),
  tokens: count,
  prompt_tokens: count,
  completion_tokens: count,
  /** 0 with `priced: false` if the price is unknown. */
  cost_usd: v.number(),
  priced: v.boolean(),
  timestamp: v.pipe(v.string(), v.isoTimestamp()),
  request_id: v.string(),
  key_id: v.string(),
  /** The end user of the key; absent where none was told. */
  end_user: v.optional(v.string()),
  conversation_id: v.string(),
  task_id: v.string(),
  project_id: v.string(),
  task: v.string(),
  outcome: v.string(),
  accuracy: v.picklist(['reported', 'partial', 'estimated']),
  /** Absent for the standard tier. */
  service_tier: v.optional(v.string()),
  /** Units used, by class. */
  units: v.record(v.string(), v.number()),
  /** The charged rates in US dollars per million units, by class; `catalogue` is the version of the price table. */
  rates: v.record(v.string(), v.number()),
  catalogue: v.string(),
  attempts: count,
  latency_ms: v.number(),
  first_token_ms: v.nullable(v.number()),
})
export type UsageEntry = v.InferOutput<typeof UsageEntry>

/** What a user has used, in sums. */
export const UserUsage = v.object({
  user_id: v.string(),
  total_tokens: count,
  total_cost: v.number(),
  /** Newest first. */
  records: v.array(UsageEntry),
  /** The `after` of the next page; only if a page was requested and another one follows. */
  next: v.optional(v.string()),
})
export type UserUsage = v.InferOutput<typeof UserUsage>
