import { isObject } from '@turnpike/core/helpers'

type Report = Record<string, unknown>

/** Most fields of a report, and of each object in it, that are kept: vendors tell some ten, and each later report is joined to all of them. */
const MOST_FIELDS = 64

/** A report with its first fields. */
export function firstFields<Value>(report: Value): Value {
  if (!isObject(report)) return report
  const fields = Object.entries(report)
  return Object.fromEntries(fields.slice(0, MOST_FIELDS).map(([name, value]) => [name, firstFields(value)])) as Value
}

/**
 * Joins two reports of one answer of OpenAI's or Claude's family. Counts are cumulative, so the larger one wins: some servers report 0 at the end, or
 * nothing, for what they told at the start. Of other values, the later one does.
 */
export function laterUsage<Joined extends object>(earlier: Joined | undefined, later: Joined): Joined {
  if (!earlier) return firstFields(later)
  const joined: Report = { ...(earlier as Report) }
  let left = MOST_FIELDS - Object.keys(joined).length
  for (const [key, value] of Object.entries(later)) {
    const known = joined[key]
    if (value === null || value === undefined || (known === undefined && left-- <= 0)) continue
    if (typeof value === 'number' && typeof known === 'number') joined[key] = Math.max(known, value)
    else joined[key] = isObject(value) && isObject(known) ? laterUsage(known, value) : firstFields(value)
  }
  return joined as Joined
}
