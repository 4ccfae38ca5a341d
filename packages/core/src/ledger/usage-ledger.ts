import { StorageError } from '../errors.js'
import { callHook } from '../helpers/call-hook.js'
import { uuidv7 } from '../helpers/ids.js'
import type { KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import { afterTurn } from '../helpers/microtask.js'
import type { Hold, Wanted } from './holds.js'
import { dropHold, holdsUntil, limitKey, makeHolds, sweeping, swept, useOf, wantHold } from './holds.js'
import { lastUses } from './last-used.js'
import type { UsageLedger } from './ledger.js'
import { isRefusal, unavailable } from './ledger-errors.js'
import { pageOfRecords } from './record-pages.js'
import type { Fields } from './totals.js'
import { believable, totalKey, totalsOf } from './totals.js'
import type { Append } from './usage-commit.js'
import { commitOf } from './usage-commit.js'
import { hoursOf, listSince, listTotals, partsOf } from './usage-lists.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** Maximum number of attempts at a flush whose outcome is unknown. All have the same id, so that records are never counted twice. */
const TRIES = 3
/**
 * Maximum number of records in one flush. Records that are stored together are read together, so a lower number makes the first page of a
 * user with many records faster; a higher one increases the throughput of a slow store: with 20 ms per commit, it is 6,400 records a second.
 */
const GROUP = 128

/**
 * Runs a callback after the next turn, so that the records of two turns share a flush: a flush for one record costs a quarter of its
 * request, and the more requests are running, the longer a turn takes and the more records it collects (docs/decisions/007).
 */
const soon = (callback: () => void): void => afterTurn(() => afterTurn(callback))

interface Waiting<T, R = void> {
  item: T
  resolve(result: R): void
  reject(error: unknown): void
}

/**
 * Creates a usage ledger. At most one flush is in flight; records that arrive meanwhile form the next one, so no timer delays them.
 * A flush is one commit: a segment of records per user, and the additions to the counters.
 * @param options.onLost called with records that could not be stored, as the last opportunity to save them; default none
 * @example const { requests } = await usageLedger(kv).totals('user', user.id)
 */
export function usageLedger(
  kv: KV,
  options: { onLost?: (records: UsageRecord[], error: unknown) => void; now?: () => number } = {},
): UsageLedger {
  const { onLost, now = Date.now } = options
  const appends: Waiting<Append>[] = []
  const wanted: Waiting<Wanted, Hold | null>[] = []
  let failures: FailedCall[] = []
  let flushing = false
  let failure: unknown

  /** Stores a group. Records whose holds were swept replace the stored estimates, if these are still there. */
  const storeGroup = async (appends: Append[], calls: FailedCall[]): Promise<void> => {
    const flushId = uuidv7()
    let group = appends
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
      // A check failed: either an earlier attempt at this flush was applied after all, or holds were swept and nothing was applied.
      const holds = group.flatMap(({ hold }) => hold ?? [])
      if (holds.length === 0 || (await kv.get(['usage', group[0]!.record.user_id, flushId]))) return
      const ended = await swept(kv, holds)
      group = group.flatMap((item): Append | [] => {
        if (!item.hold || !ended.has(item.hold)) return item
        const replaces = ended.get(item.hold)
        return replaces ? { ...item, replaces } : []
      })
    }
  }

  const flushAppends = async (group: Waiting<Append>[], calls: FailedCall[]): Promise<void> => {
    try {
      await storeGroup(
        group.map(({ item }) => item),
        calls,
      )
      failure = undefined
      for (const { resolve } of group) resolve()
    } catch (error) {
      if (group.length > 1 && isRefusal(error)) {
        // Splits the group, so that an invalid record fails alone.
        const half = group.splice(group.length >> 1)
        await flushAppends(group, calls)
        return flushAppends(half, [])
      }
      if (!isRefusal(error)) failure = error
      for (const { reject } of group) reject(unavailable(error, true))
      const lost = group.map(({ item }) => item.record)
      if (lost.length > 0) callHook(() => onLost?.(lost, error))
    }
  }

  const flushHolds = async (group: Waiting<Wanted, Hold | null>[]): Promise<void> => {
    try {
      const made = await makeHolds(
        kv,
        group.map(({ item }) => item),
      )
      // The holds are tried again in the next round, together with new ones, after the waiting records are stored.
      if (!made) wanted.unshift(...group)
      else for (const { item, resolve } of group) resolve(made.has(item.hold) ? item.hold : null)
    } catch (error) {
      if (group.length > 1 && isRefusal(error)) {
        const half = group.splice(group.length >> 1)
        await flushHolds(group)
        return flushHolds(half)
      }
      if (!isRefusal(error)) failure = error
      for (const { reject } of group) reject(unavailable(error, false))
      // The holds may have been created, or a late commit may still create them.
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
    while (appends.length + failures.length + wanted.length > 0) {
      if (appends.length + failures.length > 0) {
        const calls = failures
        failures = []
        await flushAppends(appends.splice(0, GROUP), calls)
      }
      if (wanted.length > 0) await flushHolds(wanted.splice(0, GROUP))
    }
    // In the same tick as the last check of the queues, so that a later item starts the next flush.
    flushing = false
  }

  const begin = (): void => {
    if (flushing) return
    flushing = true
    soon(() => void flush())
  }

  const append: UsageLedger['append'] = (record, hold, { goesOn = false } = {}) =>
    new Promise((resolve, reject) => {
      appends.push({ item: goesOn ? { record, running: hold } : { record, hold }, resolve, reject })
      begin()
    })

  /** Checks whether the store can be written again. */
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
    hold(estimate, limits, most = estimate) {
      const time = now()
      const item = wantHold(uuidv7(time), believable(estimate), limits, most, time)
      return new Promise((resolve, reject) => {
        wanted.push({ item, resolve, reject })
        begin()
      })
    },
    async sweep(olderThanMs) {
      let count = 0
      let refusal: unknown
      for await (const held of holdsUntil(kv, now() - olderThanMs))
        try {
          const hold = held.value
          const flushId = uuidv7()
          const { check, set, del, sum } = commitOf(flushId, [{ record: believable(hold.estimate), hold }], [])
          const sweep = sweeping(held, now(), flushId)
          if (await kv.commit({ check: [...check, ...sweep.check], set: [...set, ...sweep.set], del, sum })) count++
        } catch (error) {
          if (!isRefusal(error)) throw error
          // The holds after it must not wait for it.
          refusal = error
        }
      if (refusal !== undefined) throw refusal
      return count
    },
    async used(limit) {
      return useOf(limit, (await kv.get<Fields>(limitKey(limit, now())))?.value)
    },
    async usedOfMany(limits) {
      if (limits.length === 0) return []
      const entries = await kv.getMany<Fields>(limits.map((limit) => limitKey(limit, now())))
      return limits.map((limit, i) => useOf(limit, entries[i]?.value))
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
    listTotals: (of, page) => listTotals(kv, of, page),
    listSince: (of, from, page, to) => listSince(kv, of, from, page, to),
    hours: (of, id, from) => hoursOf(kv, of, id, from),
    parts: (userId, of, from, to) => partsOf(kv, userId, of, from, to),
    records: (userId, page) => pageOfRecords(kv, userId, page),
  }
}
