import type { BudgetOf, BudgetUse, Hold } from './holds.js'
import type { PageOptions, RecordPage } from './record-pages.js'
import type { Fields, HourOf, TotalOf, UsageTotals } from './totals.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** An hour of usage. */
export interface UsageHour {
  /** Such as `2026-01-31-09`, in UTC. */
  hour: string
  totals: UsageTotals
  /** All that is counted, by name: see totals.ts. */
  fields: Readonly<Fields>
}

/** Where usage records are appended, summed and listed. */
export interface UsageLedger {
  /**
   * Resolves once the record is durable; to be awaited before the caller is told that the response is whole.
   * @param hold what was held for the request, which ends with it; a price that is not known spends what was held. Where it was swept before, the record is its estimate and stays so
   * @throws ApiError 500 `ledger_unavailable` where it may not be stored
   */
  append(record: UsageRecord, hold?: Hold): Promise<void>
  /** Counts a call that cost nothing; it is stored with the next records, and nobody waits for it. */
  failed(call: FailedCall): void
  /** Rejects with 500 `ledger_unavailable` while records cannot be kept; to be awaited before money is spent. Nothing where all is well. */
  ready(): Promise<void> | undefined
  /**
   * Holds what a request may cost, and resolves once that is durable; null where it does not fit into a budget.
   * To be ended by one `append` or one `drop`.
   * @param estimate what is booked if neither ever comes: see `sweep`
   * @throws ApiError 500 `ledger_unavailable` where nothing is held, or what is will be dropped or swept
   */
  hold(estimate: UsageRecord, budgets: BudgetOf[]): Promise<Hold | null>
  /**
   * Ends a hold without a record: the upstream has not been paid for anything.
   * @throws StorageError where it may still hold; then it ends as one that a crash cut off
   */
  drop(hold: Hold): Promise<void>
  /**
   * Books holds that have not ended in `olderThanMs`, each once, as what was estimated: a crash cut their requests off.
   * More than the longest request takes; 0 where no other process has the store and none of this one's requests runs.
   * @returns how many; by any number of processes at a time, each is counted by one
   * @throws StorageError after which a later sweep books the rest
   */
  sweep(olderThanMs: number): Promise<number>
  /** What a budget is used for in the present day or month, or for ever. */
  used(budget: BudgetOf): Promise<BudgetUse>
  /** Sums over everything that was ever used, in one read. */
  totals(of: TotalOf, id: string): Promise<UsageTotals>
  /** The same of several, in their order. */
  totalsOfMany(of: TotalOf, ids: string[]): Promise<UsageTotals[]>
  /** Sums over everything by provider, also those that are no longer configured, with all that is counted: see totals.ts. */
  providers(): Promise<{ id: string; totals: UsageTotals; fields: Readonly<Fields> }[]>
  /** Sums per hour, oldest first, from an hour on; hours in which nothing was used are left out. */
  hours(of: HourOf, id: string, from: Date): Promise<UsageHour[]>
  /**
   * The user's records, newest first; `next` is the `after` of the following page. `limit` default 100, at most 500.
   * @throws ApiError 400 where `after` is none
   */
  records(userId: string, page?: PageOptions): Promise<RecordPage>
}
