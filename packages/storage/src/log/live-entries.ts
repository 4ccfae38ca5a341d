import type { LogEntry } from '@turnpike/core'
import { isDelete } from '@turnpike/core/internal'
import type { Part } from './item.js'
import type { Name } from './segments.js'

/** An item of the log and its live entries. */
export interface Segment extends Name {
  /** The entries that are not obsolete. */
  live: Set<LogEntry>
  /** The sum of the sizes of the entries in `live`. */
  weight: number
  /** The value of `weight` when the item was written. */
  size: number
  /** Whether it has form 2. */
  isOld: boolean
  /** Whether a value could not be read from it. */
  damaged: boolean
}

/** A block of an item, where the log stores an entry. */
export interface Block extends Pick<Part, 'at' | 'bytes' | 'sum'> {
  of: Segment
}

export const segmentOf = (name: Name): Segment => ({
  ...name,
  live: new Set(),
  weight: 0,
  size: 0,
  isOld: false,
  damaged: false,
})

export const blockOf = (entry: LogEntry): Block => entry.at as Block

/** The approximate size of an entry in its item, in characters. @param n the length of its value */
const sizeOf = ({ k, c }: LogEntry, n: number): number => k.length + n + (c ? 24 * Object.keys(c).length : 0) + 24

/** Makes an entry obsolete. @returns false if it was already */
export function detach(entry: LogEntry): boolean {
  const segment = blockOf(entry).of
  const wasLive = segment.live.delete(entry)
  if (wasLive) segment.weight -= sizeOf(entry, entry.n!)
  return wasLive
}

/** Adds the entries of an item that was read or written to its segment. @param isLive whether an entry is not obsolete; it is called once for each */
export function attach(segment: Segment, parts: Part[], isLive: (entry: LogEntry) => boolean): void {
  for (const { entries, lengths, at, bytes, sum } of parts) {
    const block: Block = { of: segment, at, bytes, sum }
    segment.isOld ||= sum === undefined
    let begin = 0
    for (const [i, entry] of entries.entries()) {
      const length = lengths[i]!
      segment.size += sizeOf(entry, length)
      if (isLive(entry)) {
        entry.at = block
        entry.p = begin
        entry.n = length
        segment.live.add(entry)
        segment.weight += sizeOf(entry, length)
      }
      begin += length
    }
  }
}

/** Turns an entry into a delete, so that no earlier entry of its key reappears. */
export function turnIntoDelete(entry: LogEntry): void {
  const segment = blockOf(entry).of
  segment.weight -= sizeOf(entry, entry.n!)
  entry.j = undefined
  entry.c = undefined
  entry.x = undefined
  entry.n = 0
  segment.weight += sizeOf(entry, 0)
}

/** The live entries of consecutive items that their successor needs, oldest first: not a delete of a key that a later entry has, nor any `withoutDeletes`. */
export function neededEntries(run: readonly Segment[], withoutDeletes: boolean): LogEntry[] {
  const needed: LogEntry[] = []
  const later = new Set<string>()
  for (const segment of run.toReversed())
    for (const entry of [...segment.live].toReversed()) {
      const isObsolete = isDelete(entry) && (withoutDeletes || later.has(entry.k))
      later.add(entry.k)
      if (!isObsolete) needed.push(entry)
    }
  return needed.toReversed()
}
