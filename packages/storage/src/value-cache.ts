import type { LogEntry } from '@turnpike/core'

/** The entries whose values are in memory, beside those that only the storage has. */
export interface ValueCache {
  /** Keeps the value of an entry, if it has one there; the oldest go where there is no room: their `j` is null from then on. */
  add(entry: LogEntry): void
  /** Gives up the room of an entry whose value is needed no more. */
  delete(entry: LogEntry): void
}

/** @param room characters of values that may stay */
export function valueCache(room: number): ValueCache {
  const cached = new Set<LogEntry>()
  const release = (entry: LogEntry): void => {
    if (cached.delete(entry)) room += entry.j!.length
  }
  return {
    add(entry) {
      if (typeof entry.j !== 'string') return
      cached.add(entry)
      room -= entry.j.length
      if (room >= 0) return
      for (const oldest of cached) {
        release(oldest)
        oldest.j = null
        if (room >= 0) return
      }
    },
    delete: release,
  }
}
