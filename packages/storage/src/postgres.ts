/** A `KV` for many hosts, in a PostgreSQL table. @module */
import type { KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { PAGE_BYTES } from '@turnpike/core/internal'
import type { PgPool, PgResult } from './sql/postgres-table.js'
import { isConnectionError, postgresTable, retryOnce } from './sql/postgres-table.js'
import type { Decide } from './sql/sql-kv.js'
import { assertFormat, FORMAT, sqlKV } from './sql/sql-kv.js'
import type { Row } from './sql/sql-commit.js'

export * from './sql/postgres-rate-limiter.js'
export type { PgClient, PgPool, PgResult } from './sql/postgres-table.js'

/** Options of {@link postgresKV}. */
export interface PostgresKVOptions {
  /** Name of the table: up to 48 lower-case letters, digits and `_`, optionally with a schema; default `turnpike_kv`. */
  table?: string
  /** The clock, in milliseconds; default `Date.now`. Values expire by the clocks of the hosts. */
  now?: () => number
}

/** Number of advisory locks per table. More would reduce contention between writers of different keys; a server has some thousands in all. */
const LOCKS = 256
/** Time-out in milliseconds after which the server ends an idle transaction, whose client still holds locks. */
const IDLE_TIMEOUT = 5_000
/** Delays between the status queries after a lost reply, in milliseconds. Their sum is longer than {@link IDLE_TIMEOUT}. */
const STATUS_DELAYS = [0, 50, 100, 200, 400, 800, 1_600, 3_200, 3_200]

const NIL = '00000000-0000-0000-0000-000000000000'

/** FNV-1a, 32 bits, signed. It must be the same in all processes. */
const hash = (text: string): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h
}

/**
 * Opens the store in a table, and creates the table if it is missing. Any number of processes on any hosts may share it.
 * Commits use one connection at a time, which is returned to the pool in between. `close()` leaves the pool open.
 * Give the pool a `connectionTimeoutMillis`, so that an unreachable server is an error.
 * @throws StorageError if the server is read-only or cannot be used, or the table has a newer format
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
   * Whether the transaction `xid`, which wrote `version` to `keys`, was committed; undefined if that cannot be determined.
   * After a crash, the server may reuse the id for another transaction, so only the version proves that ours was committed.
   */
  const wasCommitted = async (xid: string, keys: string[], version: string): Promise<boolean | undefined> => {
    for (const wait of STATUS_DELAYS) {
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
        // The server has not assigned this id: a crash has set its counter back.
        if ((error as { code?: string }).code === '22023') return false
      }
    }
    return undefined
  }

  const columns = 'k, version::text, value, counter, expires_at'

  /** Locks and reads `keys` in one round trip. Reading is a second statement, whose snapshot includes what the last lock holders wrote. */
  const lockAndRead = (keys: string[], time: number): string => {
    const locks = [...new Set(keys.map((k) => (hash(k) >>> 0) % LOCKS))].toSorted((a, b) => a - b)
    // Encoded keys contain no characters that need escaping in a literal.
    const literals = keys.map((k) => `'${k}'`).join()
    return `begin isolation level read committed read write;
      set local idle_in_transaction_session_timeout = ${IDLE_TIMEOUT};
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
      await pg.withClient(async (client) => {
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
      if (!sent || !isConnectionError(cause)) throw cause
      const committed = await wasCommitted(sent.xid, sent.keys, sent.version)
      if (committed === undefined)
        throw new StorageError('PostgreSQL went away while it committed', 'unknown', { cause })
      if (!committed) throw cause
    }
  }

  const alive = '(expires_at is null or expires_at > $1)'
  /** The rows of a query in an order, those without their value that would make a page too large. `octet_length` reads no value. */
  const paged = (rows: string, order: string): string =>
    `select k, version::text, case when upto - octet_length(value) < ${PAGE_BYTES} then value end as value, counter, expires_at
      from (select *, sum(octet_length(value)) over (order by ${order}) as upto from (${rows}) as found) as page order by ${order}`
  return sqlKV(
    {
      capabilities: {
        writers: 'many-hosts',
        durability: pg.durable ? 'power-loss' : 'process-crash',
        driver: 'postgres',
      },
      read: (keys, time, page) =>
        page
          ? query(
              paged(
                `select * from unnest($2::text[]) with ordinality as wanted (k, n) join ${table} using (k) where ${alive}`,
                'n',
              ),
              [time, keys],
            )
          : query(`select ${columns} from ${table} where k = any($2) and ${alive}`, [time, keys]),
      page: ({ low, high, reverse, limit }, time) => {
        const order = reverse ? 'k desc' : 'k'
        return query(
          paged(`select * from ${table} where k > $2 and k < $3 and ${alive} order by ${order} limit $4`, order),
          [time, low, high, limit],
        )
      },
      write: (keys, time, decide) => retryOnce(() => transaction(keys, time, decide)),
      // SKIP LOCKED never waits, so it cannot be part of a deadlock.
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
