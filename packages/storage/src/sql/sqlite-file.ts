import { StorageError } from '@turnpike/core'

/** What an acknowledged transaction survives: a power failure, because it is flushed to the disk, or only a crash of the process. */
export type SqliteDurability = 'power-loss' | 'process-crash'

/** The common part of `node:sqlite` and `bun:sqlite`. */
export interface Database {
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

/** Creates a missing file for its owner alone. SQLite itself would let everybody read it; the files beside it get the same mode. */
function create(file: string): void {
  const { closeSync, openSync } = process.getBuiltinModule('node:fs')
  try {
    if (file !== ':memory:') closeSync(openSync(file, 'ax', 0o600))
  } catch {
    // It exists, or SQLite tells why it cannot.
  }
}

/** The primary result code of SQLite, which Node and Bun name differently. */
const codeOf = (error: unknown): number => {
  const { errcode, errno } = error as { errcode?: number; errno?: number }
  return (errcode ?? errno ?? 0) & 0xff
}
const BUSY = 5
const IOERR = 10

/** How long to wait for another process that has locked the file, in milliseconds. */
const BUSY_TIMEOUT = 10_000
const LONGEST_WAIT = 20

/** An open SQLite file. Errors are `StorageError`s. */
export interface SqliteFile {
  db: Database
  /** Runs `action`, and retries while another process has locked the file. */
  retryWhileBusy<T>(action: () => T): Promise<T>
  /** Runs `action` in an exclusive transaction, and retries it from the start while another process has locked the file. */
  transaction(action: () => void): Promise<void>
}

/**
 * Opens a file, creates it for its owner alone if it is missing, and runs `prepare` on it in a transaction.
 * @throws StorageError if the runtime has no SQLite, or the file cannot be used
 */
export async function openSqlite(
  file: string,
  durability: SqliteDurability,
  prepare: (db: Database) => void,
): Promise<SqliteFile> {
  const Database = databaseClass()

  // Not left to SQLite's busy_timeout, which blocks the event loop.
  const retryWhileBusy = async <T>(action: () => T): Promise<T> => {
    const deadline = Date.now() + BUSY_TIMEOUT
    for (let wait = 1; ; wait = Math.min(2 * wait, LONGEST_WAIT))
      try {
        return action()
      } catch (cause) {
        if (StorageError.is(cause)) throw cause
        if (codeOf(cause) !== BUSY)
          throw new StorageError(`${file} failed: ${(cause as Error).message}`, 'none', { cause })
        if (Date.now() > deadline)
          throw new StorageError(`Another process held ${file} for ${BUSY_TIMEOUT / 1_000} s`, 'none', { cause })
        await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())))
      }
  }

  create(file)
  const db = await retryWhileBusy(() => new Database(file))
  const transaction = (action: () => void): Promise<void> =>
    retryWhileBusy(() => {
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
          // SQLite has rolled back already, for example because the disk is full.
        }
        // Pages that were written before the flush failed may be recovered when the file is opened again.
        if (committing && codeOf(cause) === IOERR)
          throw new StorageError(`${file} cannot be written`, 'unknown', { cause })
        throw cause
      }
    })

  try {
    await retryWhileBusy(() => {
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
    await transaction(() => prepare(db))
    return { db, retryWhileBusy, transaction }
  } catch (error) {
    db.close()
    throw error
  }
}
