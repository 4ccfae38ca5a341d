/** A pool of connections to PostgreSQL, which follows the primary. @module */
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PgPool } from '@turnpike/storage'
import type { ClientBase, ClientConfig, PoolClient } from 'pg'
import { urlsOfHosts } from './hosts.js'

type Pool = PgPool & { end(): Promise<unknown> }

/** How long a connection is tried to be made in milliseconds; of several hosts, until one is the primary. */
const CONNECT_TIMEOUT = 10_000
/** How long one of several hosts has to answer. */
const HOST_TIMEOUT = 2_000
/** The pause after no host was the primary. */
const PAUSE = 100
/** Time-out of a statement in milliseconds. A COMMIT waits for the standby where replication is synchronous. */
const QUERY_TIMEOUT = 10_000

/** SQLSTATEs of a user, a password or a database that the server refuses. No other host is tried then, as in libpq. */
const REFUSED = /^(28...|3D000)$/

async function assertPrimary(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]!.standby) throw new Error('The only host of PostgreSQL that answers is a standby')
}

/** Connects to the PostgreSQL of a URL; of several hosts, to the one that is the primary. */
export async function connectPostgres(url: string): Promise<Pool> {
  const { default: pg } = await import('pg')
  const urls = urlsOfHosts(url)
  const options = { connectionTimeoutMillis: CONNECT_TIMEOUT, query_timeout: QUERY_TIMEOUT }
  if (urls.length === 1) return new pg.Pool({ ...options, connectionString: url })

  /** Gives up a host sooner than the pool gives up waiting for a connection that is in use. */
  class HostClient extends pg.Client {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionTimeoutMillis: HOST_TIMEOUT })
    }
  }
  const pools = urls.map(
    (connectionString) => new pg.Pool({ ...options, connectionString, Client: HostClient, onConnect: assertPrimary }),
  )
  let primary = 0
  const connect = async (): Promise<PoolClient> => {
    const deadline = Date.now() + CONNECT_TIMEOUT
    for (let failures = 0; ; failures++) {
      const at = primary
      try {
        return await pools[at]!.connect()
      } catch (error) {
        // Others may have found that out at the same time. The next connection begins with another host also where this one refuses.
        if (primary === at) primary = (at + 1) % pools.length
        if (Date.now() > deadline || REFUSED.test(String((error as { code?: string }).code))) throw error
        if (failures % pools.length === pools.length - 1) await sleep(PAUSE)
      }
    }
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
