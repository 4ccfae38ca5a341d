import { StorageError } from '../errors.js'
import type { Commit, Entry, Key, KV, KVCapabilities, ListOptions, Page } from './kv.js'
import { decodeKey, encodeKey, MAX_PAGE } from './kv.js'
import { sortedKeys } from './sorted-keys.js'

/** One key's state after a commit, in absolute terms, so that replaying an entry twice changes nothing. */
export interface LogEntry {
  /** The encoded key. */
  k: string
  /** The version; also on a delete, so that it is never given out again. */
  v: number
  /** The value as JSON text; absent on a delete and on a counter. */
  j?: string
  /** The fields of a counter. */
  c?: Record<string, number>
  /** Milliseconds since the epoch at which the value ends; absent = never. */
  x?: number
}

/** Where an in-memory KV keeps what must outlive the process. */
export interface KVLog {
  /** All entries kept so far, oldest first; called once, before any `append`. */
  load(): AsyncIterable<LogEntry>
  /**
   * Keeps the entries of one group of commits, all or none.
   * @throws StorageError with `outcome: 'none'` where nothing was kept; after any other error the KV stops.
   */
  append(entries: LogEntry[]): Promise<void>
  /**
   * Replaces everything kept so far by `entries`.
   * @throws StorageError with `outcome: 'none'` where all is as before; after any other error the KV stops.
   */
  rewrite(entries: Iterable<LogEntry>): Promise<void>
  close(): Promise<void>
}

export interface MemoryKVOptions {
  /** Makes commits durable; absent = nothing outlives the process. */
  log?: KVLog
  /** What `kv.capabilities` says; default `{ writers: 'one-process', durability: 'none', driver: 'memory' }`. */
  capabilities?: KVCapabilities
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

interface Waiting {
  commit: Commit
  resolve(applied: boolean): void
  reject(error: unknown): void
}

/** Entries beyond the live ones after which the log is rewritten. */
const SLACK = 10_000
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
  let version = 0
  let logged = 0
  let rewriteAfter = SLACK
  let queue: Waiting[] = []
  let flushing = false
  let flushed: Promise<void> | undefined
  let stopped: StorageError | undefined

  const publish = (entry: LogEntry): void => {
    version = Math.max(version, entry.v)
    if (entry.j === undefined && entry.c === undefined) {
      state.delete(entry.k)
      keys.delete(entry.k)
    } else {
      if (!state.has(entry.k)) keys.add(entry.k)
      state.set(entry.k, entry)
    }
  }

  if (log)
    for await (const entry of log.load()) {
      publish(entry)
      logged++
    }

  const alive = (entry: LogEntry | undefined): LogEntry | undefined =>
    entry && (entry.j ?? entry.c) !== undefined && (entry.x === undefined || entry.x > now()) ? entry : undefined

  const toEntry = <T>(entry: LogEntry): Entry<T> => ({
    key: decodeKey(entry.k),
    value: (entry.j === undefined ? { ...entry.c } : JSON.parse(entry.j)) as T,
    version: String(entry.v),
  })

  /** What `commit` makes of the present state and of `pending` (the commits of the same group), or nothing if a check fails. */
  const evaluate = (commit: Commit, pending?: Map<string, LogEntry>): LogEntry[] | undefined => {
    const present = (k: string): LogEntry | undefined => alive(pending?.get(k) ?? state.get(k))
    for (const { key, version: wanted } of commit.check ?? []) {
      const entry = present(encodeKey(key))
      if ((entry ? String(entry.v) : null) !== wanted) return undefined
    }
    const next = ++version
    const entries = new Map<string, LogEntry>()
    const add = (entry: LogEntry): void => void entries.set(entry.k, entry)
    for (const { key, value, expiresAt } of commit.set ?? []) {
      const entry: LogEntry = { k: encodeKey(key), v: next, j: JSON.stringify(value) }
      if (expiresAt !== undefined) entry.x = expiresAt
      if (present(entry.k)?.c) throw new TypeError(`${entry.k} is a counter and cannot be set`)
      add(entry)
    }
    for (const key of commit.del ?? []) add({ k: encodeKey(key), v: next })
    for (const { key, add: amounts } of commit.sum ?? []) {
      const k = encodeKey(key)
      const before = entries.get(k) ?? present(k)
      if (before?.j !== undefined) throw new TypeError(`${k} holds a value and cannot be summed`)
      const fields = { ...before?.c }
      for (const [field, amount] of Object.entries(amounts)) {
        fields[field] = (fields[field] ?? 0) + amount
        if (!Number.isSafeInteger(fields[field])) throw new RangeError(`${k}.${field} left the safe integers`)
      }
      add({ k, v: next, c: fields })
    }
    return [...entries.values()]
  }

  /** Shortens the log to what is live. One that could not be is as good as before, only longer. */
  const rewrite = async (log: KVLog): Promise<void> => {
    try {
      // The entry without a key keeps the last version, should it have been of a key that is gone.
      await log.rewrite([...state.values(), { k: '', v: version }])
      logged = state.size
    } catch (error) {
      if (!(StorageError.is(error) && error.outcome === 'none')) throw error
      rewriteAfter = logged + SLACK
    }
  }

  const flush = async (log: KVLog): Promise<void> => {
    while (queue.length > 0 && !stopped) {
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
        if (applied.length > 0) await log.append([...pending.values()])
        for (const entry of pending.values()) publish(entry)
        logged += pending.size
        for (const { resolve } of applied) resolve(true)
        // Only now: what they lost to is kept, and not only about to be.
        for (const { resolve } of refused) resolve(false)
        if (logged > 2 * state.size + SLACK && logged > rewriteAfter) await rewrite(log)
      } catch (cause) {
        const error = StorageError.is(cause) ? cause : new StorageError('The log failed', 'unknown', { cause })
        if (error.outcome === 'unknown') stopped = error
        for (const { reject } of [...applied, ...refused]) reject(error)
      }
    }
    for (const { reject } of queue.splice(0)) reject(stopped)
    // In the same turn as the last look at the queue: a commit that comes later starts the next flush.
    flushing = false
  }

  return {
    capabilities,
    async get<T>(key: Key) {
      const entry = alive(state.get(encodeKey(key)))
      return entry ? toEntry<T>(entry) : null
    },
    async getMany<T>(wanted: Key[]) {
      return wanted.map((key) => {
        const entry = alive(state.get(encodeKey(key)))
        return entry ? toEntry<T>(entry) : null
      })
    },
    async list<T>(prefix: Key, options: ListOptions = {}): Promise<Page<T>> {
      const { after, limit = 100, reverse = false } = options
      const most = Math.min(Math.max(limit, 1), MAX_PAGE)
      const start = `${encodeKey(prefix)}/`
      const last = after && encodeKey(after)
      const items: Entry<T>[] = []
      for (const k of keys.from(last ?? (reverse ? `${start}\uffff` : start), reverse)) {
        if (k === last) continue
        if (!k.startsWith(start)) break
        const entry = alive(state.get(k))
        if (!entry) continue
        if (items.length === most) return { items, next: items.at(-1)!.key }
        items.push(toEntry<T>(entry))
      }
      return { items }
    },
    async commit(commit) {
      if (stopped) throw stopped
      if (!log) {
        const entries = evaluate(commit)
        entries?.forEach(publish)
        return entries !== undefined
      }
      return new Promise<boolean>((resolve, reject) => {
        queue.push({ commit, resolve, reject })
        if (flushing) return
        flushing = true
        flushed = flush(log)
      })
    },
    async health() {
      return stopped ? { ok: false, reason: stopped.message } : { ok: true }
    },
    async close() {
      await flushed
      stopped ??= new StorageError('The store is closed', 'none')
      await log?.close()
    },
  }
}
