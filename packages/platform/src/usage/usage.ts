import type { PageOptions, PartOf, UsagePart, UsageTotals } from '@turnpike/core'
import { nextTurn } from '@turnpike/core/helpers'
import { CALLS_AT_ONCE, hourOf, invalid, MAX_PAGE_SIZE, namesOf } from '@turnpike/core/internal'
import { ENTRY_CHARACTERS, USAGE_PARTS, USAGE_ROWS } from '../conventions.js'
import { turns } from '../turns.js'
import { conversationNames } from '../conversations/stored-conversations.js'
import type { Parts } from '../parts.js'
import { projectNames } from '../projects/project-access.js'
import { taskNames } from '../tasks/stored-tasks.js'
import { UsageBy } from './usage-schemas.js'
import { none, sum } from './usage-view.js'

/** A part of what a user used, with its sums of each hour. */
interface Row {
  id: string
  total: UsageTotals
  hours: [hour: string, totals: UsageTotals][]
}

/**
 * The parts as rows, the dearest first, and of the same cost the one with the most tokens.
 * @param onRead called after each page of them
 * @throws ApiError 400 if there are more than a report adds up
 */
async function rowsOf(
  parts: AsyncIterable<UsagePart>,
  onRead: (parts: number) => Promise<void> | void,
): Promise<Row[]> {
  const rows = new Map<string, Row>()
  let read = 0
  for await (const { id, hour, totals } of parts) {
    const row = rows.get(id)
    if (!row) rows.set(id, { id, total: totals, hours: [[hour, totals]] })
    else {
      row.total = sum(row.total, totals)
      row.hours.push([hour, totals])
    }
    if (++read % MAX_PAGE_SIZE === 0) await onRead(MAX_PAGE_SIZE)
    if (read === USAGE_PARTS)
      throw invalid('This period has more usage than a report can add up: ask for a shorter one')
  }
  await onRead(read % MAX_PAGE_SIZE)
  return [...rows.values()].toSorted(
    ({ total: a }, { total: b }) => b.cost_nano_usd - a.cost_nano_usd || b.tokens - a.tokens || b.requests - a.requests,
  )
}

/** The usage of users in periods, without HTTP. */
export function usageOperations({ kvOf, keys, ledger, checkRead, countRead, now }: Parts) {
  /** A report may read hundreds of thousands of sums: one at a time of a user, and what it reads counts before the next. */
  const oneByOne = turns(1)

  /** The hours of all keys of a user, which have sums of their own. */
  async function* keyParts(userId: string, from: Date, to: Date): AsyncGenerator<UsagePart> {
    const last = hourOf(to.toISOString())
    for (let page: PageOptions | undefined = { limit: MAX_PAGE_SIZE }; page;) {
      checkRead(userId)
      const { items, next }: { items: { id: string }[]; next?: string | undefined } = await keys.list(userId, page)
      const ids = items.map(({ id }) => id)
      const totals = await ledger.totalsOfMany('key', ids)
      const used = ids.filter((_, i) => totals[i]!.requests > 0)
      while (used.length > 0) {
        const read = async (id: string): Promise<UsagePart[]> =>
          (await ledger.hours('key', id, from))
            .filter(({ hour }) => hour <= last)
            .map(({ hour, totals }) => ({ id, hour, totals }))
        for (const parts of await Promise.all(used.splice(0, CALLS_AT_ONCE).map(read))) yield* parts
        await nextTurn()
      }
      // Each is read with its sums and when it was used. There may be very many that are revoked.
      await countRead(userId, 3 * items.length * ENTRY_CHARACTERS)
      await nextTurn()
      page = next === undefined ? undefined : { limit: MAX_PAGE_SIZE, after: next }
    }
  }

  /** What the rows are called, and the project that they belong to, where they do. */
  async function named(
    userId: string,
    by: UsageBy,
    ids: string[],
  ): Promise<{ name: string | null; project_id?: string | null }[]> {
    if (by === 'model') return ids.map(() => ({ name: null }))
    const kv = kvOf(userId)
    if (by === 'task') return taskNames(kv, userId, ids)
    if (by === 'conversation') return conversationNames(kv, userId, ids)
    if (by === 'project') return (await projectNames(kv, userId, ids)).map((name) => ({ name }))
    return (await namesOf(kv, by, ids)).map(({ name }) => ({ name }))
  }

  return {
    /** What a user used from the hour of `from` to that of `to`: in all, by hour, and by part. */
    report: (userId: string, by: UsageBy, from: Date, to: Date) =>
      oneByOne(userId, async () => {
        checkRead(userId)
        const last = hourOf(to.toISOString())
        const onRead = (entries: number) => countRead(userId, entries * ENTRY_CHARACTERS)
        const all = await ledger.hours('user', userId, from)
        await onRead(all.length)
        const parts = by === 'key' ? keyParts(userId, from, to) : ledger.parts(userId, by satisfies PartOf, from, to)
        const rows = await rowsOf(parts, onRead)
        const hours = new Map<string, UsageTotals>()
        for (const { hour, totals } of all) if (hour <= last && totals.requests > 0) hours.set(hour, totals)
        const shown = rows.slice(0, USAGE_ROWS)
        const names = await named(
          userId,
          by,
          shown.map(({ id }) => id),
        )
        return {
          hours,
          total: [...hours.values()].reduce((all, one) => sum(all, one), none),
          rows: shown.map((row, i) => ({ ...row, hours: new Map(row.hours), ...names[i]! })),
          omitted: rows.length - shown.length,
        }
      }),
    now,
  }
}

export type UsageOperations = ReturnType<typeof usageOperations>
