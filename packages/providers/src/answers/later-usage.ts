import { isObject } from '@turnpike/core/internal'

type Report = Record<string, unknown>

/**
 * Joins two reports of one answer of OpenAI's or Claude's family. Counts are cumulative, so the larger one wins: some servers report 0 at the end, or
 * nothing, for what they told at the start. Of other values, the later one does.
 */
export function laterUsage<Joined extends object>(earlier: Joined | undefined, later: Joined): Joined {
  if (!earlier) return later
  const joined: Report = { ...(earlier as Report) }
  for (const [key, value] of Object.entries(later)) {
    const known = joined[key]
    if (value === null || value === undefined) continue
    if (typeof value === 'number' && typeof known === 'number') joined[key] = Math.max(known, value)
    else joined[key] = isObject(value) && isObject(known) ? laterUsage(known, value) : value
  }
  return joined as Joined
}
