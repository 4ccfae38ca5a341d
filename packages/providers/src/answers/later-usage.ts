import { isObject } from '@turnpike/core/helpers'

type Report = Record<string, unknown>

/** Most fields of an object, and items of a list, in a report that are kept: vendors tell some ten, and each later report is joined to all of them. */
const MOST_FIELDS = 64
/** Most values of a report that are kept in all, and characters of each text and name: they stay in memory until the answer ends. */
const MOST_VALUES = 1_000
const MOST_LETTERS = 200

/** A report with what is kept of it. */
export function firstFields<Value>(report: Value, left = { values: MOST_VALUES }): Value {
  if (typeof report !== 'object' || report === null) return report
  const kept: [name: string, value: unknown][] = []
  for (const [name, value] of Object.entries(report).slice(0, MOST_FIELDS)) {
    // A part of a text would keep the whole in memory.
    if (name.length > MOST_LETTERS || (typeof value === 'string' && value.length > MOST_LETTERS)) continue
    if (left.values-- <= 0) break
    kept.push([name, firstFields(value as unknown, left)])
  }
  return (Array.isArray(report) ? kept.map(([, value]) => value) : Object.fromEntries(kept)) as Value
}

/**
 * Joins two reports of one answer of OpenAI's or Claude's family. Counts are cumulative, so the larger one wins: some servers report 0 at the end, or
 * nothing, for what they told at the start. Of other values, the later one does.
 */
export const laterUsage = <Joined extends object>(earlier: Joined | undefined, later: Joined): Joined =>
  firstFields(earlier ? joinedOf(earlier, later) : later)

function joinedOf<Joined extends object>(earlier: Joined, later: Joined): Joined {
  const joined: Report = { ...(earlier as Report) }
  for (const [key, value] of Object.entries(later)) {
    const known = joined[key]
    if (value === null || value === undefined) continue
    if (typeof value === 'number' && typeof known === 'number') joined[key] = Math.max(known, value)
    else joined[key] = isObject(value) && isObject(known) ? joinedOf(known, value) : value
  }
  return joined as Joined
}
