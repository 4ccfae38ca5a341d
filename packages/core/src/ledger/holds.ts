import type { Commit, Entry, Key, KV } from '../kv/kv.js'
import { encodeKey, entriesOf } from '../kv/kv.js'
import type { Fields } from './totals.js'
import { addNano, nanoOf, Sums } from './totals.js'
import type { UsageRecord } from './usage-record.js'

/** How much a key or a user may cost, and in which time. */
export type Budget = {
  usd: number
  /** Days and months are those of UTC; default for ever. */
  per?: 'day' | 'month'
}

/** A budget that a request has to fit into. */
export interface BudgetOf {
  of: 'key' | 'user'
  id: string
  budget: Budget
}

/** What a budget is used for, in billionths of a US dollar: exact up to $9,007,199, and the nearest number beyond. */
export interface BudgetUse {
  spent: number
  /** By requests that have not ended. */
  held: number
}

/**
 * Money that is set aside for a request before its upstream is called, and the record that is booked for it if nobody ever tells
 * how it ended. Stored under `hold/<id>` until it ends. Where it was not its request that ended it, `hold-end/<id>` says so for a day,
 * and keeps the request from ending it again, or a commit of unknown outcome from making it late.
 */
export type Hold = {
  /** A UUIDv7 of the time at which it was made. */
  id: string
  estimate: UsageRecord
  /** The counters that it is held in: segments of keys. */
  budgets: string[][]
  /** Billionths of a US dollar. */
  amount: number
}

const HOLD_END_MS = 86_400_000

const holdKey = (id: string): Key => ['hold', id]
const endKey = (id: string): Key => ['hold-end', id]
const end = (id: string, now: number) => ({ key: endKey(id), value: true, expiresAt: now + HOLD_END_MS })

/** The counter of what a budget is used for at a time. */
export function budgetKey({ of, id, budget: { per } }: BudgetOf, now: number): string[] {
  const length = per === 'day' ? 10 : per === 'month' ? 7 : 0
  return ['budget', of, id, length === 0 ? 'all' : new Date(now).toISOString().slice(0, length)]
}

/** What a counter of a budget says. */
export const useOf = (fields: Fields = {}): BudgetUse => ({
  spent: nanoOf(fields, 'spent'),
  held: nanoOf(fields, 'held'),
})

/** Adds what holds hold. */
export function addHeld(sums: Sums, holds: Hold[]): void {
  for (const { budgets, amount } of holds) for (const key of budgets) addNano(sums.of(key), 'held', amount)
}

/** Gives back what a hold held, and counts what its request cost in the end. */
export function settle(sums: Sums, { budgets, amount }: Hold, cost: number): void {
  for (const key of budgets) {
    addNano(sums.of(key), 'held', -amount)
    addNano(sums.of(key), 'spent', cost)
  }
}

/** The parts of a commit with which requests end their holds, if nobody else has. */
export const ending = (holds: Hold[]): Required<Pick<Commit, 'check' | 'del'>> => ({
  check: holds.map(({ id }) => ({ key: endKey(id), version: null })),
  del: holds.map(({ id }) => holdKey(id)),
})

/** The parts of a commit that, with {@link ending}, end a hold for a request that does not, if it has not ended yet. */
export const sweeping = (
  { key, version, value }: Entry<Hold>,
  now: number,
): Required<Pick<Commit, 'check' | 'set'>> => ({
  check: [{ key, version }],
  set: [end(value.id, now)],
})

/** Which of some holds somebody else has ended. */
export async function swept(kv: KV, holds: Hold[]): Promise<Set<Hold>> {
  const ends = await kv.getMany(holds.map(({ id }) => endKey(id)))
  return new Set(holds.filter((_, i) => ends[i] !== null))
}

/** The holds that were made up to a time, oldest first. */
export async function* holdsUntil(kv: KV, time: number): AsyncGenerator<Entry<Hold>> {
  for await (const entry of entriesOf<Hold>(kv, ['hold'])) {
    if (timeOf(entry.value.id) > time) return
    yield entry
  }
}

/** The time of a UUIDv7 in milliseconds. */
const timeOf = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** A hold that is wanted, and the budgets that it must fit into. */
export interface Wanted {
  hold: Hold
  budgets: BudgetOf[]
}

/**
 * Makes holds, each if it fits into all of its budgets; exact over processes.
 * @returns those that were made; null where none was, because another process has used a budget meanwhile
 * @throws StorageError with `outcome: 'unknown'` where they may have been made; then they are to be dropped
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

/** Ends a hold that nothing is to be booked for, whether or not it was made. @throws StorageError where it may still hold */
export async function dropHold(kv: KV, hold: Hold, now: number): Promise<void> {
  const key = holdKey(hold.id)
  const sums = new Sums()
  settle(sums, hold, 0)
  for (;;) {
    const made = await kv.get(key)
    const dropped = await kv.commit(
      made
        ? { check: [{ key, version: made.version }], del: [key], sum: sums.all() }
        : // What was never made holds nothing, and its end keeps it from being made late.
          { check: [{ key, version: null }], set: [end(hold.id, now)] },
    )
    if (dropped) return
  }
}
