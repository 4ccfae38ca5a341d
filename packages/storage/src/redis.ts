/** A `KV` for many hosts, in Redis. @module */
import type { Entry, Health, Key, KV, KVCapabilities, ListOptions, Page } from '@turnpike/core'
import type { PreparedCommit } from '@turnpike/core/internal'
import { StorageError } from '@turnpike/core'
import { decodeKey, encodeKey, PAGE_BYTES, prepareCommit, rangeOf } from '@turnpike/core/internal'
import type { Connection, RedisClient } from './redis/redis-connection.js'
import { redisConnection, separateConnection } from './redis/redis-connection.js'
import { COMMIT, GET, LIST } from './redis/redis-scripts.js'

export type { RedisClient } from './redis/redis-connection.js'
export type { RedisItemsClient, RedisItemsCluster } from './redis/redis-items.js'
export { redisItems } from './redis/redis-items.js'
export * from './redis/redis-rate-limiter.js'

/** Options of {@link redisKV}. */
export interface RedisKVOptions {
  /** Prefix of all keys; default `{turnpike}`. The braces (a hash tag) keep all keys in one slot of a Cluster. */
  base?: string
  /**
   * Time-out of a call in milliseconds, including reconnects; default 10,000. A server alone that has been away for two seconds makes calls fail
   * at once; of Sentinels and a Cluster, a replica may still take its place.
   */
  timeout?: number
  /**
   * How many replicas must have a commit before it is acknowledged, so that a failover to one of them does not lose it (`WAIT`); default 0.
   * A commit that they do not get within the time-out is of unknown outcome. Such commits are sent on a connection of their own
   * (`client.duplicate()`), because all that follows a `WAIT` on its connection waits too.
   */
  replicas?: number
}

/** The format of the stored data; a store of another format is refused. */
const FORMAT = '1'

/** Time-out of `health` in milliseconds. */
const HEALTH = 2_000

const refuse = (message: string): never => {
  throw new StorageError(message, 'none')
}

/** The fields of Redis's INFO. */
async function infoOf(connection: Connection, timeout: number): Promise<Map<string, string>> {
  const lines = String(await connection.call(timeout, 'INFO')).split('\r\n')
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}

/** What an acknowledged commit survives, as far as Redis reports it; throws for a replica and for a server that evicts keys. */
async function durabilityOf(connection: Connection, timeout: number): Promise<KVCapabilities['durability']> {
  const info = await infoOf(connection, timeout)
  if (info.get('role') === 'slave') refuse('This Redis is a read-only replica; connect to its primary')
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  if (policy !== 'noeviction')
    refuse(`Redis deletes entries when it is full (maxmemory-policy ${policy}); set maxmemory-policy to noeviction`)
  const setting = async (name: string): Promise<unknown> =>
    ((await connection.call(timeout, 'CONFIG', 'GET', name)) as string[])[1]
  try {
    if ((await setting('appendonly')) === 'no') return 'none'
    return (await setting('appendfsync')) === 'always' ? 'power-loss' : 'engine-configured'
  } catch (error) {
    // A managed Redis may refuse CONFIG.
    if ((error as Error).name === 'ReplyError') return 'engine-configured'
    throw error
  }
}

async function checkFormat(connection: Connection, timeout: number, meta: string): Promise<void> {
  await connection.call(timeout, 'HSETNX', meta, 'format', FORMAT)
  const format = String(await connection.call(timeout, 'HGET', meta, 'format'))
  if (format !== FORMAT)
    refuse(
      `${meta} is of format ${format}, and this version knows ${FORMAT}; use the version that wrote it, or a newer one`,
    )
}

/**
 * Makes Redis rewrite its append-only file, once after each start of Redis.
 * If Redis was killed in the middle of a commit, the file may keep the first half of it, which is ignored at the next start but
 * applied at the one after (seen with Redis 7.0.15; valkey-io/valkey#4342).
 */
async function rewriteLog(connection: Connection, timeout: number, meta: string): Promise<void> {
  const info = await infoOf(connection, timeout)
  const run = info.get('run_id')
  if (!run || info.get('aof_enabled') !== '1' || run === (await connection.call(timeout, 'HGET', meta, 'run'))) return
  await connection.call(timeout, 'BGREWRITEAOF')
  await connection.call(timeout, 'HSET', meta, 'run', run)
}

/** A value (its version, then JSON), a value with the last millisecond before it expires, the flat list of a counter, or an empty list. */
type Raw = string | string[]

function toEntry<T>(key: Key, raw: Raw): Entry<T> | null {
  if (typeof raw === 'string') return { key, value: JSON.parse(raw.slice(16)) as T, version: raw.slice(0, 16) }
  if (raw.length === 0) return null
  // The fields of a counter never begin with a digit.
  if (/^\d/.test(raw[0]!)) return { ...toEntry<T>(key, raw[0]!)!, expiresAt: Number(raw[1]) + 1 }
  const fields: [string, number][] = []
  let version = ''
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i] === 'v') version = raw[i + 1]!
    else fields.push([raw[i]!.slice(1), Number(raw[i + 1])])
  return { key, value: Object.fromEntries(fields) as T, version, counter: true }
}

/** The keys and arguments of a commit, in the order in which the script reads them. */
function argumentsOf({ check, set, del, sum }: PreparedCommit, prefix: string): { keys: string[]; args: string[] } {
  const keys = [...check.map(({ k }) => k), ...set.map(({ k }) => k), ...del, ...sum.map(({ k }) => k)]
  const args = [check, set, del, sum].map(({ length }) => String(length))
  for (const { version } of check) args.push(version ?? '')
  for (const { json, expiresAt } of set) {
    // Redis keeps a key until the end of its last millisecond.
    args.push(json, expiresAt === undefined ? '' : String(expiresAt - 1))
  }
  for (const { add } of sum) {
    const fields = Object.entries(add)
    args.push(String(fields.length))
    for (const [field, amount] of fields) args.push(field, String(amount))
  }
  return { keys: keys.map((k) => prefix + k), args }
}

/**
 * Opens the store in Redis, through an ioredis client that the caller closes.
 * Each commit is one script, numbered so that Redis applies it once however often it is sent. Where an address may lead to another server after a
 * failover, give the client a `reconnectOnError` that is true of `READONLY` errors.
 * @throws StorageError if Redis cannot be reached, is a replica, evicts keys, or holds a store of another format
 * @example const kv = await redisKV(new Redis('redis://localhost'))
 */
export async function redisKV(client: RedisClient, options: RedisKVOptions = {}): Promise<KV> {
  const { base = '{turnpike}', timeout = 10_000, replicas = 0 } = options
  const [meta, index, ends] = [`${base}:meta`, `${base}:index`, `${base}:ends`]
  const session = `${base}:session:${crypto.randomUUID()}`
  const keyPrefix = `${base}:key:`
  const keyOf = (key: Key): string => keyPrefix + encodeKey(key)

  const connection = await redisConnection(client, timeout, [GET, LIST, COMMIT], meta)
  let durability: KVCapabilities['durability']
  let commits: Connection
  try {
    durability = await durabilityOf(connection, timeout)
    await checkFormat(connection, timeout, meta)
    commits = replicas > 0 ? await separateConnection(client, timeout, [COMMIT], meta) : connection
  } catch (cause) {
    connection.close()
    if (StorageError.is(cause)) throw cause
    throw new StorageError(`Redis cannot be used: ${(cause as Error).message}`, 'none', { cause })
  }

  // Errors are ignored: not every Redis allows the command, and one fails if a rewrite is under way already.
  const onReady = (): void => void rewriteLog(connection, timeout, meta).catch(() => undefined)
  client.on('ready', onReady)
  // Of a Cluster: one of its nodes is connected again.
  client.on('+node', onReady)
  onReady()

  let closed = false
  let number = 0
  let slots = 0
  const freeSlots: number[] = []
  const running = new Set<Promise<unknown>>()

  const run = async (on: Connection, ...call: Parameters<Connection['run']>): Promise<unknown> => {
    if (closed) throw new StorageError('The store is closed', 'none')
    const reply = on.run(...call)
    running.add(reply)
    return reply.finally(() => running.delete(reply))
  }

  const getMany = async <T>(wanted: Key[], { page = false } = {}): Promise<(Entry<T> | null)[]> => {
    const most = page ? PAGE_BYTES : Number.MAX_SAFE_INTEGER
    const found = (await run(connection, GET, [ends, keyPrefix, ...wanted.map(keyOf)], [String(most)])) as Raw[]
    return found.map((raw, i) => toEntry<T>([...wanted[i]!], raw))
  }

  return {
    capabilities: { writers: 'many-hosts', durability, driver: 'redis' },
    getMany,
    get: async <T>(key: Key) => (await getMany<T>([key]))[0]!,
    async list<T>(prefix: Key, options?: ListOptions): Promise<Page<T>> {
      const { low, high, limit, reverse } = rangeOf(prefix, options)
      const command = reverse ? 'ZREVRANGEBYLEX' : 'ZRANGEBYLEX'
      const to = `(${reverse ? low : high}`
      let from = `(${reverse ? high : low}`
      const items: Entry<T>[] = []
      for (;;) {
        const rows = (await run(
          connection,
          LIST,
          [ends, keyPrefix, index],
          [command, from, to, String(limit + 1), String(PAGE_BYTES)],
        )) as [string, Raw?][]
        for (const [member, raw] of rows) {
          const entry = raw && toEntry<T>(decodeKey(member), raw)
          if (entry === null) continue
          if (!entry || items.length === limit) return { items, next: items.at(-1)!.key }
          items.push(entry)
        }
        if (rows.length <= limit) return { items }
        from = `(${rows.at(-1)![0]}`
      }
    },
    async commit(commit) {
      const { keys, args } = argumentsOf(prepareCommit(commit), keyPrefix)
      const slot = freeSlots.pop() ?? slots++
      try {
        const reply = await run(
          commits,
          COMMIT,
          [meta, index, ends, session, keyPrefix, ...keys],
          [String(slot), String(++number), ...args],
          replicas,
        )
        if (!Array.isArray(reply)) return reply === 1
        const [fault, key] = reply as string[]
        throw new TypeError(
          fault === 'set' ? `${key} is a counter and cannot be set` : `${key} holds a value and cannot be summed`,
        )
      } finally {
        freeSlots.push(slot)
      }
    },
    async health(): Promise<Health> {
      if (closed) return { ok: false, reason: 'The store is closed' }
      if (client.status !== 'ready') return { ok: false, reason: `The connection to Redis is ${client.status}` }
      return connection.call(HEALTH, 'PING').then(
        () => ({ ok: true }),
        (error: Error) => ({ ok: false, reason: error.message }),
      )
    },
    async close() {
      closed = true
      await Promise.allSettled(running)
      client.off('ready', onReady)
      client.off('+node', onReady)
      commits.close()
      connection.close()
    },
  }
}
