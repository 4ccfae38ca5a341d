import { ID_LENGTH } from '../conventions.js'
import type { Commit, Key } from '../kv/kv.js'
import { encodeKey } from '../kv/kv.js'
import { bucketOf } from './histogram.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** The kinds of sums over all time; `all` has a single one, with the id `''`. That of an end user is removed with them. */
export type TotalOf = 'all' | 'user' | 'key' | 'session' | 'conversation' | 'task' | 'project' | 'provider' | 'end_user'

/** The kinds of sums per hour. The id of a model is `provider/model`, cut to 200 characters. */
export type HourOf = 'user' | 'key' | 'provider' | 'model'

/** What the sums per hour of a user are told apart by. The id of a model is that of {@link HourOf}. */
export type PartOf = 'model' | 'session' | 'conversation' | 'task' | 'project'

/** Sums over records; records with an unknown price add nothing to the cost. */
export type UsageTotals = {
  requests: number
  /** The number of requests with an unknown price. */
  unpriced: number
  prompt_tokens: number
  completion_tokens: number
  tokens: number
  /** Exact up to $9,007,199, rounded to the nearest number beyond. */
  cost_nano_usd: number
}

/** The fields of a counter. */
export type Fields = Record<string, number>

const MILLI = 1_000_000

/** Adds to a field; 0 does not create it. */
export const add = (fields: Fields, name: string, amount: number): void => {
  if (amount !== 0) fields[name] = (fields[name] ?? 0) + amount
}

/** Adds nano-dollars, split into thousandths of a dollar and the rest, because a safe integer of nano-dollars is at most $9,007,199. */
export function addNano(fields: Fields, name: string, nano: number): void {
  const rest = nano % MILLI
  add(fields, `${name}_milli_usd`, (nano - rest) / MILLI)
  add(fields, `${name}_rest`, rest)
}

/** The nano-dollars that {@link addNano} added: exact up to $9,007,199, rounded to the nearest number beyond. */
export const nanoOf = (fields: Fields, name: string): number =>
  (fields[`${name}_milli_usd`] ?? 0) * MILLI + (fields[`${name}_rest`] ?? 0)

type Tokens = Pick<UsageRecord, 'prompt_tokens' | 'completion_tokens'>

/** Maximum number of tokens of a record, so that no report of an upstream can use up the sums. */
const MAX_TOKENS = 1e9

/** Maximum cost of a record, a million dollars: a hundred times that of the dearest answer that a request can ask for. */
const MAX_NANO_USD = 1e15

const isBelieved = (count: number, max: number): boolean => Number.isInteger(count) && count >= 0 && count <= max

/** Whether the token counts of an answer are plausible. */
export const areBelieved = ({ prompt_tokens, completion_tokens }: Tokens): boolean =>
  isBelieved(prompt_tokens, MAX_TOKENS) && isBelieved(completion_tokens, MAX_TOKENS)

/** Whether the token counts and the cost of a record are plausible. */
const isPlausible = (record: UsageRecord): boolean =>
  areBelieved(record) && isBelieved(record.cost_nano_usd ?? 0, MAX_NANO_USD)

/** A record whose token counts and cost are the largest plausible ones where they are larger. */
export function believable(record: UsageRecord): UsageRecord {
  if (isPlausible(record)) return record
  const prompt_tokens = Math.min(record.prompt_tokens, MAX_TOKENS)
  const completion_tokens = Math.min(record.completion_tokens, MAX_TOKENS)
  const cost_nano_usd = record.cost_nano_usd === null ? null : Math.min(record.cost_nano_usd, MAX_NANO_USD)
  return { ...record, prompt_tokens, completion_tokens, tokens: prompt_tokens + completion_tokens, cost_nano_usd }
}

/** Adds the tokens and the cost of a record. @throws RangeError if they are not plausible */
function addRecord(fields: Fields, record: UsageRecord): void {
  const { prompt_tokens, completion_tokens, cost_nano_usd } = record
  if (!isPlausible(record))
    throw new RangeError(
      `${prompt_tokens} and ${completion_tokens} tokens for ${cost_nano_usd} nano-dollars are not believed`,
    )
  add(fields, 'requests', 1)
  add(fields, 'prompt_tokens', prompt_tokens)
  add(fields, 'completion_tokens', completion_tokens)
  if (cost_nano_usd === null) add(fields, 'unpriced', 1)
  else addNano(fields, 'cost', cost_nano_usd)
}

/** Adds the outcome and, of a complete answer, the latencies of a call of an upstream. */
function addConduct(fields: Fields, { outcome, latency_ms, first_token_ms }: UsageRecord): void {
  add(fields, `outcome_${outcome}`, 1)
  // The duration of an aborted or failed answer says nothing about the latency of the provider.
  if (outcome !== 'complete') return
  add(fields, `ms_${bucketOf(latency_ms)}`, 1)
  add(fields, 'ms', Math.round(latency_ms))
  if (first_token_ms === null) return
  add(fields, `first_${bucketOf(first_token_ms)}`, 1)
  add(fields, 'first', Math.round(first_token_ms))
}

/** Reads the totals from the fields of a counter. */
export function totalsOf(fields: Fields = {}): UsageTotals {
  const { requests = 0, unpriced = 0, prompt_tokens = 0, completion_tokens = 0 } = fields
  const tokens = prompt_tokens + completion_tokens
  return { requests, unpriced, prompt_tokens, completion_tokens, tokens, cost_nano_usd: nanoOf(fields, 'cost') }
}

/** Adds the fields of a counter to others. */
export function addFields(sum: Fields, fields: Readonly<Fields>): void {
  for (const name in fields) add(sum, name, fields[name]!)
}

/** Adds up the fields of counters. */
export function sumOf(all: Iterable<Readonly<Fields>>): Fields {
  const sum: Fields = {}
  for (const fields of all) addFields(sum, fields)
  return sum
}

/** Characters of an ISO 8601 timestamp until its minutes. */
const HOUR_LENGTH = 13

/** The hour of an ISO 8601 timestamp, such as `2026-01-31-09`; sorts by time. */
export const hourOf = (timestamp: string): string => `${timestamp.slice(0, 10)}-${timestamp.slice(11, HOUR_LENGTH)}`

export const totalKey = (of: TotalOf, id: string): Key =>
  of === 'all' ? ['usage-total', of] : of === 'end_user' ? ['end-user-total', id] : ['usage-total', of, id]
/** The start of an id of a model, which may be any text of the caller: it shares a key with the id of a user, whose letters may take six characters each. */
const cutModel = (id: string): string => {
  const start = id.slice(0, ID_LENGTH)
  return /^\p{ASCII}*$/u.test(start) ? start : start.slice(0, ID_LENGTH / 2)
}
const modelId = ({ provider, model }: UsageRecord): string => cutModel(`${provider}/${model}`)
export const hourKey = (of: HourOf, id: string, hour: string): Key => [
  'usage-hour',
  of,
  of === 'model' ? cutModel(id) : id,
  hour,
]
/** By the hour first: the parts of a user in a period are next to each other. */
export const partKey = (userId: string, of: PartOf, hour: string, id: string): Key => [
  'usage-part',
  userId,
  of,
  hour,
  id,
]

/** Collects additions to counters, so that a commit contains each counter once. */
export class Sums {
  readonly #counters = new Map<string, { key: Key; add: Fields }>()

  /** The fields to add to a counter. @throws TypeError if the key cannot be stored */
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

/** A group of records that are added to the same counters, and the fields that they add. */
interface Alike {
  first: UsageRecord
  usage: Fields
  conduct: Fields
}

/** The id of the entity whose totals a record is added to; '' = none. */
const counted = (isIn: boolean | undefined, id: string): string => (isIn ? id : '')

/** Whether two records are added to the same counters. */
const isAlike = (a: UsageRecord, b: UsageRecord): boolean =>
  a.timestamp.startsWith(b.timestamp.slice(0, HOUR_LENGTH)) &&
  a.key_id === b.key_id &&
  a.user_id === b.user_id &&
  a.end_user?.key === b.end_user?.key &&
  a.end_user?.id === b.end_user?.id &&
  a.model === b.model &&
  a.provider === b.provider &&
  counted(a.in_session, a.session_id) === counted(b.in_session, b.session_id) &&
  counted(a.in_conversation, a.conversation_id) === counted(b.in_conversation, b.conversation_id) &&
  counted(a.in_task, a.task_id) === counted(b.in_task, b.task_id) &&
  counted(a.in_project, a.project_id) === counted(b.in_project, b.project_id)

/** Groups records by the counters that they are added to: under load, most have the same. @throws RangeError if a record cannot be stored */
function alike(records: UsageRecord[]): Alike[] {
  const groups: Alike[] = []
  for (const record of records) {
    let group = groups.find(({ first }) => isAlike(first, record))
    if (!group) groups.push((group = { first: record, usage: {}, conduct: {} }))
    addRecord(group.usage, record)
    addConduct(group.conduct, record)
  }
  return groups
}

/** Takes a record out of its counters. */
export function subtractUsage(sums: Sums, record: UsageRecord): void {
  const added = new Sums()
  addUsage(added, [record], [])
  for (const { key, add: fields } of added.all())
    for (const [name, amount] of Object.entries(fields)) add(sums.of(key), name, -amount)
}

/** Adds records and failed calls to their counters. @throws TypeError or RangeError if a record cannot be stored */
export function addUsage(sums: Sums, records: UsageRecord[], failed: FailedCall[]): void {
  for (const { first, usage, conduct } of alike(records)) {
    const hour = hourOf(first.timestamp)
    const { user_id, key_id, provider } = first
    const { session_id, in_session, conversation_id, in_conversation, task_id, in_task, project_id, in_project } = first
    const count = (key: Key, more?: Fields): void => {
      const fields = sums.of(key)
      addFields(fields, usage)
      if (more) addFields(fields, more)
    }
    const countPart = (of: PartOf, id: string): void => count(partKey(user_id, of, hour, id))
    const countTag = (of: Exclude<PartOf, 'model'>, id: string): void => {
      count(totalKey(of, id))
      countPart(of, id)
    }
    count(totalKey('all', ''))
    count(totalKey('user', user_id))
    count(hourKey('user', user_id, hour))
    if (key_id !== '') {
      count(totalKey('key', key_id))
      count(hourKey('key', key_id, hour))
    }
    if (first.end_user) count(totalKey('end_user', `${first.end_user.key} ${first.end_user.id}`))
    if (in_session) countTag('session', session_id)
    if (in_conversation) countTag('conversation', conversation_id)
    if (in_task) countTag('task', task_id)
    if (in_project) countTag('project', project_id)
    count(hourKey('model', modelId(first), hour))
    countPart('model', modelId(first))
    count(totalKey('provider', provider), conduct)
    count(hourKey('provider', provider, hour), conduct)
  }
  for (const { provider, kind, timestamp } of failed)
    for (const key of [totalKey('provider', provider), hourKey('provider', provider, hourOf(timestamp))])
      add(sums.of(key), `failed_${kind}`, 1)
}
