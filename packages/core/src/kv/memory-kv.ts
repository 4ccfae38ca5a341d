import { MANY_ENTRIES, PAGE_BYTES } from '../conventions.js'
import { StorageError } from '../errors.js'
import type { PreparedCommit } from './commit.js'
import { applyCommit, prepareCommit } from './commit.js'
import type { Entry, Key, KV, KVCapabilities, ListOptions, Page } from './kv.js'
import type { KVLog, LogEntry } from './kv-log.js'
import { isDelete, logEntry } from './kv-log.js'
import { decodeKey, encodeKey, rangeOf } from './kv.js'
import { sortedKeys } from './sorted-keys.js'

/** Options of {@link memoryKV}. */
export interface MemoryKVOptions {
  /** Makes commits durable; absent = the data is lost when the process ends. */
  log?: KVLog
  /** The value of `kv.capabilities`; default `{ writers: 'one-process', durability: 'none', driver: 'memory' }`. */
  capabilities?: KVCapabilities
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

interface Waiting {
  commit: PreparedCommit
  resolve(applied: boolean): void
  reject(error: unknown): void
}

/** Maximum number of commits in one group. */
const GROUP = 512

/**
 * A `KV` in memory: an ordered index and, with a `log`, group commit. At most one flush is in flight; commits that arrive meanwhile form
 * the next group.
 * @example const kv = await memoryKV()
 */
export async function memoryKV(options: MemoryKVOptions = {}): Promise<KV> {
  const { log, now = Date.now } = options
  const capabilities = options.capabilities ?? { writers: 'one-process', durability: 'none', driver: 'memory' }
  const state = new Map<string, LogEntry>()
  const keys = sortedKeys()
  let loading = true
  /** Entries with an expiry time, and the position of the incremental scan for expired ones. */
  const expiring = new Set<LogEntry>()
  let scan = expiring.values()
  let version = 0
  let queue: Waiting[] = []
  let flushing = false
  let flushed: Promise<void> | undefined
  let closed: StorageError | undefined

  /** Marks an entry as obsolete. */
  const release = (entry: LogEntry, over: boolean): void => {
    expiring.delete(entry)
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
    else if (!loading) keys.add(entry.k)
    // No delete before the set: a Map in which the same few keys are deleted and added again spends microseconds on skipping the deleted slots.
    state.set(entry.k, entry)
    if (entry.x !== undefined) expiring.add(entry)
  }

  const isExpired = (entry: LogEntry): boolean => entry.x !== undefined && entry.x <= now()

  /** Checks two entries with an expiry time per written entry: the work per write is constant, and expired entries are removed in time. */
  const removeExpired = (): void => {
    for (let i = 0; i < 2 && expiring.size > 0; i++) {
      const { value: entry, done } = scan.next()
      if (done) scan = expiring.values()
      else if (isExpired(entry)) remove(entry, true)
    }
  }

  if (log) for await (const entries of log.load()) for (const entry of entries) publish(entry)
  keys.fill(state.keys())
  loading = false

  const ifLive = (entry: LogEntry | undefined): LogEntry | undefined =>
    entry && !isDelete(entry) && !isExpired(entry) ? entry : undefined

  /** The size of a value: characters of its JSON. */
  const sizeOf = (entry: LogEntry | undefined): number => (entry?.j === null ? entry.n! : (entry?.j?.length ?? 0))

  const toEntry = <T>({ k, v, c, x }: LogEntry, json: string | undefined): Entry<T> => {
    const entry: Entry<T> = { key: decodeKey(k), value: (c ? { ...c } : JSON.parse(json!)) as T, version: String(v) }
    if (c) entry.counter = true
    if (x !== undefined) entry.expiresAt = x
    return entry
  }

  const readFromLog = async <T>(entry: LogEntry): Promise<Entry<T> | null> => {
    const json = await log!.read(entry)
    return json === undefined ? find<T>(entry.k) : toEntry<T>(entry, json)
  }

  const find = <T>(k: string): Entry<T> | Promise<Entry<T> | null> | null => {
    if (log?.stopped) throw log.stopped
    const entry = ifLive(state.get(k))
    if (!entry) return null
    return entry.j === null ? readFromLog<T>(entry) : toEntry<T>(entry, entry.j)
  }

  /** The entries that a commit writes, given the current state and `pending`, the earlier commits of its group; undefined if a check fails. */
  const evaluate = (commit: PreparedCommit, pending?: Map<string, LogEntry>): LogEntry[] | undefined => {
    const after = applyCommit(commit, (k) => {
      const entry = ifLive(pending?.get(k) ?? state.get(k))
      return entry ? { version: entry.v, json: entry.j, fields: entry.c } : null
    })
    if (!after) return undefined
    const v = ++version
    return Array.from(after, ([k, change]) => logEntry(k, v, change?.json, change?.fields, change?.expiresAt))
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
          removeExpired()
        }
        for (const { resolve } of applied) resolve(true)
        // Not earlier: the commit that made their check fail is durable only now.
        for (const { resolve } of refused) resolve(false)
      } catch (cause) {
        const error = StorageError.is(cause) ? cause : new StorageError('The log failed', 'unknown', { cause })
        for (const { reject } of [...applied, ...refused]) reject(error)
      }
    }
    // In the same tick as the last check of the queue, so that a later commit starts the next flush.
    flushing = false
  }

  return {
    capabilities,
    async get<T>(key: Key) {
      return find<T>(encodeKey(key))
    },
    async getMany<T>(wanted: Key[], { page = false } = {}) {
      const found: (Entry<T> | Promise<Entry<T> | null> | null)[] = []
      let size = 0
      for (const key of wanted) {
        if (page && size >= PAGE_BYTES) break
        const k = encodeKey(key)
        if (page) size += sizeOf(ifLive(state.get(k)))
        found.push(find<T>(k))
      }
      return Promise.all(found)
    },
    async list<T>(prefix: Key, options?: ListOptions): Promise<Page<T>> {
      const { low, high, limit, reverse } = rangeOf(prefix, options)
      const found: string[] = []
      let size = 0
      let next: Key | undefined
      for (const k of keys.from(reverse ? high : low, reverse)) {
        if (k === low) continue
        if (k <= low || k >= high) break
        const entry = ifLive(state.get(k))
        if (!entry) continue
        if (found.length === limit || size >= PAGE_BYTES) {
          next = decodeKey(found.at(-1)!)
          break
        }
        found.push(k)
        size += sizeOf(entry)
      }
      // Entries that are deleted while the others are read are left out.
      const items = (await Promise.all(found.map((k) => find<T>(k)))).filter((item) => item !== null)
      return next ? { items, next } : { items }
    },
    async commit(commit) {
      if (closed) throw closed
      if (!log) {
        const entries = evaluate(prepareCommit(commit))
        for (const entry of entries ?? []) {
          publish(entry)
          removeExpired()
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
      if (closed) return { ok: false, reason: closed.message }
      const health = (await log?.health()) ?? { ok: true }
      if (!log || state.size < MANY_ENTRIES) return health
      // In steps, so that pages that show it do not change with each commit.
      const least = Math.floor(state.size / MANY_ENTRIES) * MANY_ENTRIES
      const warning = `The store has at least ${least.toLocaleString('en')} entries. It has all of them in memory and is made for up to a million; for more use SQLite or PostgreSQL: "npm run storage" moves a store (docs/storage.md). USAGE_DAYS is how long usage records are kept`
      return { ...health, warnings: [...(health.warnings ?? []), warning] }
    },
    async close() {
      closed ??= new StorageError('The store is closed', 'none')
      await flushed
      await log?.close()
    },
  }
}
