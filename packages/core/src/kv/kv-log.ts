import type { StorageError } from '../errors.js'
import type { Health } from './kv.js'

/** The state of one key after a commit. It is absolute and not a difference, so replaying an entry is idempotent. */
export interface LogEntry {
  /** The encoded key. */
  k: string
  /** The version. A delete has one too, so that it is never reused. */
  v: number
  /** The value as JSON text; null if only the log has it; absent for a delete and for a counter. */
  j?: string | null | undefined
  /** The fields of a counter. */
  c?: Readonly<Record<string, number>> | undefined
  /** When the value expires, in milliseconds since the epoch; absent = never. */
  x?: number | undefined
  /** The length of the value in characters; the log sets it before it sets `j` to null. */
  n?: number | undefined
  /** Where the log stores the entry: private to the log. */
  at?: unknown
  /** Where the value begins there: private to the log. */
  p?: number | undefined
}

/** Makes an entry. All have the same fields, so that they take the least memory and V8 the fastest paths. */
export const logEntry = (
  k: string,
  v: number,
  j: string | null | undefined,
  c: Readonly<Record<string, number>> | undefined,
  x: number | undefined,
): LogEntry => ({ k, v, j, c, x, n: 0, at: undefined, p: 0 })

/** Whether an entry is the delete of its key. */
export const isDelete = (entry: LogEntry): boolean => entry.j === undefined && entry.c === undefined

/** The durable log of an in-memory KV. Both share the entry objects: the log may set `n`, `at` and `p`, drop `j` by setting it to null, and restore it. */
export interface KVLog {
  /** Why the log can no longer be read or written; absent while it works. */
  readonly stopped?: StorageError | undefined
  /** All stored entries, oldest first, in groups of any size; called once, before any other method. */
  load(): AsyncIterable<LogEntry[]>
  /**
   * Stores the entries of one group of commits atomically.
   * @throws StorageError with `outcome: 'none'` if nothing was stored, `'unknown'` if the entries may appear when the log is loaded again
   */
  append(entries: LogEntry[]): Promise<void>
  /** Reads the value of an entry whose `j` is null; undefined if the entry was forgotten, or the log has moved it, in the meantime: then look again. */
  read(entry: LogEntry): Promise<string | undefined>
  /** Marks an entry as obsolete: a later one replaced it or, where `over` is true, it expired, and no older one of its key may reappear. */
  forget(entry: LogEntry, over: boolean): void
  health(): Promise<Health>
  close(): Promise<void>
}
