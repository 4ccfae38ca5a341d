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
  // Goes on where it was: to begin anew, a Set would pass by all that it has lost at its front, each time.
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
    delete(entry) {
      if (cached.delete(entry)) room += entry.j!.length
    },
  }
}
