import type { LogEntry } from '@turnpike/core'

/** A cache of entry values: evicted values have to be read from the storage. */
export interface ValueCache {
  /** Caches the value of an entry, if it has one, and evicts the oldest ones beyond the limit by setting their `j` to null. */
  add(entry: LogEntry): void
  /** Whether values of so many characters can be added without an eviction. */
  fits(size: number): boolean
  /** Removes an obsolete entry from the cache. */
  delete(entry: LogEntry): void
}

/** Makes a cache. @param room its size in characters */
export function valueCache(room: number): ValueCache {
  const cached = new Set<LogEntry>()
  // One iterator is kept: a new one would first skip all the deleted slots at the front of the Set.
  let oldest = cached.values()
  return {
    add(entry) {
      if (typeof entry.j !== 'string') return
      cached.add(entry)
      room -= entry.j.length
      while (room < 0) {
        const { value, done } = oldest.next()
        if (done) {
          oldest = cached.values()
          continue
        }
        cached.delete(value)
        room += value.j!.length
        value.j = null
      }
    },
    fits: (size) => size <= room,
    delete(entry) {
      if (cached.delete(entry)) room += entry.j!.length
    },
  }
}
