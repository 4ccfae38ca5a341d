import type { Commit, Entry } from '../kv/kv.js'
import type { Hold } from './holds.js'
import { addHeld, ending, spend } from './holds.js'
import { addUsage, believable, subtractUsage, Sums } from './totals.js'
import type { FailedCall, UsageRecord } from './usage-record.js'

/** A record to be stored, and the hold that it ends, or one that goes on, whose budgets it is taken off. */
export type Append = {
  record: UsageRecord
  hold?: Hold | undefined
  running?: Hold | undefined
  /** The stored estimate of a swept hold, which the record replaces. */
  replaces?: Entry<UsageRecord[]> | undefined
}

/** The commit that stores a group of records and ends their holds; it fails as a whole if one of the holds was ended by a sweep. */
export function commitOf(flushId: string, group: Append[], calls: FailedCall[]): Required<Commit> {
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
  for (const { hold, running, record, replaces } of group) {
    if (running) spend(sums, running, record)
    if (!hold) continue
    spend(sums, hold, record)
    if (replaces) {
      spend(sums, hold, hold.estimate, -1)
      subtractUsage(sums, believable(hold.estimate))
    } else addHeld(sums, hold, -1)
  }
  const { check, del } = ending(group.flatMap(({ hold, replaces }) => (hold && !replaces ? hold : [])))
  const replaced = group.flatMap(({ replaces }) => replaces ?? [])
  return {
    check: [
      ...segments.map(({ key }) => ({ key, version: null })),
      ...replaced.map(({ key, version }) => ({ key, version })),
      ...check,
    ],
    set: segments,
    del: [...replaced.map(({ key }) => key), ...del],
    sum: sums.all(),
  }
}
