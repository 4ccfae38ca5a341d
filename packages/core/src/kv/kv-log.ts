import type { StorageError } from '../errors.js'
import type { Health } from './kv.js'

/** The state of one key after a commit. It is absolute and not a difference, so replaying an entry is idempotent. */
export interface LogEntry {
  /** The encoded key. */
  k: string
  /** The version. A delete has one too, so that it is never reused. */
  v: number
  /** The value as JSON text; null if only the log has it; absent for a delete and for a counter. */
  j?: string | null
  /** The fields of a counter. */
  c?: Readonly<Record<string, number>>
  /** When the value expires, in milliseconds since the epoch; absent = never. */
  x?: number
  /** Where the log stores the entry: private to the log, and not stored itself. */
  at?: unknown
}

/** Whether an entry is the delete of its key. */
export const isDelete = (entry: LogEntry): boolean => entry.j === undefined && entry.c === undefined

/** The durable log of an in-memory KV. Both share the entry objects: the log may set `at`, drop `j` by setting it to null, and restore it. */
export interface KVLog {
  /** Why the log can no longer be read or written; absent while it works. */
  readonly stopped?: StorageError | undefined
  /** All stored entries, oldest first; called once, before any other method. */
  load(): AsyncIterable<LogEntry>
  /**
   * Stores the entries of one group of commits atomically.
   * @throws StorageError with `outcome: 'none'` if nothing was stored, `'unknown'` if the entries may appear when the log is loaded again
   */
  append(entries: LogEntry[]): Promise<void>
  /** Reads the value of an entry whose `j` is null; undefined if the entry was forgotten in the meantime. */
  read(entry: LogEntry): Promise<string | undefined>
  /** About how many characters the value of an entry has whose `j` is null. */
  sizeOf(entry: LogEntry): number
  /** Marks an entry as obsolete: a later one replaced it or, where `over` is true, it expired, and no older one of its key may reappear. */
  forget(entry: LogEntry, over: boolean): void
  health(): Promise<Health>
  close(): Promise<void>
}
