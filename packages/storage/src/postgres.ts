/** The `KV` of many hosts in a table of PostgreSQL. @module */
import type { KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import type { PgPool, PgResult } from './postgres-table.js'
import { again, isBroken, postgresTable } from './postgres-table.js'
import type { Decide } from './sql-kv.js'
import { assertFormat, FORMAT, sqlKV } from './sql-kv.js'
import type { Row } from './sql-commit.js'

export * from './postgres-rate-limiter.js'
export type { PgClient, PgPool, PgResult } from './postgres-table.js'

/** Options of {@link postgresKV}. */
export interface PostgresKVOptions {
  /** Name of the table: up to 48 lower-case letters, digits and `_`, with a schema before it or not; default `turnpike_kv`. */
  table?: string
  /** The clock, in milliseconds; default `Date.now`. The hosts' clocks decide when a value ends. */
  now?: () => number
}

/** Locks of one table. More would let writers of different keys pass more often; a server holds some thousands for all. */
const LOCKS = 256
/** After this, in milliseconds, the server ends a transaction whose client has fallen silent and still holds its locks. */
const SILENCE = 5_000
/** Waits between the questions after a lost answer, in milliseconds; together longer than {@link SILENCE}. */
const WAITS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 3_200]

const NIL = '00000000-0000-0000-0000-000000000000'

/** FNV-1a, 32 bits, signed. All processes have to agree on it. */
const hash = (text: string): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h
}

/**
 * Opens the store in a table, and makes the table if it is missing. Any number of processes on any hosts may share it.
 * One connection is in use for commits; it is not held between them. `close()` leaves the pool open.
 * Give the pool a `connectionTimeoutMillis`, so that a server that is out of reach is an error and not a wait.
 * @throws StorageError where the server takes no writes or cannot be used, or the table is of a newer version
 * @example const kv = await postgresKV(new Pool({ connectionString: process.env.DATABASE_URL }))
 */
export async function postgresKV(pool: PgPool, options: PostgresKVOptions = {}): Promise<KV> {
  const { table: name = 'turnpike_kv', now } = options
  const pg = await postgresTable(
    pool,
    name,
    (table) => `create table if not exists ${table} (k text collate "C" primary key, version uuid not null,
        value text not null, counter boolean not null, expires_at bigint);
      create index if not exists ${name.replace(/.*\./, '')}_expires on ${table} (expires_at) where expires_at is not null;
      insert into ${table} values ('', '${NIL}', '${FORMAT}', false, null) on conflict do nothing`,
  )
  const { table, query } = pg
  try {
    const [row] = await query<{ value: string }>(`select value from ${table} where k = ''`)
    assertFormat(row?.value, name)
  } catch (error) {
    pg.close()
    throw error
  }

  /**
   * Whether the transaction `xid`, which wrote `version` to `keys`, was committed; undefined where that cannot be found out.
   * After a crash of the server another transaction may have the same id: only the version proves that ours was committed.
   */
  const wasCommitted = async (xid: string, keys: string[], version: string): Promise<boolean | undefined> => {
    for (const wait of WAITS) {
      await new Promise((resolve) => setTimeout(resolve, wait))
      try {
        const { rows } = await pool.query('select pg_xact_status($1::xid8) as status', [xid])
        const { status } = rows[0] as { status: string | null }
        if (status === 'aborted') return false
        if (status === 'in progress') continue
        const written = await pool.query(`select 1 from ${table} where k = any($1) and version = $2 limit 1`, [
          keys,
          version,
        ])
        return written.rows.length > 0 ? true : undefined
      } catch (error) {
        // The server has not given out such an id: it fell back behind it in a crash.
        if ((error as { code?: string }).code === '22023') return false
      }
    }
    return undefined
  }

  const columns = 'k, version::text, value, counter, expires_at'

  /** Takes the locks of `keys` and reads them, in one round trip and two statements: only the second one sees what the locks' last holders wrote. */
  const lockAndRead = (keys: string[], time: number): string => {
    const locks = [...new Set(keys.map((k) => (hash(k) >>> 0) % LOCKS))].toSorted((a, b) => a - b)
    // Encoded keys have no character that a literal would have to escape.
    const literals = keys.map((k) => `'${k}'`).join()
    return `begin isolation level read committed read write;
      set local idle_in_transaction_session_timeout = ${SILENCE};
      select count(pg_advisory_xact_lock('${table}'::regclass::oid::bigint * ${LOCKS} + lock)) from unnest('{${locks.join()}}'::int[]) as lock;
      select ${columns} from ${table} where k = any(array[${literals}]::text[]) and (expires_at is null or expires_at > ${time})`
  }

  const change = `with gone as (delete from ${table} where k = any($1::text[])),
    put as (insert into ${table} (version, k, value, counter, expires_at)
      select $2::uuid, * from unnest($3::text[], $4::text[], $5::boolean[], $6::bigint[])
      on conflict (k) do update set
        version = excluded.version, value = excluded.value, counter = excluded.counter, expires_at = excluded.expires_at)
    select pg_current_xact_id()::text as xid`

  const transaction = async (keys: string[], time: number, decide: Decide): Promise<void> => {
    let sent: { xid: string; keys: string[]; version: string } | undefined
    try {
      await pg.connected(async (client) => {
        const results = (await client.query(lockAndRead(keys, time))) as unknown as PgResult[]
        const { changes, version } = decide(results.at(-1)!.rows as Row[])
        if (changes.length === 0) return client.query('rollback')
        const put = changes.filter(({ value }) => value !== null)
        const putKeys = put.map(({ k }) => k)
        const { rows } = await client.query(change, [
          changes.filter(({ value }) => value === null).map(({ k }) => k),
          version,
          putKeys,
          put.map(({ value }) => value),
          put.map(({ counter }) => counter),
          put.map(({ expiresAt }) => expiresAt),
        ])
        sent = { xid: (rows[0] as { xid: string }).xid, keys: putKeys, version }
        return client.query('commit')
      })
    } catch (cause) {
      if (!sent || !isBroken(cause)) throw cause
      const committed = await wasCommitted(sent.xid, sent.keys, sent.version)
      if (committed === undefined)
        throw new StorageError('PostgreSQL went away while it committed', 'unknown', { cause })
      if (!committed) throw cause
    }
  }

  const alive = '(expires_at is null or expires_at > $1)'
  return sqlKV(
    {
      capabilities: {
        writers: 'many-hosts',
        durability: pg.durable ? 'power-loss' : 'process-crash',
        driver: 'postgres',
      },
      read: (keys, time) => query(`select ${columns} from ${table} where k = any($2) and ${alive}`, [time, keys]),
      page: ({ low, high, reverse, limit }, time) =>
        query(
          `select ${columns} from ${table} where k > $2 and k < $3 and ${alive} order by k ${reverse ? 'desc' : ''} limit $4`,
          [time, low, high, limit],
        ),
      write: (keys, time, decide) => again(() => transaction(keys, time, decide)),
      // Waits for no row, so that it cannot be part of a deadlock.
      async sweep(time, limit) {
        const rows = await query(
          `delete from ${table} where k in
             (select k from ${table} where expires_at <= $1 limit $2 for update skip locked) returning 1`,
          [time, limit],
        )
        return rows.length
      },
      ping: pg.ping,
      async close() {
        pg.close()
      },
    },
    now,
  )
}
