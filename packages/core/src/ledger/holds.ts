import type { Commit, Entry, Key, KV } from '../kv/kv.js'
import { encodeKey, entriesOf } from '../kv/kv.js'
import type { Fields } from './totals.js'
import { addNano, nanoOf, Sums } from './totals.js'
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

/** How much of a budget is used, in nano-US-dollars: exact up to $9,007,199, rounded to the nearest number beyond. */
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
}

const HOLD_END_MS = 86_400_000

const holdKey = (id: string): Key => ['hold', id]
const endKey = (id: string): Key => ['hold-end', id]
const end = (id: string, now: number) => ({ key: endKey(id), value: true, expiresAt: now + HOLD_END_MS })

/** The key of the counter of a budget for the period that contains `now`. */
export function budgetKey({ of, id, budget: { per } }: BudgetOf, now: number): string[] {
  const length = per === 'day' ? 10 : per === 'month' ? 7 : 0
  return ['budget', of, id, length === 0 ? 'all' : new Date(now).toISOString().slice(0, length)]
}

/** Reads the use of a budget from the fields of its counter. */
export const useOf = (fields: Fields = {}): BudgetUse => ({
  spent: nanoOf(fields, 'spent'),
  held: nanoOf(fields, 'held'),
})

/** Adds the amounts of holds to the counters of their budgets. */
export function addHeld(sums: Sums, holds: Hold[]): void {
  for (const { budgets, amount } of holds) for (const key of budgets) addNano(sums.of(key), 'held', amount)
}

/** Releases the amount of a hold, and adds the actual cost of its request. */
export function settle(sums: Sums, { budgets, amount }: Hold, cost: number): void {
  for (const key of budgets) {
    addNano(sums.of(key), 'held', -amount)
    addNano(sums.of(key), 'spent', cost)
  }
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

/** The timestamp of a UUIDv7, in milliseconds. */
const timeOf = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** A requested hold, and the budgets that it must not exceed. */
export interface Wanted {
  hold: Hold
  budgets: BudgetOf[]
}

/**
 * Creates those holds that do not exceed their budgets, atomically across processes.
 * @returns the created holds; null if none was created because a budget counter was changed concurrently: try again
 * @throws StorageError with `outcome: 'unknown'` if they may have been created; the caller must drop them
 */
export async function makeHolds(kv: KV, wanted: Wanted[]): Promise<Set<Hold> | null> {
  const counters = new Map(wanted.flatMap(({ hold }) => hold.budgets.map((key) => [encodeKey(key), key] as const)))
  const entries = counters.size > 0 ? await kv.getMany<Fields>([...counters.values()]) : []
  const found = new Map([...counters.keys()].map((name, i) => [name, entries[i] ?? null] as const))
  const used = new Map<string, number>()
  for (const [name, entry] of found) {
    const { spent, held } = useOf(entry?.value)
    used.set(name, spent + held)
  }
  const made: Hold[] = []
  for (const { hold, budgets } of wanted) {
    const after = hold.budgets.map(encodeKey).map((name) => [name, used.get(name)! + hold.amount] as const)
    if (after.some(([, sum], i) => sum > Math.round(budgets[i]!.budget.usd * 1e9))) continue
    for (const [name, sum] of after) used.set(name, sum)
    made.push(hold)
  }
  if (made.length === 0) return new Set()
  const sums = new Sums()
  addHeld(sums, made)
  const sum = sums.all()
  const applied = await kv.commit({
    check: [
      ...made.flatMap(({ id }) => [holdKey(id), endKey(id)].map((key) => ({ key, version: null }))),
      ...sum.map(({ key }) => ({ key, version: found.get(encodeKey(key))?.version ?? null })),
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
