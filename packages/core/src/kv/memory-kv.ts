import { StorageError } from '../errors.js'
import type { PreparedCommit } from './commit.js'
import { applyCommit, prepareCommit } from './commit.js'
import type { Entry, Health, Key, KV, KVCapabilities, ListOptions, Page } from './kv.js'
import { decodeKey, encodeKey, rangeOf } from './kv.js'
import { sortedKeys } from './sorted-keys.js'

/** One key's state after a commit, in absolute terms, so that replaying an entry twice changes nothing. */
export interface LogEntry {
  /** The encoded key. */
  k: string
  /** The version; also on a delete, so that it is never given out again. */
  v: number
  /** The value as JSON text; null where only the log has it, absent on a delete and on a counter. */
  j?: string | null
  /** The fields of a counter. */
  c?: Readonly<Record<string, number>>
  /** Milliseconds since the epoch at which the value ends; absent = never. */
  x?: number
  /** Where the log keeps it: the log's own note, not part of what is kept. */
  at?: unknown
}

/** Whether an entry says that its key is gone. */
export const isDelete = (entry: LogEntry): boolean => entry.j === undefined && entry.c === undefined

/** Where an in-memory KV keeps what must outlive the process. Entries are shared with it: it may set `at`, and `j` to null and back. */
export interface KVLog {
  /** Why nothing can be read or written any more; absent while all is well. */
  readonly stopped?: StorageError | undefined
  /** All entries kept so far, oldest first; called once, before anything else. */
  load(): AsyncIterable<LogEntry>
  /**
   * Keeps the entries of one group of commits, all or none.
   * @throws StorageError with `outcome: 'none'` where nothing was kept, `'unknown'` where they may turn up when the log is loaded again
   */
  append(entries: LogEntry[]): Promise<void>
  /** The value of an entry whose `j` is null; nothing where the entry was forgotten in the meantime. */
  read(entry: LogEntry): Promise<string | undefined>
  /** Takes note that an entry counts no more: a later one has its key, or (`over`) its time has ended, and no older one may come back. */
  forget(entry: LogEntry, over: boolean): void
  health(): Promise<Health>
  close(): Promise<void>
}

/** Options of {@link memoryKV}. */
export interface MemoryKVOptions {
  /** Makes commits durable; absent = nothing outlives the process. */
  log?: KVLog
  /** What `kv.capabilities` says; default `{ writers: 'one-process', durability: 'none', driver: 'memory' }`. */
  capabilities?: KVCapabilities
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

interface Waiting {
  commit: PreparedCommit
  resolve(applied: boolean): void
  reject(error: unknown): void
}

/** Most commits in one group. */
const GROUP = 512

/**
 * A `KV` in memory: an ordered index and, with a `log`, group commit. One flush is in flight; what arrives meanwhile is the next.
 * @example const kv = await memoryKV()
 */
export async function memoryKV(options: MemoryKVOptions = {}): Promise<KV> {
  const { log, now = Date.now } = options
  const capabilities = options.capabilities ?? { writers: 'one-process', durability: 'none', driver: 'memory' }
  const state = new Map<string, LogEntry>()
  const keys = sortedKeys()
  /** Entries that have an end, and where the search for those whose time is over has got to. */
  const mortal = new Set<LogEntry>()
  let search = mortal.values()
  let version = 0
  let queue: Waiting[] = []
  let flushing = false
  let flushed: Promise<void> | undefined
  let closed: StorageError | undefined

  /** An entry counts no more. */
  const release = (entry: LogEntry, over: boolean): void => {
    mortal.delete(entry)
    log?.forget(entry, over)
  }

  const remove = (entry: LogEntry, over: boolean): void => {
    state.delete(entry.k)
    keys.delete(entry.k)
    release(entry, over)
  }

  const publish = (entry: LogEntry): void => {
    version = Math.max(version, entry.v)
    const before = state.get(entry.k)
    if (isDelete(entry)) {
      if (before) remove(before, false)
      return
    }
    if (before) release(before, false)
    else keys.add(entry.k)
    // Never a delete before it: a Map that loses and gets the same few keys again looks through what it lost, for microseconds.
    state.set(entry.k, entry)
    if (entry.x !== undefined) mortal.add(entry)
  }

  const isOver = (entry: LogEntry): boolean => entry.x !== undefined && entry.x <= now()

  /** Looks at two entries that have an end for each one that was written, so that none stays for long and no search takes long. */
  const bury = (): void => {
    for (let i = 0; i < 2 && mortal.size > 0; i++) {
      const { value: entry, done } = search.next()
      if (done) search = mortal.values()
      else if (isOver(entry)) remove(entry, true)
    }
  }

  if (log) for await (const entry of log.load()) publish(entry)

  const alive = (entry: LogEntry | undefined): LogEntry | undefined =>
    entry && !isDelete(entry) && !isOver(entry) ? entry : undefined

  const toEntry = <T>({ k, v, c, x }: LogEntry, json: string | undefined): Entry<T> => {
    const entry: Entry<T> = { key: decodeKey(k), value: (c ? { ...c } : JSON.parse(json!)) as T, version: String(v) }
    if (c) entry.counter = true
    if (x !== undefined) entry.expiresAt = x
    return entry
  }

  const recall = async <T>(entry: LogEntry): Promise<Entry<T> | null> => {
    const json = await log!.read(entry)
    return json === undefined ? find<T>(entry.k) : toEntry<T>(entry, json)
  }

  const find = <T>(k: string): Entry<T> | Promise<Entry<T> | null> | null => {
    if (log?.stopped) throw log.stopped
    const entry = alive(state.get(k))
    if (!entry) return null
    return entry.j === null ? recall<T>(entry) : toEntry<T>(entry, entry.j)
  }

  /** What a commit makes of the present state and of `pending` (the commits of the same group), or nothing if a check fails. */
  const evaluate = (commit: PreparedCommit, pending?: Map<string, LogEntry>): LogEntry[] | undefined => {
    const after = applyCommit(commit, (k) => {
      const entry = alive(pending?.get(k) ?? state.get(k))
      return entry ? { version: entry.v, json: entry.j, fields: entry.c } : null
    })
    if (!after) return undefined
    const v = ++version
    return Array.from(after, ([k, change]) => {
      const entry: LogEntry = { k, v }
      if (change?.fields) entry.c = change.fields
      else if (change) entry.j = change.json!
      if (change?.expiresAt !== undefined) entry.x = change.expiresAt
      return entry
    })
  }

  const flush = async (log: KVLog): Promise<void> => {
    while (queue.length > 0) {
      const group = queue.splice(0, GROUP)
      const pending = new Map<string, LogEntry>()
      const applied: Waiting[] = []
      const refused: Waiting[] = []
      for (const waiting of group)
        try {
          const entries = evaluate(waiting.commit, pending)
          if (!entries) refused.push(waiting)
          else {
            for (const entry of entries) pending.set(entry.k, entry)
            applied.push(waiting)
          }
        } catch (error) {
          waiting.reject(error)
        }
      try {
        if (log.stopped) throw log.stopped
        if (pending.size > 0) await log.append([...pending.values()])
        for (const entry of pending.values()) {
          publish(entry)
          bury()
        }
        for (const { resolve } of applied) resolve(true)
        // Only now: what they lost to is kept, and not only about to be.
        for (const { resolve } of refused) resolve(false)
      } catch (cause) {
        const error = StorageError.is(cause) ? cause : new StorageError('The log failed', 'unknown', { cause })
        for (const { reject } of [...applied, ...refused]) reject(error)
      }
    }
    // In the same turn as the last look at the queue: a commit that comes later starts the next flush.
    flushing = false
  }

  return {
    capabilities,
    async get<T>(key: Key) {
      return find<T>(encodeKey(key))
    },
    async getMany<T>(wanted: Key[]) {
      return Promise.all(wanted.map((key) => find<T>(encodeKey(key))))
    },
    async list<T>(prefix: Key, options?: ListOptions): Promise<Page<T>> {
      const { low, high, limit, reverse } = rangeOf(prefix, options)
      const found: string[] = []
      for (const k of keys.from(reverse ? high : low, reverse)) {
        if (k === low) continue
        if (k <= low || k >= high || found.length > limit) break
        if (alive(state.get(k))) found.push(k)
      }
      const next = found.length > limit ? decodeKey(found[limit - 1]!) : undefined
      // One that goes while the others are read is left out.
      const items = (await Promise.all(found.slice(0, limit).map((k) => find<T>(k)))).filter((item) => item !== null)
      return next ? { items, next } : { items }
    },
    async commit(commit) {
      if (closed) throw closed
      if (!log) {
        const entries = evaluate(prepareCommit(commit))
        for (const entry of entries ?? []) {
          publish(entry)
          bury()
        }
        return entries !== undefined
      }
      const prepared = prepareCommit(commit)
      return new Promise<boolean>((resolve, reject) => {
        queue.push({ commit: prepared, resolve, reject })
        if (flushing) return
        flushing = true
        flushed = flush(log)
      })
    },
    async health() {
      return closed ? { ok: false, reason: closed.message } : (log?.health() ?? { ok: true })
    },
    async close() {
      closed ??= new StorageError('The store is closed', 'none')
      await flushed
      await log?.close()
    },
  }
}
