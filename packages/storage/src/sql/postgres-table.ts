import { StorageError } from '@turnpike/core'

/** The part of `pg`'s `Pool` that is used. */
export interface PgPool {
  connect(): Promise<PgClient>
  query(text: string, values?: unknown[]): Promise<PgResult>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: PgClient) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'connect', listener: (client: PgClient) => void): unknown
}
/** The part of `pg`'s `PoolClient` that is used. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<PgResult>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  release(destroy?: boolean): void
}
/** The part of `pg`'s query result that is used. */
export interface PgResult {
  rows: unknown[]
}

/** Access to a table. `query` rejects with `StorageError`s. */
export interface PgTable {
  /** The name, quoted for use in a statement. */
  table: string
  /** Whether the server flushes a commit before it acknowledges it. */
  durable: boolean
  /** Runs an idempotent statement, which is sent retryOnce if the connection breaks. @returns its rows */
  query<T>(text: string, values?: unknown[]): Promise<T[]>
  /** Runs `action` on a dedicated connection, which is destroyed if that fails. */
  withClient<T>(action: (client: PgClient) => Promise<T>): Promise<T>
  /** Rejects if the server does not accept writes. */
  ping(): Promise<void>
  /** Removes the listeners; the pool stays open. */
  close(): void
}

/** The advisory lock for creating tables; the locks of keys are positive. */
const CREATE_LOCK = -1

const ignore = (): void => undefined

/** Whether the connection failed, rather than the statement. */
export const isConnectionError = (error: unknown): boolean => {
  const { severity, code = '' } = error as { severity?: string; code?: string }
  return severity === undefined || /^(08|57P|25P03)/.test(code)
}

type Outcome = StorageError['outcome']

const toStorageError = (cause: unknown, outcome: Outcome): StorageError =>
  StorageError.is(cause)
    ? cause
    : new StorageError(`PostgreSQL failed: ${(cause as Error).message}`, outcome, { cause })

/** Retries `action` once, on another connection, if its connection breaks. `broken` is the outcome if the second one breaks too; default `none`. */
export async function retryOnce<T>(action: () => Promise<T>, broken: Outcome = 'none'): Promise<T> {
  try {
    return await action().catch((error: unknown) => {
      if (StorageError.is(error) || !isConnectionError(error)) throw error
      return action()
    })
  } catch (error) {
    throw toStorageError(error, isConnectionError(error) ? broken : 'none')
  }
}

interface Server {
  read_only: boolean
  version: number
  encoding: string
  durable: boolean
  present: boolean
}

function assertUsable({ read_only, version, encoding }: Server): void {
  if (read_only)
    throw new StorageError('This PostgreSQL takes no writes (a standby, or read-only): connect to the primary', 'none')
  if (version < 130_000) throw new StorageError('PostgreSQL 13 or newer is needed', 'none')
  if (encoding !== 'UTF8')
    throw new StorageError(`The database is encoded in ${encoding}: create one with encoding 'UTF8'`, 'none')
}

/**
 * Opens a table, and creates it with the statements of `create` if it is missing.
 * @throws TypeError if `name` is not a valid table name
 * @throws StorageError if the server is read-only or cannot be used
 */
export async function postgresTable(pool: PgPool, name: string, create: (table: string) => string): Promise<PgTable> {
  if (!/^[a-z_][a-z0-9_]{0,47}(\.[a-z_][a-z0-9_]{0,47})?$/.test(name))
    throw new TypeError(`"${name}" is no table name of at most 48 lower-case letters, digits and _`)
  const table = name.replaceAll(/\w+/g, '"$&"')

  const query = async <T>(text: string, values?: unknown[]): Promise<T[]> =>
    (await retryOnce(() => pool.query(text, values))).rows as T[]

  const withClient = async <T>(action: (client: PgClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    // An 'error' event without a listener would end the process.
    client.on('error', ignore)
    let failed = true
    try {
      const result = await action(client)
      failed = false
      return result
    } finally {
      client.removeListener('error', ignore)
      client.release(failed)
    }
  }

  const inspect = async (): Promise<Server> => {
    const [server] = await query<Server>(
      `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as read_only,
    current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
    current_setting('synchronous_commit') <> 'off' and current_setting('fsync') = 'on' as durable,
    to_regclass($1) is not null as present`,
      [table],
    )
    assertUsable(server!)
    return server!
  }

  pool.on('error', ignore)
  // A connection may fail in the moment in which the pool hands it over, when nobody else listens.
  const guard = (client: PgClient): void => void client.on('error', ignore)
  pool.on('connect', guard)
  const close = (): void => {
    pool.removeListener('error', ignore)
    pool.removeListener('connect', guard)
  }
  try {
    const { durable, present } = await inspect()
    if (!present)
      await retryOnce(() =>
        withClient(async (client) => {
          await client.query(`begin; select pg_advisory_xact_lock(${CREATE_LOCK})`)
          await client.query(create(table))
          await client.query('commit')
        }),
      )
    return { table, durable, query, withClient, ping: async () => void (await inspect()), close }
  } catch (error) {
    close()
    throw error
  }
}
