import { PAGE_SIZE } from '../conventions.js'
import type { Entry, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'
import { nextTurn } from '../helpers/microtask.js'
import type { UsageHour, UsageOf, UsagePart } from './ledger.js'
import type { Fields, HourOf, PartOf, TotalOf } from './totals.js'
import { addFields, hourKey, hourOf, partKey, totalsOf } from './totals.js'

const HOUR_MS = 3_600_000

/** Sorts after every hour in the key of a counter. */
const LAST = 'z'

const hourAt = (time: Date): string => hourOf(time.toISOString())

/** The hour before that of a time. */
const hourBefore = (time: Date): string => hourAt(new Date(time.getTime() - HOUR_MS))

/** The counters of an id, oldest first, starting with the hour of `from`. */
function countersOf(kv: KV, of: HourOf, id: string, from: Date): AsyncGenerator<Entry<Fields>> {
  const before = hourKey(of, id, hourBefore(from))
  return entriesOf<Fields>(kv, before.slice(0, 3), before)
}

/** Reads the sums of a user per hour and part, oldest first, from the hour of `from` to that of `to`. */
export async function* partsOf(kv: KV, userId: string, of: PartOf, from: Date, to: Date): AsyncGenerator<UsagePart> {
  // Sorts after all parts of that hour.
  const before = partKey(userId, of, `${hourBefore(from)}${LAST}`, '').slice(0, -1)
  const last = hourAt(to)
  for await (const { key, value } of entriesOf<Fields>(kv, before.slice(0, 3), before)) {
    const [hour, id] = key.slice(3) as [string, string]
    if (hour > last) return
    const part = { id, hour, totals: totalsOf(value) }
    if (used(part)) yield part
  }
}

/** Reads the sums per hour of an id, oldest first, starting with the hour of `from`. */
export async function hoursOf(kv: KV, of: HourOf, id: string, from: Date): Promise<UsageHour[]> {
  const hours: UsageHour[] = []
  for await (const { key, value } of countersOf(kv, of, id, from))
    hours.push({ hour: key[3]!, totals: totalsOf(value), fields: value })
  return hours
}

/** Ids whose hours are read at a time. Requests have their turn between two groups, because a store in memory never waits. */
const AT_ONCE = 8

const used = ({ totals }: Pick<UsageOf, 'totals'>): boolean => totals.requests > 0

/** Reads a page of the sums over all time, in one list. */
export async function listTotals(
  kv: KV,
  of: Exclude<TotalOf, 'all' | 'end_user'>,
  page?: PageOptions,
): Promise<ListPage<UsageOf>> {
  const { items, next } = await pageBelow<Fields>(kv, ['usage-total', of], { ...page, ids: 'any' })
  return { items: items.map(({ key, value }) => ({ id: key[2]!, totals: totalsOf(value) })).filter(used), next }
}

/** Finds the ids that have sums per hour: each by one list, which starts after the hours of the one before. */
async function idsWithHours(
  kv: KV,
  of: HourOf,
  { after, limit = PAGE_SIZE }: PageOptions,
): Promise<{ ids: string[]; next?: string }> {
  const ids: string[] = []
  for (let last = after; ; last = ids.at(-1)) {
    const { items } = await kv.list(['usage-hour', of], {
      limit: 1,
      ...(last !== undefined && { after: hourKey(of, last, LAST) }),
    })
    const id = items[0]?.key[2]
    if (id === undefined) return { ids }
    if (ids.length === limit) return { ids, next: last! }
    ids.push(id)
  }
}

/** Reads a page of the sums from the hour of `from` to that of `to`; it may be shorter than `limit`, because ids without usage in them are left out. */
export async function listSince(
  kv: KV,
  of: HourOf,
  from: Date,
  page: PageOptions = {},
  to?: Date,
): Promise<ListPage<UsageOf>> {
  const { ids, next } = await idsWithHours(kv, of, page)
  const last = to ? hourAt(to) : LAST
  const sum = async (id: string) => {
    const fields: Fields = {}
    for await (const { key, value } of countersOf(kv, of, id, from)) {
      if (key[3]! > last) break
      addFields(fields, value)
    }
    return { id, totals: totalsOf(fields) }
  }
  const items: UsageOf[] = []
  while (items.length < ids.length) {
    items.push(...(await Promise.all(ids.slice(items.length, items.length + AT_ONCE).map(sum))))
    await nextTurn()
  }
  return { items: items.filter(used), next }
}
