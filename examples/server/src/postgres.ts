/** A pool of connections to PostgreSQL, which follows the primary. @module */
import { EventEmitter } from 'node:events'
import type { PgPool } from '@turnpike/storage'
import type { ClientBase, PoolClient } from 'pg'
import { urlsOfHosts } from './hosts.js'

export type Pool = PgPool & { end(): Promise<unknown> }

/** Time-outs in milliseconds: of connecting, and of a statement, which waits for a standby where replication is synchronous. */
const CONNECTION_TIMEOUT = 10_000
const QUERY_TIMEOUT = 10_000

async function assertPrimary(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]!.standby) throw new Error('The only host of PostgreSQL that answers is a standby')
}

/** Connects to the PostgreSQL of a URL; of several hosts, to the one that is the primary. */
export async function connectPostgres(url: string): Promise<Pool> {
  const { default: pg } = await import('pg')
  const settings = { connectionTimeoutMillis: CONNECTION_TIMEOUT, query_timeout: QUERY_TIMEOUT }
  const urls = urlsOfHosts(url)
  if (urls.length === 1) return new pg.Pool({ ...settings, connectionString: url })
  const pools = urls.map((connectionString) => new pg.Pool({ ...settings, connectionString, onConnect: assertPrimary }))
  let primary = 0
  /** Tries the host that was the primary last, then the others. */
  const connect = async (): Promise<PoolClient> => {
    const from = primary
    let failure: unknown
    for (let i = 0; i < pools.length; i++) {
      const at = (from + i) % pools.length
      try {
        const client = await pools[at]!.connect()
        primary = at
        return client
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
  const events = new EventEmitter()
  for (const pool of pools) {
    pool.on('error', (error) => events.emit('error', error))
    pool.on('connect', (client) => events.emit('connect', client))
  }
  return Object.assign(events, {
    connect,
    async query(text: string, values?: unknown[]) {
      const client = await connect()
      let failed = true
      try {
        const result = await client.query(text, values)
        failed = false
        return result
      } finally {
        client.release(failed)
      }
    },
    end: () => Promise.all(pools.map((pool) => pool.end())),
  })
}
