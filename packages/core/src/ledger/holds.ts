import { HOLD_END_MS } from '../conventions.js'
import { timeOf } from '../helpers/ids.js'
import type { Commit, Entry, Key, KV } from '../kv/kv.js'
import { encodeKey, entriesOf } from '../kv/kv.js'
import type { Fields } from './totals.js'
import { add, addNano, nanoOf, Sums, totalKey, totalsOf } from './totals.js'
import type { UsageRecord } from './usage-record.js'

/** The maximum cost of a key or a user, in total or per period. */
export type Budget = {
  usd: number
  /** The period, a day or a month in UTC; absent = unlimited. */
  per?: 'day' | 'month'
}

/** A budget that a request must not exceed, and whose it is. */
export interface BudgetOf {
  of: 'key' | 'user' | 'end_user'
  id: string
  budget: Budget
}

/**
 * The tokens that a user may use over all time, prompts and completions together. Unlike a {@link BudgetOf}, it admits a request while any
 * are left, whatever the request is estimated at: it can be exceeded by what was running when they were used up.
 */
export interface TokensOf {
  of: 'user'
  id: string
  tokens: number
}

/** Limits on what a request may use. */
export type LimitOf = BudgetOf | TokensOf

/** How much of a limit is used: of a budget in nano-US-dollars, exact up to $9,007,199, rounded to the nearest number beyond; or tokens. */
export interface BudgetUse {
  spent: number
  /** Reserved for requests that have not ended. */
  held: number
}

/** The most that a request may use, which is reserved for it. */
export type Most = Pick<UsageRecord, 'cost_nano_usd' | 'tokens'> & {
  /** What has to fit into a limit in any case; default what is expected. */
  least?: Pick<UsageRecord, 'cost_nano_usd' | 'tokens'>
}

/**
 * The cost that is reserved for a request before its upstream is called, and the record that is stored if the request never reports its
 * end. Stored under `hold/<id>` until it ends. If anything but its request ends it, `hold-end/<id>` exists for 30 days: it prevents that the
 * request ends the hold again, or that a commit of unknown outcome creates it afterwards. After a sweep it has the id of the flush that stored
 * the estimate, so that the request's own record can replace that.
 */
export type Hold = {
  /** A UUIDv7 of the time of its creation. */
  id: string
  estimate: UsageRecord
  /** The keys of the budget counters that it is included in. */
  budgets: string[][]
  /** The reserved cost in nano-US-dollars. */
  amount: number
  /** The key of the usage total that its tokens are held in; absent where tokens are not limited. */
  tokens?: string[]
  /** The reserved tokens; absent in holds of earlier versions, which reserved those of the estimate. */
  held_tokens?: number
  /** As of {@link Most}. */
  least?: NonNullable<Most['least']>
  /** The keys of those of the counters in which only what has to fit is reserved: see {@link reserved}; absent = none. */
  expected?: string[][]
}

/** The field of a counter with how many holds reserve the estimate only. */
const OVER = 'held_over'

/**
 * How many of these may be at a time in a limit that others share. With one, whoever has it keeps all others waiting; each may exceed the limit by what
 * it costs at most.
 */
const MOST_OVER = 4

const holdKey = (id: string): Key => ['hold', id]
const endKey = (id: string): Key => ['hold-end', id]
/** @param flush the id of the flush that stored the estimate; true = nothing was stored */
const end = (id: string, now: number, flush: string | true) => ({
  key: endKey(id),
  value: flush,
  expiresAt: now + HOLD_END_MS,
})

/** The prefix of the counters of a budget, of all its periods. */
export const budgetKeys = (of: BudgetOf['of'], id: string): string[] => ['budget', of, id]

/** The key of the counter of a limit: a budget's for the period that contains `now`, or the user's usage total. */
export function limitKey(limit: LimitOf, now: number): string[] {
  if ('tokens' in limit) return [...totalKey(limit.of, limit.id)]
  const { of, id, budget } = limit
  const length = budget.per === 'day' ? 10 : budget.per === 'month' ? 7 : 0
  return [...budgetKeys(of, id), length === 0 ? 'all' : new Date(now).toISOString().slice(0, length)]
}

/** Reads the use of a budget from the fields of its counter. */
export const budgetUse = (fields: Fields = {}): BudgetUse => ({
  spent: nanoOf(fields, 'spent'),
  held: nanoOf(fields, 'held'),
})

/** Reads the use of a limit from the fields of its counter. */
export const useOf = (limit: LimitOf, fields: Fields = {}): BudgetUse =>
  'tokens' in limit ? { spent: totalsOf(fields).tokens, held: fields['held_tokens'] ?? 0 } : budgetUse(fields)

/** What a request may use of a limit at most, and what it is expected to use. */
function useBy({ estimate, least = estimate, amount, held_tokens }: Hold, isOfTokens: boolean) {
  return isOfTokens
    ? { most: held_tokens ?? estimate.tokens, expected: least.tokens }
    : { most: amount, expected: least.cost_nano_usd ?? 0 }
}

/** Adds the amounts of a hold to the counters of its limits, or with `sign` -1 releases them. */
export function addHeld(sums: Sums, hold: Hold, sign: 1 | -1 = 1): void {
  const less = hold.expected && new Set(hold.expected.map(encodeKey))
  const heldIn = (key: string[]): number => {
    const { most, expected } = useBy(hold, key === hold.tokens)
    return sign * (less?.has(encodeKey(key)) ? expected : most)
  }
  for (const key of hold.expected ?? []) add(sums.of(key), OVER, sign)
  for (const key of hold.budgets) addNano(sums.of(key), 'held', heldIn(key))
  if (hold.tokens) add(sums.of(hold.tokens), 'held_tokens', heldIn(hold.tokens))
}

/** Adds the cost of a record to the budgets of its hold; an unknown price is charged as the held amount. @param sign -1 takes it back */
export function spend(sums: Sums, hold: Hold, { cost_nano_usd }: UsageRecord, sign: 1 | -1 = 1): void {
  for (const key of hold.budgets) addNano(sums.of(key), 'spent', sign * (cost_nano_usd ?? hold.amount))
}

/** The parts of a commit by which requests end their holds; it fails if a hold was ended by another action. */
export const ending = (holds: Hold[]): Required<Pick<Commit, 'check' | 'del'>> => ({
  check: holds.map(({ id }) => ({ key: endKey(id), version: null })),
  del: holds.map(({ id }) => holdKey(id)),
})

/**
 * The parts of a commit that, with those of {@link ending}, end a hold in place of its request; it fails if the hold has ended.
 * @param flush the id of the flush that stores the estimate
 */
export const sweeping = (
  { key, version, value }: Entry<Hold>,
  now: number,
  flush: string,
): Required<Pick<Commit, 'check' | 'set'>> => ({
  check: [{ key, version }],
  set: [end(value.id, now, flush)],
})

/** Those of `holds` that were not ended by their own requests, each with the stored group of its estimate; undefined where there is none. */
export async function swept(kv: KV, holds: Hold[]): Promise<Map<Hold, Entry<UsageRecord[]> | undefined>> {
  const ends = await kv.getMany<string | true>(holds.map(({ id }) => endKey(id)))
  const found = new Map<Hold, Entry<UsageRecord[]> | undefined>()
  for (const [i, hold] of holds.entries()) {
    const flush = ends[i]?.value
    if (flush === undefined) continue
    const stored = flush !== true && (await kv.get<UsageRecord[]>(['usage', hold.estimate.user_id, flush]))
    found.set(hold, stored || undefined)
  }
  return found
}

/** Lists the open holds that were created at or before `time`, oldest first. */
export async function* holdsUntil(kv: KV, time: number): AsyncGenerator<Entry<Hold>> {
  for await (const entry of entriesOf<Hold>(kv, ['hold'])) {
    if (timeOf(entry.value.id) > time) return
    yield entry
  }
}

/** A requested hold, and the limits that it is under. */
export interface Wanted {
  hold: Hold
  limits: { key: string[]; limit: LimitOf }[]
}

/** Asks for a hold of the most that a request may use under limits, with an id of its time. */
export function wantHold(id: string, estimate: UsageRecord, limits: LimitOf[], most: Most, now: number): Wanted {
  const keyed = limits.map((limit) => ({ key: limitKey(limit, now), limit }))
  const tokens = keyed.find(({ limit }) => 'tokens' in limit)?.key
  const budgets = keyed.filter(({ limit }) => 'budget' in limit).map(({ key }) => key)
  const amount = most.cost_nano_usd ?? 0
  const { least } = most
  const hold = {
    id,
    estimate,
    budgets,
    amount,
    ...(tokens && { tokens, held_tokens: most.tokens }),
    ...(least && { least }),
  }
  return { hold, limits: keyed }
}

/** What is left of a limit. */
const restOf = (limit: LimitOf, { spent, held }: BudgetUse): number =>
  ('tokens' in limit ? limit.tokens : Math.round(limit.budget.usd * 1e9)) - spent - held

/** Whose limits are also those of others: the end users of a key share its budget, the keys of a user theirs. */
const WIDTHS: LimitOf['of'][] = ['end_user', 'key', 'user']
const isWider = (one: LimitOf, other: LimitOf): boolean => WIDTHS.indexOf(one.of) > WIDTHS.indexOf(other.of)

/**
 * What a limit that is used so far reserves for a request; undefined where it does not admit it. A budget admits what is estimated to fit into the
 * rest, and beside other holds only what fits at most: so it is exceeded by one request at most, by {@link MOST_OVER} where others share it, and no
 * honest one is refused for what it will not use (docs/decisions/034).
 * @param isOfOthers whether the limit is that of others as well: of a key, for its end users; or where the most is over a narrower limit of the request,
 *   which admits it by its estimate. Then it takes at most half. Where it may use more, it takes what is expected, and begins while few others do so.
 */
function reserved(
  limit: LimitOf,
  use: BudgetUse & { over: number },
  hold: Hold,
  isOfOthers: boolean,
): 'most' | 'expected' | undefined {
  const isOfTokens = 'tokens' in limit
  const { most, expected } = useBy(hold, isOfTokens)
  const rest = restOf(limit, use)
  if (isOfOthers && most > rest / 2) return use.over < MOST_OVER && expected <= rest ? 'expected' : undefined
  if (isOfTokens) return rest > 0 && (!hold.least || expected <= rest) ? 'most' : undefined
  return expected <= rest && (use.held === 0 || most <= rest) ? 'most' : undefined
}

/**
 * Creates those holds that their limits admit, atomically across processes.
 * @returns the created holds; null if none was created because a counter was changed concurrently: try again
 * @throws StorageError with `outcome: 'unknown'` if they may have been created; the caller must drop them
 */
export async function makeHolds(kv: KV, wanted: Wanted[]): Promise<Set<Hold> | null> {
  const limited = new Map(wanted.flatMap(({ limits }) => limits.map((limit) => [encodeKey(limit.key), limit] as const)))
  const entries = limited.size > 0 ? await kv.getMany<Fields>([...limited.values()].map(({ key }) => key)) : []
  const counters = new Map<string, BudgetUse & { over: number; version: string | null }>(
    [...limited].map(([name, { limit }], i) => [
      name,
      { version: entries[i]?.version ?? null, over: entries[i]?.value[OVER] ?? 0, ...useOf(limit, entries[i]?.value) },
    ]),
  )
  const counterOf = (key: Key) => counters.get(encodeKey(key))!
  const made: Hold[] = []
  for (const { hold, limits } of wanted) {
    const isOfEndUser = hold.estimate.end_user !== undefined
    const over = limits.filter(({ key, limit }) => useBy(hold, 'tokens' in limit).most > restOf(limit, counterOf(key)))
    const parts = limits.map(({ key, limit }) => {
      const isOfOthers = (isOfEndUser && limit.of !== 'end_user') || over.some((one) => isWider(limit, one.limit))
      const use = useBy(hold, 'tokens' in limit)
      return { key, part: reserved(limit, counterOf(key), hold, isOfOthers), use }
    })
    if (parts.some(({ part }) => part === undefined)) continue
    for (const { key, part, use } of parts) {
      const counter = counterOf(key)
      counter.held += use[part!]
      if (part === 'expected') counter.over++
    }
    const expected = parts.filter(({ part }) => part === 'expected').map(({ key }) => key)
    // An earlier attempt may have set it.
    delete hold.expected
    if (expected.length > 0) hold.expected = expected
    made.push(hold)
  }
  if (made.length === 0) return new Set()
  const sums = new Sums()
  for (const hold of made) addHeld(sums, hold)
  const sum = sums.all()
  const applied = await kv.commit({
    check: [
      ...made.flatMap(({ id }) => [holdKey(id), endKey(id)].map((key) => ({ key, version: null }))),
      ...sum.map(({ key }) => ({ key, version: counterOf(key).version })),
    ],
    set: made.map((hold) => ({ key: holdKey(hold.id), value: hold })),
    sum,
  })
  return applied ? new Set(made) : null
}

/** Ends a hold without a record, whether or not it was created. @throws StorageError if the hold may still exist */
export async function dropHold(kv: KV, hold: Hold, now: number): Promise<void> {
  const key = holdKey(hold.id)
  const sums = new Sums()
  addHeld(sums, hold, -1)
  for (;;) {
    const made = await kv.get(key)
    const dropped = await kv.commit(
      made
        ? { check: [{ key, version: made.version }], del: [key], sum: sums.all() }
        : // The hold does not exist: there is nothing to release, and its end prevents that a late commit creates it.
          { check: [{ key, version: null }], set: [end(hold.id, now, true)] },
    )
    if (dropped) return
  }
}
