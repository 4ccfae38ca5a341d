import { postgresKV } from '@turnpike/storage/postgres'
import { sqliteKV } from '@turnpike/storage/sqlite'
import { Pool } from 'pg'

/** Opens `sqlite FILE` or `postgres URL` in a process of its own. */
export async function openStore(kind, where, options = {}) {
  if (kind === 'sqlite') {
    const kv = await sqliteKV(where, options)
    return { kv, end: () => kv.close() }
  }
  const pool = new Pool({ connectionString: where, max: 4 })
  const kv = await postgresKV(pool, options)
  return {
    kv,
    async end() {
      await kv.close()
      await pool.end()
    },
  }
}
