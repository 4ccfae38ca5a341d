import type { PgPool } from './postgres-table.js'
import { postgresTable, retryOnce } from './postgres-table.js'
import type { RateLimiterOptions, SharedRateLimiter } from '../rate-limiter.js'
import { sharedRateLimiter, WINDOW } from '../rate-limiter.js'

/** Options of {@link postgresRateLimiter}. */
export interface PostgresRateLimiterOptions extends RateLimiterOptions {
  /** Name of the table: up to 48 lower-case letters, digits and `_`, optionally with a schema; default `turnpike_rates`. */
  table?: string
}

/** The statement that counts all requests of a round trip. */
function takeStatement(table: string, window: number): string {
  // All expressions of a row use one reading of the clock, that of the proposed row (`excluded`).
  const live = `rate.ends_at > excluded.ends_at - interval '${window} ms'`
  const used = `case when ${live} then rate.used else 0 end`
  const granted = `greatest(least(excluded.granted, 0), -(${used}), least(excluded.granted, excluded.per_minute - ${used}))`
  // Rows are locked in the order of their keys, which prevents deadlocks between processes.
  return `insert into ${table} as rate (key, per_minute, used, granted, ends_at)
    select key, per_minute, greatest(0, least(count, per_minute)), least(count, per_minute), clock_timestamp() + interval '${window} ms'
      from unnest($1::text[], $2::float8[], $3::float8[]) as want (key, per_minute, count) order by key collate "C"
    on conflict (key) do update set per_minute = excluded.per_minute, used = ${used} + ${granted}, granted = ${granted},
      ends_at = case when ${live} then rate.ends_at else excluded.ends_at end
    returning key, granted, greatest(0, per_minute - used) as remaining, (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as ends_in`
}

interface Row {
  key: string
  granted: number
  remaining: number
  ends_in: number
}

/**
 * Counts requests in a table, which it creates if it is missing, with one statement per round trip on one connection of the pool.
 * The table is UNLOGGED: nothing waits for the disk, and a crash of the server resets all windows. If a connection breaks before the reply,
 * the statement is sent once more: its requests may be counted twice, but the limit is never exceeded. Windows follow the server's clock.
 * Give the pool a `connectionTimeoutMillis`, so that an unreachable server is an error.
 * @throws StorageError if the server is read-only or cannot be used
 * @example const rateLimiter = await postgresRateLimiter(new Pool({ connectionString: process.env.DATABASE_URL }))
 */
export async function postgresRateLimiter(
  pool: PgPool,
  options: PostgresRateLimiterOptions = {},
): Promise<SharedRateLimiter> {
  const { table: name = 'turnpike_rates', window = WINDOW } = options
  const { table, query, close } = await postgresTable(
    pool,
    name,
    (table) => `create unlogged table if not exists ${table} (key text collate "C" primary key,
      per_minute float8 not null, used float8 not null, granted float8 not null, ends_at timestamptz not null)`,
  )
  const statement = takeStatement(table, window)

  /** Runs the statement. Above READ COMMITTED it may fail with a serialisation error; it is then retried. */
  const send = async (values: unknown[]): Promise<Row[]> => {
    for (;;)
      try {
        return (await pool.query(statement, values)).rows as Row[]
      } catch (error) {
        if ((error as { code?: string }).code !== '40001') throw error
      }
  }

  return sharedRateLimiter({
    async take(wants) {
      const columns = [
        wants.map(({ key }) => key),
        wants.map(({ perMinute }) => perMinute),
        wants.map(({ count }) => count),
      ]
      const rows = new Map((await retryOnce(() => send(columns), 'unknown')).map((row) => [row.key, row]))
      return wants.map(({ key }) => {
        const { granted, remaining, ends_in } = rows.get(key)!
        return { granted, left: remaining, endsInMs: ends_in }
      })
    },
    // SKIP LOCKED never waits, so it cannot be part of a deadlock.
    sweep: () =>
      query(`delete from ${table} where key in
        (select key from ${table} where ends_at <= clock_timestamp() for update skip locked)`),
    async close() {
      close()
    },
  })
}
