import { ApiError, StorageError } from '../errors.js'
import { uuidv7 } from '../ids.js'
import type { Commit, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { Hold, Wanted } from './holds.js'
import { budgetKey, dropHold, ending, holdsUntil, makeHolds, settle, sweeping, swept, useOf } from './holds.js'
import { lastUses } from './last-used.js'
import type { UsageHour, UsageLedger } from './ledger.js'
import { pageOfRecords } from './record-pages.js'
import type { Fields } from './totals.js'
import { addUsage, hourKey, hourOf, Sums, totalKey, totalsOf } from './totals.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

const HOUR_MS = 3_600_000

/** Tries of one flush whose outcome is unknown; all under one id, so that it is never counted twice. */
const TRIES = 3
/**
 * Most records in one flush. What a store keeps together it reads together, so that fewer make the first page of an old user faster;
 * with more, more are booked by a slow store: of one that takes 20 ms for a commit, 6,400 a second.
 */
const GROUP = 128

/** Runs when the present turn of the event loop is over. Workers have microtasks only. */
const afterTurn: (callback: () => void) => void = globalThis.setImmediate ?? queueMicrotask

/**
 * Runs when the next turn is over, so that what comes in two turns shares a flush: for one record, a flush costs a quarter of its
 * request, and a turn takes the longer the more requests there are to wait for (docs/decisions/007).
 */
const soon = (callback: () => void): void => afterTurn(() => afterTurn(callback))

/** Whether a commit cannot be stored as it is, and nothing of it was. */
const isRefusal = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError

const unavailable = (cause: unknown, spent: boolean): ApiError =>
  new ApiError(500, 'server_error', 'Usage cannot be recorded at the moment', {
    code: 'ledger_unavailable',
    // What the upstream has done is paid for: a client that tried again would pay twice.
    shouldRetry: spent ? false : undefined,
    cause,
  })

interface Waiting<T, R = void> {
  item: T
  resolve(result: R): void
  reject(error: unknown): void
}

type Booking = { record: UsageRecord; hold?: Hold | undefined }

/**
 * The usage ledger: one flush in flight, what arrives meanwhile is the next, so nothing waits for a timer.
 * A flush is one commit: a segment of records per user, and the sums that they add to.
 * @param options.onLost called with records that could not be stored, the last chance to keep them; default none.
 */
export function usageLedger(
  kv: KV,
  options: { onLost?: (records: UsageRecord[], error: unknown) => void; now?: () => number } = {},
): UsageLedger {
  const { onLost, now = Date.now } = options
  const bookings: Waiting<Booking>[] = []
  const wanted: Waiting<Wanted, Hold | null>[] = []
  let failures: FailedCall[] = []
  let flushing = false
  let failure: unknown

  /** What is stored of a group; nothing of it where one of its holds has ended. */
  const commitOf = (flushId: string, group: Booking[], calls: FailedCall[]): Required<Commit> => {
    const records = group.map(({ record }) => record)
    const byUser = new Map<string, UsageRecord[]>()
    for (const record of records) {
      const list = byUser.get(record.user_id)
      if (list) list.push(record)
      else byUser.set(record.user_id, [record])
    }
    const segments = [...byUser].map(([user, value]) => ({ key: ['usage', user, flushId], value }))
    const sums = new Sums()
    addUsage(sums, records, calls)
    for (const { hold, record } of group) if (hold) settle(sums, hold, record.cost_nano_usd ?? hold.amount)
    const { check, del } = ending(group.flatMap(({ hold }) => hold ?? []))
    return {
      check: [...segments.map(({ key }) => ({ key, version: null })), ...check],
      set: segments,
      del,
      sum: sums.all(),
    }
  }

  /** Stores a group, of which those are left out whose holds were swept: they are booked. */
  const book = async (bookings: Booking[], calls: FailedCall[]): Promise<void> => {
    const flushId = uuidv7()
    let group = bookings
    for (let attempt = 1; ;) {
      const commit = commitOf(flushId, group, calls)
      commit.set.push(...lastUses(group.map(({ record }) => record)))
      try {
        if (await kv.commit(commit)) return
      } catch (error) {
        const again = group.length > 0 && StorageError.is(error) && error.outcome === 'unknown' && attempt++ < TRIES
        if (!again) throw error
        continue
      }
      // An earlier try of this flush was applied after all, or there are holds that were swept, before which none was.
      const holds = group.flatMap(({ hold }) => hold ?? [])
      if (holds.length === 0 || (await kv.get(['usage', group[0]!.record.user_id, flushId]))) return
      const ended = await swept(kv, holds)
      group = group.filter(({ hold }) => !hold || !ended.has(hold))
    }
  }

  const flushBookings = async (group: Waiting<Booking>[], calls: FailedCall[]): Promise<void> => {
    try {
      await book(
        group.map(({ item }) => item),
        calls,
      )
      failure = undefined
      for (const { resolve } of group) resolve()
    } catch (error) {
      if (group.length > 1 && isRefusal(error)) {
        // What cannot be stored as it is fails by itself.
        const half = group.splice(group.length >> 1)
        await flushBookings(group, calls)
        return flushBookings(half, [])
      }
      failure = error
      for (const { reject } of group) reject(unavailable(error, true))
      const lost = group.map(({ item }) => item.record)
      try {
        if (lost.length > 0) onLost?.(lost, error)
      } catch {
        // The host's own hook failed; the ledger goes on.
      }
    }
  }

  const flushHolds = async (group: Waiting<Wanted, Hold | null>[]): Promise<void> => {
    try {
      const made = await makeHolds(
        kv,
        group.map(({ item }) => item),
      )
      // They are asked for again with what came meanwhile, and after the records that wait.
      if (!made) wanted.unshift(...group)
      else for (const { item, resolve } of group) resolve(made.has(item.hold) ? item.hold : null)
    } catch (error) {
      if (group.length > 1 && isRefusal(error)) {
        const half = group.splice(group.length >> 1)
        await flushHolds(group)
        return flushHolds(half)
      }
      failure = error
      for (const { reject } of group) reject(unavailable(error, false))
      // They may have been made, or still be.
      if (!StorageError.is(error) || error.outcome === 'unknown')
        for (const { item } of group) void drop(item.hold).catch(() => undefined)
    }
  }

  const drop = async (hold: Hold): Promise<void> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await dropHold(kv, hold, now())
      } catch (error) {
        if (!StorageError.is(error) || error.outcome !== 'unknown' || attempt === TRIES) throw error
      }
  }

  const flush = async (): Promise<void> => {
    while (bookings.length + failures.length + wanted.length > 0) {
      if (bookings.length + failures.length > 0) {
        const calls = failures
        failures = []
        await flushBookings(bookings.splice(0, GROUP), calls)
      }
      if (wanted.length > 0) await flushHolds(wanted.splice(0, GROUP))
    }
    // In the same turn as the last look at what waits: what comes later starts the next flush.
    flushing = false
  }

  const begin = (): void => {
    if (flushing) return
    flushing = true
    soon(() => void flush())
  }

  const append = (record: UsageRecord, hold?: Hold): Promise<void> =>
    new Promise((resolve, reject) => {
      bookings.push({ item: { record, hold }, resolve, reject })
      begin()
    })

  /** Tries whether records can be kept again. */
  const probe = async (): Promise<void> => {
    try {
      await kv.commit({ set: [{ key: ['usage', 'probe'], value: true }] })
      failure = undefined
    } catch (error) {
      throw unavailable(error, false)
    }
  }

  return {
    append,
    drop,
    failed(call) {
      failures.push(call)
      begin()
    },
    ready: () => (failure === undefined ? undefined : probe()),
    hold(estimate, budgets) {
      const hold: Hold = {
        id: uuidv7(now()),
        estimate,
        budgets: budgets.map((budget) => budgetKey(budget, now())),
        amount: estimate.cost_nano_usd ?? 0,
      }
      return new Promise((resolve, reject) => {
        wanted.push({ item: { hold, budgets }, resolve, reject })
        begin()
      })
    },
    async sweep(olderThanMs) {
      let count = 0
      for await (const held of holdsUntil(kv, now() - olderThanMs)) {
        const hold = held.value
        const { check, set, del, sum } = commitOf(uuidv7(), [{ record: hold.estimate, hold }], [])
        const sweep = sweeping(held, now())
        if (await kv.commit({ check: [...check, ...sweep.check], set: [...set, ...sweep.set], del, sum })) count++
      }
      return count
    },
    async used(budget) {
      return useOf((await kv.get<Fields>(budgetKey(budget, now())))?.value)
    },
    async totals(of, id) {
      return totalsOf((await kv.get<Fields>(totalKey(of, id)))?.value)
    },
    async totalsOfMany(of, ids) {
      const entries = await kv.getMany<Fields>(ids.map((id) => totalKey(of, id)))
      return entries.map((entry) => totalsOf(entry?.value))
    },
    async providers() {
      const providers = []
      for await (const { key, value } of entriesOf<Fields>(kv, ['usage-total', 'provider']))
        providers.push({ id: key[2]!, totals: totalsOf(value), fields: value })
      return providers
    },
    async hours(of, id, from) {
      const before = hourKey(of, id, hourOf(new Date(from.getTime() - HOUR_MS).toISOString()))
      const hours: UsageHour[] = []
      for await (const { key, value } of entriesOf<Fields>(kv, before.slice(0, 3), before))
        hours.push({ hour: key[3]!, totals: totalsOf(value), fields: value })
      return hours
    },
    records: (userId, page) => pageOfRecords(kv, userId, page),
  }
}
