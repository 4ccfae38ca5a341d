/** A `KV` for one host, in an SQLite file. @module */
import type { KV } from '@turnpike/core'
import { PAGE_BYTES } from '@turnpike/core/internal'
import type { PageRow } from './sql/sql-kv.js'
import { assertFormat, FORMAT, sqlKV } from './sql/sql-kv.js'
import type { Row } from './sql/sql-commit.js'
import type { SqliteDurability } from './sql/sqlite-file.js'
import { openSqlite } from './sql/sqlite-file.js'

export * from './sql/sqlite-rate-limiter.js'

/** Options of {@link sqliteKV}. */
export interface SqliteKVOptions {
  /**
   * What an acknowledged commit survives. `power-loss`: it is flushed to the disk before (`synchronous=FULL`). `process-crash`: faster, but
   * a power failure may lose the last commits, though it never corrupts the file (`NORMAL`). Default `power-loss`.
   */
  durability?: SqliteDurability
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/**
 * Opens the store in a file, and creates the file if it is missing; its folder must exist and should be private. Several processes of one
 * host may share it. A commit blocks the event loop while the disk is flushed. Do not use a network file system, where SQLite's locks do not
 * work and this cannot be detected; use PostgreSQL or Redis instead.
 * @throws StorageError if the runtime has no SQLite, or the file cannot be used or has a newer format
 * @example const kv = await sqliteKV('turnpike.db')
 */
export async function sqliteKV(file: string, options: SqliteKVOptions = {}): Promise<KV> {
  const { durability = 'power-loss', now } = options
  const { db, retryWhileBusy, transaction } = await openSqlite(file, durability, (db) => {
    db.exec(`create table if not exists turnpike_kv (
        k text primary key not null, version text not null, value text not null, counter integer not null, expires_at integer)`)
    db.exec('create index if not exists turnpike_kv_expires on turnpike_kv (expires_at) where expires_at is not null')
    db.exec(`insert into turnpike_kv values ('', '', '${FORMAT}', 0, null) on conflict do nothing`)
    const format = db.prepare("select value from turnpike_kv where k = ''").get() as { value: string }
    assertFormat(format.value, file)
  })

  const columns = 'k, version, value, counter, expires_at'
  const alive = '(expires_at is null or expires_at > ?)'
  /** Rows in an order, those without their value that would make the page too large. `octet_length` reads no value. */
  const range = (order: string) => `select k, version,
      case when upto - octet_length(value) < ${PAGE_BYTES} then value end as value, counter, expires_at
    from (select *, sum(octet_length(value)) over (order by ${order}) as upto
      from (select ${columns} from turnpike_kv where k > ? and k < ? and ${alive} order by ${order} limit ?)) order by ${order}`
  const one = db.prepare(`select ${columns} from turnpike_kv where k = ? and ${alive}`)
  const forwards = db.prepare(range('k'))
  const backwards = db.prepare(range('k desc'))
  const put = db.prepare(`insert into turnpike_kv values (?, ?, ?, ?, ?) on conflict (k) do update
    set version = excluded.version, value = excluded.value, counter = excluded.counter, expires_at = excluded.expires_at`)
  const remove = db.prepare('delete from turnpike_kv where k = ?')
  const sweep = db.prepare(
    'delete from turnpike_kv where k in (select k from turnpike_kv where expires_at <= ? limit ?)',
  )

  const read = (keys: string[], time: number): Row[] => keys.flatMap((k) => (one.get(k, time) as Row | null) ?? [])
  const readPage = (keys: string[], time: number): PageRow[] => {
    const rows: PageRow[] = []
    let size = 0
    for (const k of keys) {
      const row = one.get(k, time) as Row | null
      if (!row) continue
      rows.push(size < PAGE_BYTES ? row : { ...row, value: null })
      if (size >= PAGE_BYTES) break
      size += row.value.length
    }
    return rows
  }

  return sqlKV(
    {
      capabilities: { writers: 'one-host', durability, driver: 'sqlite' },
      read: (keys, time, page) => retryWhileBusy(() => (page ? readPage : read)(keys, time)),
      page: ({ low, high, reverse, limit }, time) =>
        retryWhileBusy(() => (reverse ? backwards : forwards).all(low, high, time, limit) as PageRow[]),
      write: (keys, time, decide) =>
        transaction(() => {
          const { changes, version } = decide(read(keys, time))
          for (const { k, value, counter, expiresAt } of changes)
            if (value === null) remove.run(k)
            else put.run(k, version, value, counter ? 1 : 0, expiresAt)
        }),
      sweep: (time, limit) => retryWhileBusy(() => Number(sweep.run(time, limit).changes)),
      ping: () => retryWhileBusy(() => void one.get('', 0)),
      async close() {
        db.close()
      },
    },
    now,
  )
}
