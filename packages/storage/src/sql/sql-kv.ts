import type { Commit, Entry, Key, KV, KVCapabilities, ListOptions, Page } from '@turnpike/core'
import type { KeyRange, PreparedCommit } from '@turnpike/core/internal'
import { StorageError } from '@turnpike/core'
import { decodeKey, encodeKey, prepareCommit, rangeOf } from '@turnpike/core/internal'
import type { Change, Outcome, Row } from './sql-commit.js'
import { evaluate } from './sql-commit.js'
import { boundedCalls } from '../log/storage-like.js'

/** The format of the table, stored as the value of the row with the empty key. */
export const FORMAT = 1

/** Computes the changes of a transaction. They share one version, which no other transaction has. */
export type Decide = (rows: Row[]) => { changes: Change[]; version: string }

/** A row of a page; without its value where those before have `PAGE_BYTES`, and the page ends before it. */
export type PageRow = Omit<Row, 'value'> & { value: string | null }

/** The part of a store that is specific to a database. Rows that have expired at `now` are left out. Errors are `StorageError`s. */
export interface SqlEngine {
  capabilities: KVCapabilities
  /** @param page whether the rows are those of a page, in the order of `keys` */
  read(keys: string[], now: number, page: boolean): Promise<PageRow[]>
  page(range: KeyRange, now: number): Promise<PageRow[]>
  /**
   * Runs a serialisable transaction on `keys`.
   * `decide` gets the current rows and returns the changes and their version; it may be called again after a failure.
   */
  write(keys: string[], now: number, decide: Decide): Promise<void>
  /** Removes at most `limit` expired rows. @returns the number of removed rows */
  sweep(now: number, limit: number): Promise<number>
  /** Rejects if the database does not accept writes. */
  ping(): Promise<void>
  close(): Promise<void>
}

interface Waiting {
  commit: PreparedCommit
  resolve(applied: boolean): void
  reject(error: unknown): void
}

/** Limits of one transaction: commits, and characters of JSON after which no further commit is added. */
const GROUP = 512
const GROUP_SIZE = 4_000_000
const SWEEP_EVERY = 60_000
const SWEEP_ROWS = 500
/** Runs a call with the time-out of `health`. */
const bounded = boundedCalls(2_000)

const keysOf = ({ check, set, del, sum }: PreparedCommit): string[] => [
  ...[...check, ...set, ...sum].map(({ k }) => k),
  ...del,
]

const toEntry = <T>({ k, version, value, counter, expires_at }: PageRow): Entry<T> => {
  const entry: Entry<T> = { key: decodeKey(k), value: JSON.parse(value!) as T, version }
  if (counter) entry.counter = true
  if (expires_at !== null) entry.expiresAt = Number(expires_at)
  return entry
}

/** Throws unless `format`, the value of the row with the empty key, is supported. */
export function assertFormat(format: string | undefined, store: string): void {
  if (Number(format) !== FORMAT)
    throw new StorageError(
      `${store} has format ${format}, and this version of @turnpike/storage reads format ${FORMAT}: use the version that wrote it`,
      'none',
    )
}

/** A `KV` on an SQL engine, with group commit: one transaction is in flight, and commits that arrive meanwhile form the next one. */
export function sqlKV(engine: SqlEngine, now: () => number = Date.now): KV {
  const queue: Waiting[] = []
  let flushing: Promise<void> | undefined
  let sweepAt = now() + SWEEP_EVERY
  let closed: Promise<void> | undefined
  let ping: Promise<void> | undefined

  const assertOpen = (): void => {
    if (closed) throw new StorageError('The store is closed', 'none')
  }

  const nextGroup = (): Waiting[] => {
    let count = 0
    for (let size = 0; count < Math.min(queue.length, GROUP) && size < GROUP_SIZE; count++)
      for (const { json } of queue[count]!.commit.set) size += json.length
    return queue.splice(0, count)
  }

  const write = async (group: Waiting[]): Promise<void> => {
    const commits = group.map(({ commit }) => commit)
    const keys = [...new Set(commits.flatMap(keysOf))]
    const time = now()
    let outcomes: Outcome[] = []
    try {
      await engine.write(keys, time, (rows) => {
        const result = evaluate(commits, rows, time)
        outcomes = result.outcomes
        return { changes: result.changes, version: crypto.randomUUID() }
      })
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    for (const [i, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[i]!
      if (typeof outcome === 'boolean') resolve(outcome)
      else reject(outcome)
    }
  }

  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      // Collects all commits of this iteration of the event loop.
      await new Promise(setImmediate)
      await write(nextGroup())
      if (now() < sweepAt) continue
      // Errors are ignored: a later sweep removes the rest.
      const swept = await engine.sweep(now(), SWEEP_ROWS).catch(() => 0)
      if (swept < SWEEP_ROWS) sweepAt = now() + SWEEP_EVERY
    }
    // In the same tick as the last check of the queue, so that a later commit starts the next flush.
    flushing = undefined
  }

  const getMany = async <T>(keys: Key[], { page = false } = {}): Promise<(Entry<T> | null)[]> => {
    assertOpen()
    const wanted = keys.map(encodeKey)
    const rows = new Map((await engine.read([...new Set(wanted)], now(), page)).map((row) => [row.k, row]))
    const found: (Entry<T> | null)[] = []
    for (const k of wanted) {
      const row = rows.get(k)
      if (row?.value === null) break
      found.push(row ? toEntry<T>(row) : null)
    }
    return found
  }

  return {
    capabilities: engine.capabilities,
    getMany,
    async get<T>(key: Key) {
      return (await getMany<T>([key]))[0]!
    },
    async list<T>(prefix: Key, options?: ListOptions): Promise<Page<T>> {
      assertOpen()
      const range = rangeOf(prefix, options)
      const rows = await engine.page({ ...range, limit: range.limit + 1 }, now())
      const end = rows.findIndex(({ value }, i) => i === range.limit || value === null)
      const items = (end === -1 ? rows : rows.slice(0, end)).map(toEntry<T>)
      return end === -1 ? { items } : { items, next: items.at(-1)!.key }
    },
    async commit(commit: Commit) {
      assertOpen()
      const prepared = prepareCommit(commit)
      return new Promise<boolean>((resolve, reject) => {
        queue.push({ commit: prepared, resolve, reject })
        flushing ??= flush()
      })
    },
    async health() {
      if (closed) return { ok: false, reason: 'The store is closed' }
      ping ??= engine.ping().finally(() => (ping = undefined))
      const asked = ping
      return bounded('a health check', () => asked).then(
        () => ({ ok: true }),
        (error: Error) => ({ ok: false, reason: error.message }),
      )
    },
    close() {
      closed ??= (async () => {
        await flushing
        await engine.close()
      })()
      return closed
    },
  }
}
