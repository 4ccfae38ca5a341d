import type { ListPage, PageOptions } from '../kv/pages.js'
import type { BudgetUse, Hold, LimitOf, Most } from './holds.js'
import type { Fields, HourOf, PartOf, TotalOf, UsageTotals } from './totals.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** The usage of one hour. */
export interface UsageHour {
  /** The hour in UTC, such as `2026-01-31-09`. */
  hour: string
  totals: UsageTotals
  /** All counted fields: see totals.ts. */
  fields: Readonly<Fields>
}

/** What a user used in one hour of a model, or in a session, conversation, task or project. */
export interface UsagePart {
  id: string
  /** The hour in UTC, such as `2026-01-31-09`. */
  hour: string
  totals: UsageTotals
}

/** The usage of an id. */
export interface UsageOf {
  id: string
  totals: UsageTotals
}

/** Stores usage records, sums them up, and holds the expected cost of running requests. */
export interface UsageLedger {
  /**
   * Resolves once the record is durable. Await it before the end of the response is sent to the client.
   * @param hold the hold of the request, which ends here; an unknown price is charged as the held amount. After a sweep, the record replaces the estimate
   * @param options.goesOn true where the request goes on, and so does its hold, whose budgets this record is taken off as well; default false
   * @throws ApiError 500 `ledger_unavailable` if the record may not have been stored
   */
  append(record: UsageRecord, hold?: Hold, options?: { goesOn?: boolean }): Promise<void>
  /** Counts a call that cost nothing. It is stored with the next records; the caller does not wait for it. */
  failed(call: FailedCall): void
  /** Rejects with 500 `ledger_unavailable` while records cannot be stored, else undefined. Await it before an upstream is called. */
  ready(): Promise<void> | undefined
  /**
   * Reserves the maximum cost of a request, and resolves once that is durable; null if one of its limits does not admit it.
   * The caller must end the hold by one `append` or one `drop`.
   * @param estimate the record that is stored if neither is called: see `sweep`. A budget admits it only if its cost fits into the rest
   * @param most the most that the request may use, which is held: beside other holds of a budget, this must fit as well. Default: the estimate
   * @throws ApiError 500 `ledger_unavailable` if no hold was created, or one that will be dropped or swept
   */
  hold(estimate: UsageRecord, limits: LimitOf[], most?: Most): Promise<Hold | null>
  /**
   * Ends a hold without a record, for a request that cost nothing.
   * @throws StorageError if the hold may still exist; a sweep ends it then, as after a crash
   */
  drop(hold: Hold): Promise<void>
  /**
   * Ends the holds that are older than `olderThanMs`, whose requests were cut off by a crash, and records the estimate of each once.
   * @param olderThanMs longer than any request takes; 0 if no other process uses the store and this one has no running requests
   * @returns the number of ended holds; concurrent sweeps of several processes count each hold once
   * @throws StorageError; a later sweep ends the remaining holds. TypeError or RangeError, after all others were ended, for one that cannot be stored
   */
  sweep(olderThanMs: number): Promise<number>
  /** The use of a limit: of a budget in the current day or month, or in total. */
  used(limit: LimitOf): Promise<BudgetUse>
  /** Like `used`, for several limits, in their order. */
  usedOfMany(limits: LimitOf[]): Promise<BudgetUse[]>
  /** Sums over all time, in one read. */
  totals(of: TotalOf, id: string): Promise<UsageTotals>
  /** Like `totals`, for several ids, in their order. */
  totalsOfMany(of: TotalOf, ids: string[]): Promise<UsageTotals[]>
  /** Sums over all time per provider, including those that are no longer configured, with all counted fields: see totals.ts. */
  providers(): Promise<(UsageOf & { fields: Readonly<Fields> })[]>
  /** Sums over all time of each id that has requests, in the order in which ids are stored. */
  listTotals(of: Exclude<TotalOf, 'all' | 'end_user'>, page?: PageOptions): Promise<ListPage<UsageOf>>
  /**
   * The same from the hour of `from` to that of `to`, by default now; a page that is not the last may have fewer items than `limit`, or none.
   * It takes a read per id, and another for its hours.
   */
  listSince(of: HourOf, from: Date, page?: PageOptions, to?: Date): Promise<ListPage<UsageOf>>
  /** Sums per hour, oldest first, starting with the hour of `from`; hours without usage are omitted. */
  hours(of: HourOf, id: string, from: Date): Promise<UsageHour[]>
  /** The usage of a user per hour and part, each once, oldest first, from the hour of `from` to that of `to`. Those without usage are omitted. */
  parts(userId: string, of: PartOf, from: Date, to: Date): AsyncIterable<UsagePart>
  /** Lists the records of a user, newest first. @throws ApiError 400 if `after` is not a valid cursor */
  records(userId: string, page?: PageOptions): Promise<ListPage<UsageRecord>>
}
