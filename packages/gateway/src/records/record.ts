import type { Target, UnitClass, Units, Usage, UsageRecord } from '@turnpike/core'
import { cost } from '@turnpike/core'
import type { Tagged } from '@turnpike/core/internal'
import { isObject, isUuid } from '@turnpike/core/helpers'
import { believable, completionClasses, promptClasses } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'
import { ratesOf } from '../limits/service-tier.js'

/** What providers tell of a cost in their usage: see {@link toldCost}. */
interface Told {
  cost?: unknown
  cost_in_usd_ticks?: unknown
  cost_details?: unknown
  is_byok?: unknown
}

/** The usage of a request. */
export interface Used {
  usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens'> & Told
  units: Units
  accuracy: UsageRecord['accuracy']
  /** The service tier that served the request; absent = the standard one. */
  tier?: string | undefined
  /** How many calls it is of; absent = one. */
  calls?: number | undefined
  /** What it is known to cost at least, in nano-US-dollars, besides what its usage tells; absent = nothing. */
  fee?: number | undefined
}

/** The value of a tag header if it is a UUID, else ''. */
export const tag = (call: Call, name: string): string => {
  const value = call.header(name)
  return value !== undefined && isUuid(value) ? value.toLowerCase() : ''
}

const sum = (units: Units, classes: readonly UnitClass[]): number =>
  Math.ceil(classes.reduce((all, name) => all + (units[name] ?? 0), 0))

/** Usage that is estimated. */
export const estimated = (units: Units, tier?: string, calls?: number): Used => ({
  usage: { prompt_tokens: sum(units, promptClasses), completion_tokens: sum(units, completionClasses) },
  units,
  accuracy: 'estimated',
  tier,
  calls,
})

/** The classes of units that an answer produces, as opposed to those that a request sends. */
const madeClasses = new Set<string>([...completionClasses, 'images'])

const partOf = (units: Units, isMade: boolean): Units =>
  Object.fromEntries(Object.entries(units).filter(([name]) => madeClasses.has(name) === isMade))

/** The part of units that is used as soon as a request is sent. */
export const sentOf = (units: Units): Units => partOf(units, false)

/** What of an answer is charged of which a part was made that could not be read: at least as many tokens as were expected of it. */
export function atLeast(expected: Units, used: Used): Used {
  const completion_tokens = sum(expected, completionClasses)
  if (used.usage.completion_tokens >= completion_tokens) return used
  const units = { ...sentOf(used.units), ...partOf(expected, true) }
  return { ...used, usage: { ...used.usage, completion_tokens }, units }
}

/** The units of two calls. */
export function sumUnits(one: Units, other: Units): Units {
  const sum = { ...one }
  for (const [name, count] of Object.entries(other) as [UnitClass, number][]) sum[name] = (sum[name] ?? 0) + count
  return sum
}

/** The fields of a record that are known before the request is sent. */
export type RecordHead = Tagged & Pick<UsageRecord, 'request_id' | 'key_id' | 'end_user' | 'task' | 'considered'>

/** The fields of a record that are known when the request has ended. */
export type RecordEnd = Pick<UsageRecord, 'attempts' | 'outcome' | 'latency_ms' | 'first_token_ms' | 'timestamp'>

/** An amount in nano-dollars; 0 for what is none. */
const nanoOf = (usd: unknown): number => (typeof usd === 'number' && usd > 0 ? Math.round(usd * 1e9) : 0)

/**
 * What a provider tells that an answer cost, in nano-dollars, which may be more than its tokens: OpenRouter bills pages of PDF that it reads, Perplexity
 * each request, and all of them searches. 0 where none of them tells it.
 * - OpenRouter ("Usage accounting"): `cost` in dollars beside `cost_details`; with a key of one's own it is its fee alone.
 * - xAI ("Cost Tracking"): `cost_in_usd_ticks`, of which ten are a nano-dollar.
 * - Perplexity (its reference of chat completions): `cost.total_cost` in dollars.
 */
function toldCost({ cost: told, cost_in_usd_ticks: ticks, cost_details: details, is_byok }: Told): number {
  if (typeof ticks === 'number') return nanoOf(ticks / 1e10)
  if (isObject(told)) return nanoOf(told['total_cost'])
  if (!isObject(details)) return 0
  return nanoOf(told) + (is_byok === true ? nanoOf(details['upstream_inference_cost']) : 0)
}

/** A usage record that the ledger believes, charged at the price that its target had when the request was admitted. */
export function recordOf(
  head: RecordHead,
  target: Target,
  { usage, units, accuracy, tier, calls, fee = 0 }: Used,
  { attempts, outcome, latency_ms, first_token_ms, timestamp }: RecordEnd,
): UsageRecord {
  const { provider, model, price, catalogue } = target
  const rates = ratesOf(target, units, tier, calls)
  const charged = price ? cost(units, rates) : null
  const told = charged === null ? 0 : Math.max(toldCost(usage), fee)
  const { request_id, user_id, key_id, session_id, conversation_id, task_id, project_id, in_session, task } = head
  const { considered, in_conversation, in_task, in_project } = head
  const { prompt_tokens, completion_tokens } = usage
  const record: UsageRecord = {
    request_id,
    user_id,
    key_id,
    session_id,
    conversation_id,
    task_id,
    project_id,
    in_session,
    task,
    model,
    provider: provider.id,
    attempts,
    prompt_tokens,
    completion_tokens,
    tokens: prompt_tokens + completion_tokens,
    accuracy,
    units,
    rates,
    catalogue,
    cost_nano_usd: charged === null ? null : Math.max(charged, told),
    outcome,
    latency_ms,
    first_token_ms,
    timestamp,
  }
  // Spreads within the literal would cost more than the rest of it (docs/decisions/008).
  if (considered) record.considered = considered
  if (tier !== undefined) record.service_tier = tier
  if (charged !== null && told > charged) record.told_cost_nano_usd = told
  if (head.end_user) record.end_user = head.end_user
  if (in_conversation) record.in_conversation = true
  if (in_task) record.in_task = true
  if (in_project) record.in_project = true
  return believable(record)
}
