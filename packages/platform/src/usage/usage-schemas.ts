/** What was used. @module */
import * as v from 'valibot'
import { count, id, nullableText, time } from '../schemas.js'

const usage = {
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cost_usd: v.number(),
}

/** Sums of the caller's keys, and of each. */
export const KeysUsage = v.object({
  ...usage,
  /** Newest first. */
  keys: v.array(v.object({ id, name: v.string(), ...usage })),
})

/** What usage is told apart by. */
export const UsageBy = v.picklist(['model', 'key', 'session', 'conversation', 'task', 'project'])
export type UsageBy = v.InferOutput<typeof UsageBy>

/** Sums side by side: the first of each is of the first hour. */
const usageHours = {
  requests: v.array(count),
  total_tokens: v.array(count),
  cost_usd: v.array(v.number()),
}
/** Requests whose price is not known. */
const unpriced = count

/** What a user has used in a period. */
export const UsageReport = v.object({
  by: UsageBy,
  /** The start of the first hour. */
  from: time,
  /** The end of the last hour. */
  to: time,
  total: v.object({ ...usage, unpriced }),
  /** The hours in which something was used, oldest first. */
  hours: v.object({ time: v.array(time), ...usageHours }),
  /** The dearest first. They come to less than the total where requests have no key, or no session, conversation, task or project. */
  rows: v.array(
    v.object({
      /** Of models: `provider/model`. */
      id: v.string(),
      /** Null where there is none, or it was deleted. */
      name: nullableText,
      /** Of tasks and conversations; null of deleted ones. */
      project_id: v.optional(v.nullable(id)),
      ...usage,
      unpriced,
      /** In the same hours; of the first rows only. */
      hours: v.optional(v.object(usageHours)),
    }),
  ),
  /** How many further rows there are. */
  omitted: count,
})

/** What the gateway requests of a project have used. */
export const Spend = v.object(usage)

/** What the gateway requests of a task have used, in all, up to each revision since the one before, and since the last. */
export const TaskSpend = v.object({
  ...usage,
  /** Newest first. */
  revisions: v.array(v.object({ id, ...usage })),
  since: v.object(usage),
})
