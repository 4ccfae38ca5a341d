import type { Commit, Key } from '../kv/kv.js'
import { bucketOf } from './histogram.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** What totals are kept of. A model is `provider/model`; `all` has one total, of id `''`. */
export type TotalOf = 'all' | 'user' | 'key' | 'session' | 'provider' | 'model'

/** Sums over records; what was used at a price that is not known adds nothing to the cost. */
export type UsageTotals = {
  requests: number
  /** Of these, how many at a price that is not known. */
  unpriced: number
  prompt_tokens: number
  completion_tokens: number
  tokens: number
  /** Exact up to $9,007,199, and the nearest number beyond. */
  cost_nano_usd: number
}

/** Fields of a counter. */
export type Fields = Record<string, number>

/** A cost is kept in two fields, thousandths of a dollar and the rest, because safe integers of nano-dollars end at $9,007,199. */
const MILLI = 1_000_000

/** Adds to a field. */
export const add = (fields: Fields, name: string, amount: number): void => {
  if (amount !== 0) fields[name] = (fields[name] ?? 0) + amount
}

/** Adds what a record counts for. */
export function addRecord(fields: Fields, { prompt_tokens, completion_tokens, cost_nano_usd }: UsageRecord): void {
  add(fields, 'requests', 1)
  add(fields, 'prompt_tokens', prompt_tokens)
  add(fields, 'completion_tokens', completion_tokens)
  if (cost_nano_usd === null) return add(fields, 'unpriced', 1)
  const rest = cost_nano_usd % MILLI
  add(fields, 'cost_milli_usd', (cost_nano_usd - rest) / MILLI)
  add(fields, 'cost_rest', rest)
}

/** Adds how a call of an upstream went. */
function addConduct(fields: Fields, { outcome, latency_ms, first_token_ms }: UsageRecord): void {
  add(fields, `outcome_${outcome}`, 1)
  // What a client cut short says nothing of how long an answer takes.
  if (outcome !== 'complete') return
  add(fields, `ms_${bucketOf(latency_ms)}`, 1)
  add(fields, 'ms', Math.round(latency_ms))
  if (first_token_ms === null) return
  add(fields, `first_${bucketOf(first_token_ms)}`, 1)
  add(fields, 'first', Math.round(first_token_ms))
}

/** The totals among the fields of a counter. */
export function totalsOf(fields: Fields | undefined): UsageTotals {
  const { requests = 0, unpriced = 0, prompt_tokens = 0, completion_tokens = 0 } = fields ?? {}
  const { cost_milli_usd = 0, cost_rest = 0 } = fields ?? {}
  const tokens = prompt_tokens + completion_tokens
  return {
    requests,
    unpriced,
    prompt_tokens,
    completion_tokens,
    tokens,
    cost_nano_usd: cost_milli_usd * MILLI + cost_rest,
  }
}

/** Longest model id that is told apart from others: it is the caller's own text, and keys have a bound. */
const MODEL_LENGTH = 200

/** The id of a model among totals. */
const modelOf = ({ provider, model }: { provider: string; model: string }): string =>
  `${provider}/${model.slice(0, MODEL_LENGTH)}`

/** The hour of a timestamp, in a form that is ordered as time is. */
export const hourOf = (timestamp: string): string => `${timestamp.slice(0, 10)}-${timestamp.slice(11, 13)}`

export const totalKey = (of: TotalOf, id: string): Key => (of === 'all' ? ['usage-total', of] : ['usage-total', of, id])
export const hourKey = (of: TotalOf, id: string, hour: string): Key => ['usage-hour', of, id, hour]

/** What is to be added to counters, gathered so that each is named once. */
export class Sums {
  readonly #counters = new Map<string, { key: Key; add: Fields }>()

  /** The fields to add to a counter. */
  of(key: Key): Fields {
    const name = key.join('\0')
    let found = this.#counters.get(name)
    if (!found) this.#counters.set(name, (found = { key, add: {} }))
    return found.add
  }

  all(): NonNullable<Commit['sum']> {
    return [...this.#counters.values()]
  }
}

/** Adds what records and failed calls count for. */
export function addUsage(sums: Sums, records: UsageRecord[], failed: FailedCall[]): void {
  for (const record of records) {
    const { user_id, key_id, session_id, provider } = record
    const hour = hourOf(record.timestamp)
    addRecord(sums.of(totalKey('all', '')), record)
    addRecord(sums.of(totalKey('user', user_id)), record)
    addRecord(sums.of(hourKey('user', user_id, hour)), record)
    if (key_id !== '') {
      addRecord(sums.of(totalKey('key', key_id)), record)
      addRecord(sums.of(hourKey('key', key_id, hour)), record)
    }
    if (record.in_session) addRecord(sums.of(totalKey('session', session_id)), record)
    addRecord(sums.of(hourKey('model', modelOf(record), hour)), record)
    for (const key of [totalKey('provider', provider), hourKey('provider', provider, hour)]) {
      addRecord(sums.of(key), record)
      addConduct(sums.of(key), record)
    }
  }
  for (const { provider, kind, timestamp } of failed)
    for (const key of [totalKey('provider', provider), hourKey('provider', provider, hourOf(timestamp))])
      add(sums.of(key), `failed_${kind}`, 1)
}
