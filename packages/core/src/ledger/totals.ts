import type { Commit, Key } from '../kv/kv.js'
import { encodeKey } from '../kv/kv.js'
import { bucketOf } from './histogram.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** What sums over all time are kept of; `all` has one, of id `''`. */
export type TotalOf = 'all' | 'user' | 'key' | 'session' | 'provider'

/** What sums per hour are kept of. The id of a model is `provider/model`, of which 200 characters count. */
export type HourOf = 'user' | 'key' | 'provider' | 'model'

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

const MILLI = 1_000_000

/** Adds to a field. */
export const add = (fields: Fields, name: string, amount: number): void => {
  if (amount !== 0) fields[name] = (fields[name] ?? 0) + amount
}

/** Adds nano-dollars: thousandths of a dollar in one field and the rest in another, because safe integers of nano-dollars end at $9,007,199. */
export function addNano(fields: Fields, name: string, nano: number): void {
  const rest = nano % MILLI
  add(fields, `${name}_milli_usd`, (nano - rest) / MILLI)
  add(fields, `${name}_rest`, rest)
}

/** The nano-dollars of {@link addNano}: exact up to $9,007,199, and the nearest number beyond. */
export const nanoOf = (fields: Fields, name: string): number =>
  (fields[`${name}_milli_usd`] ?? 0) * MILLI + (fields[`${name}_rest`] ?? 0)

type Tokens = Pick<UsageRecord, 'prompt_tokens' | 'completion_tokens'>

/** Most tokens of one record: what an upstream reports shall never make a sum too large, after which nothing could be added to it. */
const MAX_TOKENS = 1e9

const isBelieved = (count: number): boolean => Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS

/** Whether an answer can have used as many tokens. */
export const areBelieved = ({ prompt_tokens, completion_tokens }: Tokens): boolean =>
  isBelieved(prompt_tokens) && isBelieved(completion_tokens)

/** Adds what a record counts for. */
function addRecord(fields: Fields, record: UsageRecord): void {
  const { prompt_tokens, completion_tokens, cost_nano_usd } = record
  if (!areBelieved(record)) throw new RangeError(`${prompt_tokens} and ${completion_tokens} tokens are not believed`)
  add(fields, 'requests', 1)
  add(fields, 'prompt_tokens', prompt_tokens)
  add(fields, 'completion_tokens', completion_tokens)
  if (cost_nano_usd === null) add(fields, 'unpriced', 1)
  else addNano(fields, 'cost', cost_nano_usd)
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
export function totalsOf(fields: Fields = {}): UsageTotals {
  const { requests = 0, unpriced = 0, prompt_tokens = 0, completion_tokens = 0 } = fields
  const tokens = prompt_tokens + completion_tokens
  return { requests, unpriced, prompt_tokens, completion_tokens, tokens, cost_nano_usd: nanoOf(fields, 'cost') }
}

/** The hour of a timestamp, in a form that is ordered as time is. */
export const hourOf = (timestamp: string): string => `${timestamp.slice(0, 10)}-${timestamp.slice(11, 13)}`

/** Longest id of a model that is told apart from others: it may be the caller's own text, and keys have a bound. */
const MODEL_LENGTH = 200

export const totalKey = (of: TotalOf, id: string): Key => (of === 'all' ? ['usage-total', of] : ['usage-total', of, id])
export const hourKey = (of: HourOf, id: string, hour: string): Key => [
  'usage-hour',
  of,
  of === 'model' ? id.slice(0, MODEL_LENGTH) : id,
  hour,
]

/** What is to be added to counters, gathered so that each is named once. */
export class Sums {
  readonly #counters = new Map<string, { key: Key; add: Fields }>()

  /** The fields to add to a counter. @throws TypeError where the key cannot be stored */
  of(key: Key): Fields {
    const name = encodeKey(key)
    let found = this.#counters.get(name)
    if (!found) this.#counters.set(name, (found = { key, add: {} }))
    return found.add
  }

  all(): NonNullable<Commit['sum']> {
    return [...this.#counters.values()]
  }
}

/** Records that count for the same totals, and what they add. */
interface Alike {
  first: UsageRecord
  hour: string
  usage: Fields
  conduct: Fields
}

/** Whether two records count for the same totals, but for the hour. */
const isAlike = (a: UsageRecord, b: UsageRecord): boolean =>
  a.key_id === b.key_id &&
  a.user_id === b.user_id &&
  a.model === b.model &&
  a.provider === b.provider &&
  a.in_session === b.in_session &&
  (!a.in_session || a.session_id === b.session_id)

/** Records that count for the same totals: in a busy minute, most do. @throws RangeError where a record cannot be stored */
function alike(records: UsageRecord[]): Alike[] {
  const groups: Alike[] = []
  for (const record of records) {
    const hour = hourOf(record.timestamp)
    let group = groups.find((one) => one.hour === hour && isAlike(one.first, record))
    if (!group) groups.push((group = { first: record, hour, usage: {}, conduct: {} }))
    addRecord(group.usage, record)
    addConduct(group.conduct, record)
  }
  return groups
}

/** Adds what records and failed calls count for. @throws TypeError or RangeError where a record cannot be stored */
export function addUsage(sums: Sums, records: UsageRecord[], failed: FailedCall[]): void {
  for (const { first, hour, usage, conduct } of alike(records)) {
    const { user_id, key_id, session_id, in_session, provider, model } = first
    const count = (key: Key, more?: Fields): void => {
      const fields = sums.of(key)
      for (const name in usage) add(fields, name, usage[name]!)
      if (more) for (const name in more) add(fields, name, more[name]!)
    }
    count(totalKey('all', ''))
    count(totalKey('user', user_id))
    count(hourKey('user', user_id, hour))
    if (key_id !== '') {
      count(totalKey('key', key_id))
      count(hourKey('key', key_id, hour))
    }
    if (in_session) count(totalKey('session', session_id))
    count(hourKey('model', `${provider}/${model}`, hour))
    count(totalKey('provider', provider), conduct)
    count(hourKey('provider', provider, hour), conduct)
  }
  for (const { provider, kind, timestamp } of failed)
    for (const key of [totalKey('provider', provider), hourKey('provider', provider, hourOf(timestamp))])
      add(sums.of(key), `failed_${kind}`, 1)
}
