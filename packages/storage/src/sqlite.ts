/** The `KV` of one host in an SQLite file. @module */
import type { KV } from '@turnpike/core'
import { assertFormat, FORMAT, sqlKV } from './sql-kv.js'
import type { Row } from './sql-commit.js'
import type { SqliteDurability } from './sqlite-file.js'
import { openSqlite } from './sqlite-file.js'

export * from './sqlite-rate-limiter.js'

/** Options of {@link sqliteKV}. */
export interface SqliteKVOptions {
  /**
   * What an acknowledged commit survives: `power-loss` flushes to the disk before it is acknowledged (`synchronous=FULL`);
   * `process-crash` is faster and may lose the last commits with the power, never the file (`NORMAL`). Default `power-loss`.
   */
  durability?: SqliteDurability
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/**
 * Opens the store in a file and makes it if it is missing; its folder must exist and should be private. Several processes of one host may share it.
 * A commit blocks the event loop for as long as the disk takes to flush. Not for a network file system: the locks of SQLite do not hold
 * there, and it cannot be told from outside; use PostgreSQL or Redis.
 * @throws StorageError where the runtime has no SQLite, or the file cannot be used or is of a newer version
 * @example const kv = await sqliteKV('turnpike.db')
 */
export async function sqliteKV(file: string, options: SqliteKVOptions = {}): Promise<KV> {
  const { durability = 'power-loss', now } = options
  const { db, patiently, transaction } = await openSqlite(file, durability, (db) => {
    db.exec(`create table if not exists turnpike_kv (
        k text primary key not null, version text not null, value text not null, counter integer not null, expires_at integer)`)
    db.exec('create index if not exists turnpike_kv_expires on turnpike_kv (expires_at) where expires_at is not null')
    db.exec(`insert into turnpike_kv values ('', '', '${FORMAT}', 0, null) on conflict do nothing`)
    const format = db.prepare("select value from turnpike_kv where k = ''").get() as { value: string }
    assertFormat(format.value, file)
  })

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
