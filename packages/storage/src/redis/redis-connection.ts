import { StorageError } from '@turnpike/core'
import type { Script } from './redis-scripts.js'

/** The part of an ioredis client (`Redis` or `Cluster`) that is used. */
export interface RedisClient {
  readonly status: string
  readonly isCluster?: boolean
  readonly options?: object
  connect(): Promise<unknown>
  /** A new client of the same options. */
  duplicate(): RedisClient
  disconnect(): void
  call(command: string, ...args: string[]): Promise<unknown>
  pipeline(commands: string[][]): { exec(): Promise<[error: Error | null, reply: unknown][] | null> }
  on(event: string, listener: (error: Error) => void): unknown
  off(event: string, listener: (error: Error) => void): unknown
}

/** Runs scripts on a client. ioredis pipelines commands by itself: an explicit pipeline was measured to be no faster. */
export interface Connection {
  /**
   * Runs an idempotent script, and runs it again if the connection broke before the reply, or Redis is being failed over.
   * @param replicas how many replicas must have what the script wrote; default 0
   * @throws StorageError with `outcome: 'none'` if it certainly did not write
   */
  run(script: Script, keys: string[], args: string[], replicas?: number): Promise<unknown>
  /** Sends a command once, with a time-out of `ms` milliseconds. On a Cluster, it goes to the node of the store's keys. */
  call(ms: number, ...command: Command): Promise<unknown>
  close(): void
}

type Command = [name: string, ...args: string[]]

/** How long Redis waits for replicas in milliseconds. Later commands of the connection wait too, so commits with `replicas` have one of their own. */
const REPLICATION_TIMEOUT = 1_000

/** How long a call waits for a server that broke its connections in milliseconds: as long as a restart takes. */
const RESTART = 2_000

/** Errors of a server that does not have the keys or may not write them at the moment. Nothing was written. */
const FAILOVER = /\b(READONLY|NOREPLICAS|CLUSTERDOWN|MOVED|ASK|TRYAGAIN)\b/

/** The polling interval while the client is not connected. */
const pause = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 20)
  })

/** @param key any key of the store */
export async function redisConnection(
  client: RedisClient,
  timeout: number,
  scripts: Script[],
  key: string,
): Promise<Connection> {
  let breaks = 0
  /** Since when the client has not been connected; undefined while it is. */
  let brokeAt: number | undefined
  let lastError: Error | undefined
  const inFlight = new Set<(error: Error) => void>()

  // ioredis 5 never settles some commands that were in flight when the connection broke (redis/ioredis#2193, #2197).
  const onClose = (): void => {
    breaks++
    brokeAt ??= Date.now()
    for (const fail of inFlight) fail(lastError ?? new Error('The connection broke'))
    inFlight.clear()
  }
  const onReady = (): void => {
    brokeAt = undefined
  }
  const onError = (error: Error): void => {
    lastError = error
  }
  const close = (): void => {
    client.off('close', onClose)
    client.off('-node', onClose)
    client.off('ready', onReady)
    client.off('error', onError)
  }
  client.on('close', onClose)
  // Of a Cluster: a connection to one of its nodes ended.
  client.on('-node', onClose)
  client.on('ready', onReady)
  client.on('error', onError)

  // Where others name the server, a replica may take its place, which takes longer.
  const options = (client.options ?? {}) as { db?: number; sentinels?: unknown }
  const patience = client.isCluster || options.sentinels ? timeout : Math.min(timeout, RESTART)
  let opened = false

  const withTimeout = (ms: number, reply: () => Promise<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new StorageError(`Redis did not answer within ${ms} ms`, 'unknown')), ms)
      inFlight.add(reject)
      const settled = (): void => {
        clearTimeout(timer)
        inFlight.delete(reject)
      }
      reply().then(resolve, reject).finally(settled)
    })

  /** Sends two commands on one connection; on a Cluster, to the node of the first key. */
  const both = async (...commands: [Command, Command]) =>
    (await client.pipeline(commands.map((command) => ['call', ...command])).exec())!

  const call = (ms: number, command: Command): Promise<unknown> =>
    withTimeout(ms, async () => {
      const [, [error, reply]] = (await both(['EXISTS', key], command)) as [unknown, [Error | null, unknown]]
      if (error) throw error
      return reply
    })

  /** WAIT concerns the writes of its own connection, so it has to be sent on the same one. */
  const callReplicated = async (command: Command, replicas: number): Promise<unknown> => {
    const [first, second] = await both(command, ['WAIT', String(replicas), String(REPLICATION_TIMEOUT)])
    const [error, reply] = first!
    if (error) throw error
    const [waitError, reached] = second!
    if (waitError) throw new Error(`Waiting for replicas failed: ${waitError.message}`, { cause: waitError })
    if (Number(reached) < replicas) throw new Error(`${String(reached)} of ${replicas} replicas have the commit`)
    return reply
  }

  /** Waits until the client is connected; false if it was ended, it has not been connected for long, or the deadline has passed. */
  const ready = async (deadline: number): Promise<boolean> => {
    while (client.status !== 'end' && Date.now() < deadline) {
      if (client.status === 'ready') return true
      if (opened && brokeAt !== undefined && Date.now() - brokeAt > patience) return false
      await pause()
    }
    return false
  }

  const unreachable = (outcome: 'none' | 'unknown'): StorageError =>
    new StorageError(`Redis cannot be reached: ${lastError?.message ?? client.status}`, outcome, { cause: lastError })

  const hashes = new Map<Script, string>()
  try {
    if (client.status === 'wait') client.connect().catch(onError)
    if (!(await ready(Date.now() + timeout))) throw unreachable('none')
    // Where the server does not have the database, ioredis goes on in database 0.
    const { db = 0 } = options
    if (db !== 0) await call(timeout, ['SELECT', String(db)])
    for (const script of scripts) hashes.set(script, String(await call(timeout, ['SCRIPT', 'LOAD', script.lua])))
    opened = true
  } catch (error) {
    close()
    throw error
  }

  return {
    call: (ms, ...command) => call(ms, command),
    close,
    async run(script, keys, args, replicas = 0) {
      const rest = [String(keys.length), ...keys, ...args]
      const deadline = Date.now() + timeout
      let command: Command = ['EVALSHA', hashes.get(script)!, ...rest]
      let breaksBefore: number | undefined
      // Whether an earlier attempt may have written; a Cluster client sends again by itself.
      let mayHaveWritten = client.isCluster ?? false
      while (await ready(deadline)) {
        breaksBefore ??= breaks
        try {
          return await withTimeout(timeout, () =>
            replicas > 0 ? callReplicated(command, replicas) : client.call(...command),
          )
        } catch (error) {
          if (StorageError.is(error)) throw error
          const { name, message } = error as Error
          if (message.startsWith('NOSCRIPT')) command = ['EVAL', script.lua, ...rest]
          // This reply says nothing about an earlier attempt.
          else if (name === 'ReplyError' && !FAILOVER.test(message))
            throw new StorageError(
              `Redis refused: ${message}`,
              breaks === breaksBefore && !mayHaveWritten ? 'none' : 'unknown',
              { cause: error },
            )
          else {
            mayHaveWritten ||= name !== 'ReplyError'
            lastError = error as Error
            await pause()
            // Of keys that have moved, ioredis finds the new node by single commands, but not by a pipeline.
            if (client.isCluster) await withTimeout(timeout, () => client.call('EXISTS', key)).catch(() => undefined)
          }
        }
      }
      throw unreachable(breaksBefore === undefined ? 'none' : 'unknown')
    },
  }
}

/**
 * A connection on a new client with the options of this one. `close` ends the new client, and so does the end of this one, which ioredis does
 * not tell while it reconnects: close the store before its client.
 */
export async function separateConnection(
  client: RedisClient,
  ...rest: [timeout: number, scripts: Script[], key: string]
): Promise<Connection> {
  const own = client.duplicate()
  const end = (): void => own.disconnect()
  client.on('end', end)
  const close = (): void => {
    client.off('end', end)
    end()
  }
  try {
    const connection = await redisConnection(own, ...rest)
    return {
      ...connection,
      close() {
        connection.close()
        close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}
