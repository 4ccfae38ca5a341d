import { HOLD_END_MS } from '../conventions.js'
import { timeOf } from '../ids.js'
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
  of: 'key' | 'user'
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

/**
 * The cost that is reserved for a request before its upstream is called, and the record that is stored if the request never reports its
 * end. Stored under `hold/<id>` until it ends. If anything but its request ends it, `hold-end/<id>` exists for a day: it prevents that the
 * request ends the hold again, or that a commit of unknown outcome creates it afterwards.
 */
export type Hold = {
  /** A UUIDv7 of the time of its creation. */
  id: string
  estimate: UsageRecord
  /** The keys of the budget counters that it is included in. */
  budgets: string[][]
  /** In nano-US-dollars. */
  amount: number
  /** The key of the usage total that its estimated tokens are held in; absent where tokens are not limited. */
  tokens?: string[]
}

const holdKey = (id: string): Key => ['hold', id]
const endKey = (id: string): Key => ['hold-end', id]
const end = (id: string, now: number) => ({ key: endKey(id), value: true, expiresAt: now + HOLD_END_MS })

/** The key of the counter of a limit: a budget's for the period that contains `now`, or the user's usage total. */
export function limitKey(limit: LimitOf, now: number): string[] {
  if ('tokens' in limit) return [...totalKey(limit.of, limit.id)]
  const { of, id, budget } = limit
  const length = budget.per === 'day' ? 10 : budget.per === 'month' ? 7 : 0
  return ['budget', of, id, length === 0 ? 'all' : new Date(now).toISOString().slice(0, length)]
}

/** Reads the use of a budget from the fields of its counter. */
export const budgetUse = (fields: Fields = {}): BudgetUse => ({
  spent: nanoOf(fields, 'spent'),
  held: nanoOf(fields, 'held'),
})

/** Reads the use of a limit from the fields of its counter. */
export const useOf = (limit: LimitOf, fields: Fields = {}): BudgetUse =>
  'tokens' in limit ? { spent: totalsOf(fields).tokens, held: fields['held_tokens'] ?? 0 } : budgetUse(fields)

/** Adds the amounts of a hold to the counters of its limits, or with `sign` -1 releases them. */
export function addHeld(sums: Sums, { budgets, amount, tokens, estimate }: Hold, sign: 1 | -1 = 1): void {
  for (const key of budgets) addNano(sums.of(key), 'held', sign * amount)
  if (tokens) add(sums.of(tokens), 'held_tokens', sign * estimate.tokens)
}

/** Releases the amounts of a hold, and adds the actual cost of its request to its budgets; usage totals are added to with the record. */
export function settle(sums: Sums, hold: Hold, cost: number): void {
  addHeld(sums, hold, -1)
  for (const key of hold.budgets) addNano(sums.of(key), 'spent', cost)
}

/** The parts of a commit by which requests end their holds; it fails if a hold was ended by another action. */
export const ending = (holds: Hold[]): Required<Pick<Commit, 'check' | 'del'>> => ({
  check: holds.map(({ id }) => ({ key: endKey(id), version: null })),
  del: holds.map(({ id }) => holdKey(id)),
})

/** The parts of a commit that, with those of {@link ending}, end a hold in place of its request; it fails if the hold has ended. */
export const sweeping = (
  { key, version, value }: Entry<Hold>,
  now: number,
): Required<Pick<Commit, 'check' | 'set'>> => ({
  check: [{ key, version }],
  set: [end(value.id, now)],
})

/** The subset of `holds` that were not ended by their own requests. */
export async function swept(kv: KV, holds: Hold[]): Promise<Set<Hold>> {
  const ends = await kv.getMany(holds.map(({ id }) => endKey(id)))
  return new Set(holds.filter((_, i) => ends[i] !== null))
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

/** Asks for a hold of an estimated record under limits, with an id of its time. */
export function wantHold(id: string, estimate: UsageRecord, limits: LimitOf[], now: number): Wanted {
  const keyed = limits.map((limit) => ({ key: limitKey(limit, now), limit }))
  const tokens = keyed.find(({ limit }) => 'tokens' in limit)?.key
  const budgets = keyed.filter(({ limit }) => 'budget' in limit).map(({ key }) => key)
  const hold = { id, estimate, budgets, amount: estimate.cost_nano_usd ?? 0, ...(tokens && { tokens }) }
  return { hold, limits: keyed }
}

/** Whether a limit that is used so far, `spent` and `held` together, admits another hold. */
const admits = (limit: LimitOf, used: number, hold: Hold): boolean =>
  'tokens' in limit ? used < limit.tokens : used + hold.amount <= Math.round(limit.budget.usd * 1e9)

/**
 * Creates those holds that their limits admit, atomically across processes.
 * @returns the created holds; null if none was created because a counter was changed concurrently: try again
 * @throws StorageError with `outcome: 'unknown'` if they may have been created; the caller must drop them
 */
export async function makeHolds(kv: KV, wanted: Wanted[]): Promise<Set<Hold> | null> {
  const limited = new Map(wanted.flatMap(({ limits }) => limits.map((limit) => [encodeKey(limit.key), limit] as const)))
  const entries = limited.size > 0 ? await kv.getMany<Fields>([...limited.values()].map(({ key }) => key)) : []
  const counters = new Map<string, { version: string | null; used: number }>(
    [...limited].map(([name, { limit }], i) => {
      const { spent, held } = useOf(limit, entries[i]?.value)
      return [name, { version: entries[i]?.version ?? null, used: spent + held }]
    }),
  )
  const counterOf = (key: Key) => counters.get(encodeKey(key))!
  const made: Hold[] = []
  for (const { hold, limits } of wanted) {
    if (!limits.every(({ key, limit }) => admits(limit, counterOf(key).used, hold))) continue
    for (const { key, limit } of limits) counterOf(key).used += 'tokens' in limit ? hold.estimate.tokens : hold.amount
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
  settle(sums, hold, 0)
  for (;;) {
    const made = await kv.get(key)
    const dropped = await kv.commit(
      made
        ? { check: [{ key, version: made.version }], del: [key], sum: sums.all() }
        : // The hold does not exist: there is nothing to release, and its end prevents that a late commit creates it.
          { check: [{ key, version: null }], set: [end(hold.id, now)] },
    )
    if (dropped) return
  }
}
