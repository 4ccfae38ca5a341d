import type { Target, UnitClass, Units, Usage, UsageRecord } from '@turnpike/core'
import { cost, ratesFor } from '@turnpike/core'
import { completionClasses, isUuid, promptClasses } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'

/** What a request used. */
export interface Used {
  usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens'>
  units: Units
  accuracy: UsageRecord['accuracy']
  /** The tier of service that the upstream says it gave; absent = the standard one, which is what prices are of. */
  tier?: string | undefined
}

/** A tag header that is fit to be stored: a UUID, else ''. */
export const tag = (call: Call, name: string): string => {
  const value = call.header(name)
  return value !== undefined && isUuid(value) ? value.toLowerCase() : ''
}

const sum = (units: Units, classes: readonly UnitClass[]): number =>
  Math.ceil(classes.reduce((all, name) => all + (units[name] ?? 0), 0))

/** Units that nobody has counted. */
export const estimated = (units: Units): Used => ({
  usage: { prompt_tokens: sum(units, promptClasses), completion_tokens: sum(units, completionClasses) },
  units,
  accuracy: 'estimated',
})

/** What is made of a request. */
const madeClasses = new Set<string>([...completionClasses, 'images'])

/** What of expected units is used as soon as a request is sent. */
export const sentOf = (units: Units): Units =>
  Object.fromEntries(Object.entries(units).filter(([name]) => !madeClasses.has(name)))

/** What is known of a request before it is sent. */
export type RecordHead = Pick<
  UsageRecord,
  | 'request_id'
  | 'user_id'
  | 'key_id'
  | 'session_id'
  | 'conversation_id'
  | 'task_id'
  | 'project_id'
  | 'in_session'
  | 'task'
  | 'considered'
>

/** How a request went. */
export type RecordEnd = Pick<UsageRecord, 'attempts' | 'outcome' | 'latency_ms' | 'first_token_ms' | 'timestamp'>

/** A usage record, charged at the price that its target had when the request came. */
export function recordOf(
  head: RecordHead,
  { provider, model, price, catalogue }: Target,
  { usage: { prompt_tokens, completion_tokens }, units, accuracy, tier }: Used,
  { attempts, outcome, latency_ms, first_token_ms, timestamp }: RecordEnd,
): UsageRecord {
  const known = tier === undefined ? price : undefined
  const rates = known ? ratesFor(known, units) : {}
  const { request_id, user_id, key_id, session_id, conversation_id, task_id, project_id, in_session, task } = head
  const { considered } = head
  return {
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
    ...(considered && { considered }),
    prompt_tokens,
    completion_tokens,
    tokens: prompt_tokens + completion_tokens,
    accuracy,
    ...(tier !== undefined && { service_tier: tier }),
    units,
    rates,
    catalogue,
    cost_nano_usd: known ? cost(units, rates) : null,
    outcome,
    latency_ms,
    first_token_ms,
    timestamp,
  }
}
