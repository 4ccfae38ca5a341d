import type { PgPool } from './postgres-table.js'
import { again, postgresTable } from './postgres-table.js'
import type { RateLimiterOptions, SharedRateLimiter } from './rate-limiter.js'
import { sharedRateLimiter, WINDOW } from './rate-limiter.js'

/** Options of {@link postgresRateLimiter}. */
export interface PostgresRateLimiterOptions extends RateLimiterOptions {
  /** Name of the table: up to 48 lower-case letters, digits and `_`, with a schema before it or not; default `turnpike_rates`. */
  table?: string
}

/** One statement for the round trip of many requests. */
function takeStatement(table: string, window: number): string {
  // All of a row's terms go by one reading of the clock, the one that the new row would have.
  const live = `rate.ends_at > excluded.ends_at - interval '${window} ms'`
  const used = `case when ${live} then rate.used else 0 end`
  const granted = `greatest(0, least(excluded.granted, excluded.per_minute - ${used}))`
  // Rows are locked in the order of their keys, so that no two processes wait for each other.
  return `insert into ${table} as rate (key, per_minute, used, granted, ends_at)
    select key, per_minute, least(count, per_minute), least(count, per_minute), clock_timestamp() + interval '${window} ms'
      from unnest($1::text[], $2::float8[], $3::float8[]) as want (key, per_minute, count) order by key collate "C"
    on conflict (key) do update set per_minute = excluded.per_minute, used = ${used} + ${granted}, granted = ${granted},
      ends_at = case when ${live} then rate.ends_at else excluded.ends_at end
    returning key, granted, (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as ends_in`
}

interface Row {
  key: string
  granted: number
  ends_in: number
}

/**
 * Counts requests in a table, and makes the table if it is missing: one statement a round trip, on one connection of the pool.
 * The table is UNLOGGED: nothing waits for the disk, and a server that crashes begins all windows anew. Where a connection breaks before the
 * answer, the statement is sent once more, so that its requests may be counted twice, and none passes beyond the limit. The server's clock decides.
 * Give the pool a `connectionTimeoutMillis`, so that a server that is out of reach is an error and not a wait.
 * @throws StorageError where the server takes no writes or cannot be used
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

  /** Rows as the statement returns them. Above READ COMMITTED it fails where another process was faster, and has done nothing. */
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
      const rows = new Map((await again(() => send(columns), 'unknown')).map((row) => [row.key, row]))
      return wants.map(({ key }) => {
        const { granted, ends_in } = rows.get(key)!
        return { granted, endsInMs: ends_in }
      })
    },
    // Waits for no row, so that it cannot be part of a deadlock.
    sweep: () =>
      query(`delete from ${table} where key in
        (select key from ${table} where ends_at <= clock_timestamp() for update skip locked)`),
    async close() {
      close()
    },
  })
}
