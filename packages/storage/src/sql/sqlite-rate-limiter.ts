import { granted } from '@turnpike/core/internal'
import type { RateLimiterOptions, SharedRateLimiter, Taken } from '../rate-limiter.js'
import { sharedRateLimiter, WINDOW } from '../rate-limiter.js'
import { openSqlite } from './sqlite-file.js'

interface Row {
  used: number
  ends_at: number
}

/**
 * Counts requests in an SQLite file, which may be that of `sqliteKV`, on its own connection, with one transaction per round trip.
 * Nothing waits for the disk: counts survive a crash of the process, but may be lost in a power failure.
 * @throws StorageError if the runtime has no SQLite, or the file cannot be used
 * @example const rateLimiter = await sqliteRateLimiter('turnpike.db')
 */
export async function sqliteRateLimiter(file: string, options: RateLimiterOptions = {}): Promise<SharedRateLimiter> {
  const { window = WINDOW } = options
  const { db, retryWhileBusy, transaction } = await openSqlite(file, 'process-crash', (db) =>
    db.exec(
      'create table if not exists turnpike_rates (key text primary key not null, used real not null, ends_at integer not null)',
    ),
  )
  const live = db.prepare('select used, ends_at from turnpike_rates where key = ? and ends_at > ?')
  const put = db.prepare(`insert into turnpike_rates values (?, ?, ?)
    on conflict (key) do update set used = excluded.used, ends_at = excluded.ends_at`)
  const remove = db.prepare('delete from turnpike_rates where ends_at <= ?')

  return sharedRateLimiter({
    async take(wants) {
      let taken: Taken[] = []
      await transaction(() => {
        const time = Date.now()
        taken = wants.map(({ key, perMinute, count }) => {
          const { used, ends_at } = (live.get(key, time) as Row | null | undefined) ?? {
            used: 0,
            ends_at: time + window,
          }
          const taking = granted(count, used, perMinute)
          put.run(key, used + taking, ends_at)
          return { granted: taking, left: Math.max(0, perMinute - used - taking), endsInMs: ends_at - time }
        })
      })
      return taken
    },
    sweep: () => retryWhileBusy(() => remove.run(Date.now())),
    async close() {
      db.close()
    },
  })
}
