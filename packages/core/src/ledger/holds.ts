import type { Commit, Entry, Key, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import { add, Sums } from './totals.js'
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

/** What a budget has been used for, as stored. */
export type BudgetUse = { spent: number; held: number }

/**
 * Money that is set aside for a request before its upstream is called, and the record that is booked for it if nobody ever tells
 * how it ended. Stored under `hold/<id>`; `hold-end/<id>` says for a day that it is over, and only who writes that may end it.
 */
export type Hold = {
  id: string
  estimate: UsageRecord
  /** The budgets it is held from: segments of keys. */
  budgets: string[][]
  /** Billionths of a US dollar. */
  amount: number
}

const HOLD_END_MS = 86_400_000

const holdKey = (id: string): Key => ['hold', id]
const endKey = (id: string): Key => ['hold-end', id]

/** Where the use of a budget is counted at a time. */
export function budgetKey({ of, id, budget: { per } }: BudgetOf, now: number): string[] {
  const length = per === 'day' ? 10 : per === 'month' ? 7 : 0
  return ['budget', of, id, length === 0 ? 'all' : new Date(now).toISOString().slice(0, length)]
}

/** Gives back what a hold held, and counts what the request cost in the end. */
export function settle(sums: Sums, { budgets, amount }: Hold, cost: number): void {
  for (const key of budgets) {
    add(sums.of(key), 'held', -amount)
    add(sums.of(key), 'spent', cost)
  }
}

/** The parts of a commit that end holds, if nobody else has. */
export const ending = (holds: Hold[], now: number): Required<Omit<Commit, 'sum'>> => ({
  check: holds.map(({ id }) => ({ key: endKey(id), version: null })),
  set: holds.map(({ id }) => ({ key: endKey(id), value: true, expiresAt: now + HOLD_END_MS })),
  del: holds.map(({ id }) => holdKey(id)),
})

/** Which of some holds are over. */
export async function over(kv: KV, holds: Hold[]): Promise<Set<Hold>> {
  const ends = await kv.getMany(holds.map(({ id }) => endKey(id)))
  return new Set(holds.filter((_, i) => ends[i] !== null))
}

/** The holds that were made before a time, oldest first. */
export async function* holdsBefore(kv: KV, time: number): AsyncGenerator<Hold> {
  for await (const { value } of entriesOf<Hold>(kv, ['hold'])) {
    if (Date.parse(value.estimate.timestamp) >= time) return
    yield value
  }
}

/** A hold that is wanted, and the budgets that it must fit into. */
export interface Wanted {
  hold: Hold
  budgets: BudgetOf[]
}

/**
 * Makes holds, each if it fits into all of its budgets; exact over processes.
 * @returns those that were made
 * @throws StorageError with `outcome: 'unknown'` where they may have been made; then they are to be dropped
 */
export async function makeHolds(kv: KV, wanted: Wanted[]): Promise<Set<Hold>> {
  const keys = new Map(wanted.flatMap(({ hold }) => hold.budgets.map((key) => [key.join('/'), key] as const)))
  for (;;) {
    const entries = keys.size > 0 ? await kv.getMany<BudgetUse>([...keys.values()]) : []
    const found = new Map(
      [...keys.keys()].map((name, i): [string, Entry<BudgetUse> | null] => [name, entries[i] ?? null]),
    )
    const used = new Map(
      [...found].map(([name, entry]) => [name, (entry?.value.spent ?? 0) + (entry?.value.held ?? 0)]),
    )
    const made: Hold[] = []
    for (const { hold, budgets } of wanted) {
      const { amount } = hold
      const names = hold.budgets.map((key) => key.join('/'))
      if (!names.every((name, i) => used.get(name)! + amount <= budgets[i]!.budget.usd * 1e9)) continue
      for (const name of names) used.set(name, used.get(name)! + amount)
      made.push(hold)
    }
    if (made.length === 0) return new Set()
    const sums = new Sums()
    for (const { budgets, amount } of made) for (const key of budgets) add(sums.of(key), 'held', amount)
    const sum = sums.all()
    const applied = await kv.commit({
      check: [
        ...made.flatMap(({ id }) => [holdKey(id), endKey(id)].map((key) => ({ key, version: null }))),
        ...sum.map(({ key }) => ({ key, version: found.get(key.join('/'))?.version ?? null })),
      ],
      set: made.map((hold) => ({ key: holdKey(hold.id), value: hold })),
      sum,
    })
    // Else another process has used a budget meanwhile.
    if (applied) return new Set(made)
  }
}

/** Ends a hold that nothing is to be booked for, whether or not it was made. */
export async function dropHold(kv: KV, hold: Hold, now: number): Promise<void> {
  const { check, ...parts } = ending([hold], now)
  for (;;) {
    const [made, end] = await kv.getMany([holdKey(hold.id), endKey(hold.id)])
    if (end) return
    const sums = new Sums()
    // What was never made holds nothing, and its end keeps it from being made late.
    if (made) settle(sums, hold, 0)
    const seen = { key: holdKey(hold.id), version: made?.version ?? null }
    if (await kv.commit({ check: [...check, seen], ...parts, sum: sums.all() })) return
  }
}
