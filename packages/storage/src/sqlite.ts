/** The `KV` of one host in an SQLite file. @module */
import type { KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { assertFormat, FORMAT, sqlKV } from './sql-kv.js'
import type { Row } from './sql-commit.js'

export interface SqliteKVOptions {
  /**
   * What an acknowledged commit survives: `power-loss` flushes to the disk before it is acknowledged (`synchronous=FULL`);
   * `process-crash` is faster and may lose the last commits with the power, never the file (`NORMAL`). Default `power-loss`.
   */
  durability?: 'power-loss' | 'process-crash'
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/** What `node:sqlite` and `bun:sqlite` have in common. */
interface Database {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): void
}
interface Statement {
  all(...values: unknown[]): unknown[]
  get(...values: unknown[]): unknown
  run(...values: unknown[]): { changes: number | bigint }
}
type DatabaseClass = new (file: string) => Database

function databaseClass(): DatabaseClass {
  const load = process.getBuiltinModule as ((name: string) => Record<string, DatabaseClass> | undefined) | undefined
  const found = load?.('bun:sqlite')?.['Database'] ?? load?.('node:sqlite')?.['DatabaseSync']
  if (!found)
    throw new StorageError(
      'SQLite needs Node 22.13 or newer, or Bun. On this runtime, use PostgreSQL or Redis, or a folder for one process',
      'none',
    )
  return found
}

/** The result code of SQLite without its details; Node and Bun name it differently. */
const codeOf = (error: unknown): number => {
  const { errcode, errno } = error as { errcode?: number; errno?: number }
  return (errcode ?? errno ?? 0) & 0xff
}
const BUSY = 5
const IOERR = 10

/** How long another process may hold the file, in milliseconds. */
const PATIENCE = 10_000
const LONGEST_WAIT = 20

/**
 * Opens the store in a file and makes it if it is missing; its folder must exist and should be private. Several processes of one host may share it.
 * A commit blocks the event loop for as long as the disk takes to flush. Not for a network file system: the locks of SQLite do not hold
 * there, and it cannot be told from outside; use PostgreSQL or Redis.
 * @throws StorageError where the runtime has no SQLite, or the file cannot be used or is of a newer version
 * @example const kv = await sqliteKV('turnpike.db')
 */
export async function sqliteKV(file: string, options: SqliteKVOptions = {}): Promise<KV> {
  const { durability = 'power-loss', now } = options
  const Database = databaseClass()

  /** Runs `action` until no other process is in its way. SQLite's own waiting would hold up the event loop. */
  const patiently = async <T>(action: () => T): Promise<T> => {
    const deadline = Date.now() + PATIENCE
    for (let wait = 1; ; wait = Math.min(2 * wait, LONGEST_WAIT))
      try {
        return action()
      } catch (cause) {
        if (StorageError.is(cause)) throw cause
        if (codeOf(cause) !== BUSY)
          throw new StorageError(`${file} failed: ${(cause as Error).message}`, 'none', { cause })
        if (Date.now() > deadline)
          throw new StorageError(`Another process held ${file} for ${PATIENCE / 1_000} s`, 'none', { cause })
        await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())))
      }
  }

  const db = await patiently(() => new Database(file))
  const transaction = (action: () => void): Promise<void> =>
    patiently(() => {
      db.exec('begin immediate')
      let committing = false
      try {
        action()
        committing = true
        db.exec('commit')
      } catch (cause) {
        try {
          db.exec('rollback')
        } catch {
          // SQLite has done so already, as it does when the disk is full.
        }
        // What was written before a flush failed may come to light when the file is recovered.
        if (committing && codeOf(cause) === IOERR)
          throw new StorageError(`${file} cannot be written`, 'unknown', { cause })
        throw cause
      }
    })

  try {
    await patiently(() => {
      db.exec('pragma busy_timeout = 2')
      const { journal_mode } = db.prepare('pragma journal_mode = wal').get() as { journal_mode: string }
      if (journal_mode !== 'wal')
        throw new StorageError(
          `${file} cannot be used: SQLite has no write-ahead log there, only "${journal_mode}"`,
          'none',
        )
      db.exec(`pragma synchronous = ${durability === 'power-loss' ? 'full' : 'normal'}`)
      db.exec('pragma fullfsync = on')
    })
    await transaction(() => {
      db.exec(`create table if not exists turnpike_kv (
        k text primary key not null, version text not null, value text not null, counter integer not null, expires_at integer)`)
      db.exec('create index if not exists turnpike_kv_expires on turnpike_kv (expires_at) where expires_at is not null')
      db.exec(`insert into turnpike_kv values ('', '', '${FORMAT}', 0, null) on conflict do nothing`)
      const format = db.prepare("select value from turnpike_kv where k = ''").get() as { value: string }
      assertFormat(format.value, file)
    })
  } catch (error) {
    db.close()
    throw error
  }

  const columns = 'k, version, value, counter, expires_at'
  const alive = '(expires_at is null or expires_at > ?)'
  const range = `select ${columns} from turnpike_kv where k > ? and k < ? and ${alive} order by k`
  const one = db.prepare(`select ${columns} from turnpike_kv where k = ? and ${alive}`)
  const forwards = db.prepare(`${range} limit ?`)
  const backwards = db.prepare(`${range} desc limit ?`)
  const put = db.prepare(`insert into turnpike_kv values (?, ?, ?, ?, ?) on conflict (k) do update
    set version = excluded.version, value = excluded.value, counter = excluded.counter, expires_at = excluded.expires_at`)
  const remove = db.prepare('delete from turnpike_kv where k = ?')
  const sweep = db.prepare(
    'delete from turnpike_kv where k in (select k from turnpike_kv where expires_at <= ? limit ?)',
  )

  const read = (keys: string[], time: number): Row[] => keys.flatMap((k) => (one.get(k, time) as Row | null) ?? [])

  return sqlKV(
    {
      capabilities: { writers: 'one-host', durability, driver: 'sqlite' },
      read: (keys, time) => patiently(() => read(keys, time)),
      page: ({ low, high, reverse, limit }, time) =>
        patiently(() => (reverse ? backwards : forwards).all(low, high, time, limit) as Row[]),
      write: (keys, time, decide) =>
        transaction(() => {
          const { changes, version } = decide(read(keys, time))
          for (const { k, value, counter, expiresAt } of changes)
            if (value === null) remove.run(k)
            else put.run(k, version, value, counter ? 1 : 0, expiresAt)
        }),
      sweep: (time, limit) => patiently(() => Number(sweep.run(time, limit).changes)),
      ping: () => patiently(() => void one.get('', 0)),
      async close() {
        db.close()
      },
    },
    now,
  )
}
