import type { LogEntry } from '@turnpike/core'
import { isDelete } from '@turnpike/core/internal'
import type { Name } from './segments.js'
import { sizeOf } from './segments.js'

/** An item of the log and its live entries. */
export interface Segment extends Name {
  /** The entries that are not obsolete, with their sizes. */
  live: Map<LogEntry, number>
  /** The sum of the sizes in `live`. */
  weight: number
  /** The value of `weight` when the item was written. */
  size: number
}

export const segmentOf = (name: Name): Segment => ({ ...name, live: new Map(), weight: 0, size: 0 })

export const attach = (segment: Segment, entry: LogEntry, size = sizeOf(entry)): void => {
  entry.at = segment
  segment.live.set(entry, size)
  segment.weight += size
}

export const detach = (entry: LogEntry): void => {
  const segment = entry.at as Segment
  segment.weight -= segment.live.get(entry) ?? 0
  segment.live.delete(entry)
}

/** The live entries of consecutive items that their successor needs, oldest first: not a delete of a key that a later entry has, nor any `withoutDeletes`. */
export function neededEntries(run: readonly Segment[], withoutDeletes: boolean): LogEntry[] {
  const needed: LogEntry[] = []
  const later = new Set<string>()
  for (const segment of run.toReversed())
    for (const entry of [...segment.live.keys()].toReversed()) {
      const isObsolete = isDelete(entry) && (withoutDeletes || later.has(entry.k))
      later.add(entry.k)
      if (!isObsolete) needed.push(entry)
    }
  return needed.toReversed()
}
