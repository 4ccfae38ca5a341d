import { timeOf } from '../helpers/ids.js'
import { nextTurn } from '../helpers/microtask.js'
import type { Entry, Key, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { Fields, HourOf, PartOf } from './totals.js'
import { addFields, hourOf, Sums, totalKey } from './totals.js'

/** Has the first hour of which all records are there, such as `2026-01-31-09`. */
const RECORDS_FROM: Key = ['usage-records-from']
/** Has the first hour of which the sums are not those of its day. */
const HOURS_FROM: Key = ['usage-hours-from']
/** Entries that are removed at once. One of records has up to 128, which were stored together. */
const AT_ONCE = 32
const HOUR_MS = 3_600_000
/** Sorts after every hour and every id of a group of records. */
const LAST = 'z'
/** Sorts before every hour. */
const EARLIEST = '00'
/** Characters of the day in an hour, and what its first hour ends with. */
const DAY_LENGTH = 10
const FIRST_OF_DAY = '-00'

/** The first hour of which all records are there; `''` where none were removed. */
export const firstHour = async (kv: KV): Promise<string> => (await kv.get<string>(RECORDS_FROM))?.value ?? ''

/** Sets an entry to an hour, unless it has a later one. */
async function move(kv: KV, key: Key, hour: string): Promise<void> {
  for (;;) {
    const entry = await kv.get<string>(key)
    if (entry && entry.value >= hour) return
    if (await kv.commit({ check: [{ key, version: entry?.version ?? null }], set: [{ key, value: hour }] })) return
  }
}

/** Yields the first `parts` parts of keys below a prefix, each once, by one list of one entry each. */
async function* groupsOf(kv: KV, prefix: Key, parts: number): AsyncGenerator<Key> {
  for (let after: Key | undefined; ;) {
    const { items } = await kv.list(prefix, { limit: 1, ...(after && { after }) })
    const key = items[0]?.key
    if (!key) return
    const group = key.slice(0, parts)
    yield group
    after = [...group, LAST]
    await nextTurn()
  }
}

/** Removes the groups of records of a user that were stored before a time. */
async function expireOfUser(kv: KV, user: Key, before: number): Promise<void> {
  for (;;) {
    const { items } = await kv.list(user, { limit: AT_ONCE })
    const del = items.map(({ key }) => key).filter((key) => timeOf(key[2]!) < before)
    if (del.length > 0) await kv.commit({ del })
    if (del.length < items.length || items.length === 0) return
    await nextTurn()
  }
}

/** Adds the sums of hours, below a key and from `from` to before `to`, to those of the first hour of their day. */
async function mergeHours(kv: KV, below: Key, from: string, to: string): Promise<void> {
  // Sorts before the first hour.
  for (let after: Key = [...below, from.slice(0, -1)]; ;) {
    const { items } = await kv.list<Fields>(below, { limit: AT_ONCE, after })
    const hours = items.filter(({ key }) => key[3]! < to)
    const merged = hours.filter(({ key }) => !key[3]!.endsWith(FIRST_OF_DAY))
    const sums = new Sums()
    for (const { key, value } of merged) {
      const [hour, ...rest] = key.slice(3) as [string, ...string[]]
      addFields(sums.of([...below, hour.slice(0, DAY_LENGTH) + FIRST_OF_DAY, ...rest]), value)
    }
    const check = merged.map(({ key, version }) => ({ key, version }))
    // Where one of them has changed, the page is read again.
    if (merged.length > 0 && !(await kv.commit({ check, del: merged.map(({ key }) => key), sum: sums.all() }))) continue
    if (hours.length < items.length || items.length === 0) return
    after = items.at(-1)!.key
    await nextTurn()
  }
}

/**
 * Removes usage records from before the hour of a time, also those that several processes write. No sum changes, so that totals, reports, credits
 * and budgets are what they were: only the lists of single requests get shorter, and of the days before there are sums of the whole day
 * (UTC), in its first hour. It reads what it removes, and one entry of each user, key, provider and model. A removal that was cut off
 * goes on with the next call.
 * @throws StorageError
 * @example await expireRecords(kv, new Date(Date.now() - 400 * 86_400_000))
 */
export async function expireRecords(kv: KV, time: Date): Promise<void> {
  const before = Math.floor(time.getTime() / HOUR_MS) * HOUR_MS
  const to = hourOf(new Date(before).toISOString())
  await move(kv, RECORDS_FROM, to)
  for await (const user of groupsOf(kv, ['usage'], 2)) await expireOfUser(kv, user, before)
  const from = (await kv.get<string>(HOURS_FROM))?.value ?? EARLIEST
  for (const name of ['usage-hour', 'usage-part'])
    for await (const below of groupsOf(kv, [name], 3)) await mergeHours(kv, below, from, to)
  await move(kv, HOURS_FROM, to)
}

/** Adds the sums of hours whose records are gone to the counters that they are part of, as the records were. */
export async function addHoursBefore(kv: KV, sums: Sums, first: string): Promise<void> {
  const addTo = (counters: Key[], { value }: Entry<Fields>): void => {
    // Failed calls have no record.
    const usage = Object.fromEntries(Object.entries(value).filter(([field]) => !field.startsWith('failed_')))
    for (const counter of counters) addFields(sums.of(counter), usage)
  }
  for await (const entry of entriesOf<Fields>(kv, ['usage-hour'])) {
    const [, of, id, hour] = entry.key as [string, HourOf, string, string]
    if (hour >= first) continue
    const totals = of === 'model' ? [] : [totalKey(of, id), ...(of === 'user' ? [totalKey('all', '')] : [])]
    addTo([entry.key, ...totals], entry)
  }
  for await (const entry of entriesOf<Fields>(kv, ['usage-part'])) {
    const [, , of, hour, id] = entry.key as [string, string, PartOf, string, string]
    if (hour < first) addTo(of === 'model' ? [entry.key] : [entry.key, totalKey(of, id)], entry)
  }
}
