import { StorageError } from '@turnpike/core'

/** What a transaction survives once it is acknowledged: a power cut, by a flush to the disk, or only the end of the process. */
export type SqliteDurability = 'power-loss' | 'process-crash'

/** What `node:sqlite` and `bun:sqlite` have in common. */
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

/** A file of SQLite that is open. Errors are `StorageError`s. */
export interface SqliteFile {
  db: Database
  /** Runs `action` until no other process is in its way. */
  patiently<T>(action: () => T): Promise<T>
  /** Runs `action` as one transaction that no other one runs beside; again from its beginning where another process is in its way. */
  transaction(action: () => void): Promise<void>
}

/**
 * Opens a file, makes it if it is missing, and runs `create` on it in a transaction.
 * @throws StorageError where the runtime has no SQLite, or the file cannot be used
 */
export async function openSqlite(
  file: string,
  durability: SqliteDurability,
  create: (db: Database) => void,
): Promise<SqliteFile> {
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
    await transaction(() => create(db))
    return { db, patiently, transaction }
  } catch (error) {
    db.close()
    throw error
  }
}
