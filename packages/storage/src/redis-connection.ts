import { StorageError } from '@turnpike/core'
import type { Script } from './redis-scripts.js'

/** The part of an ioredis client (`Redis` or `Cluster`) that is used. */
export interface RedisClient {
  readonly status: string
  readonly isCluster?: boolean
  connect(): Promise<unknown>
  call(command: string, ...args: string[]): Promise<unknown>
  on(event: string, listener: (error: Error) => void): unknown
  off(event: string, listener: (error: Error) => void): unknown
}

/** Runs scripts on a client. ioredis pipelines commands by itself: an explicit pipeline was measured to be no faster. */
export interface Connection {
  /**
   * Runs an idempotent script, and runs it again if the connection broke before the reply.
   * @throws StorageError with `outcome: 'none'` if it certainly did not write
   */
  run(script: Script, keys: string[], args: string[]): Promise<unknown>
  /** Sends a command once, with a time-out of `ms` milliseconds. */
  call(ms: number, ...command: [name: string, ...args: string[]]): Promise<unknown>
  close(): void
}

/** The polling interval while the client is not connected. */
const pause = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 20)
  })

export async function redisConnection(client: RedisClient, timeout: number, scripts: Script[]): Promise<Connection> {
  let breaks = 0
  let lastError: Error | undefined
  const inFlight = new Set<(error: Error) => void>()

  // ioredis 5 never settles some commands that were in flight when the connection broke (redis/ioredis#2193, #2197).
  const onClose = (): void => {
    breaks++
    for (const fail of inFlight) fail(lastError ?? new Error('The connection broke'))
    inFlight.clear()
  }
  const onError = (error: Error): void => {
    lastError = error
  }
  const close = (): void => {
    client.off('close', onClose)
    client.off('error', onError)
  }
  client.on('close', onClose)
  client.on('error', onError)

  const send = (ms: number, [name, ...args]: [string, ...string[]]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new StorageError(`Redis did not answer within ${ms} ms`, 'unknown')), ms)
      inFlight.add(reject)
      const settled = (): void => {
        clearTimeout(timer)
        inFlight.delete(reject)
      }
      client
        .call(name, ...args)
        .then(resolve, reject)
        .finally(settled)
    })

  /** Waits until the client is connected; false if it was ended or the deadline has passed. */
  const ready = async (deadline: number): Promise<boolean> => {
    while (client.status !== 'end' && Date.now() < deadline) {
      if (client.status === 'ready') return true
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
    for (const script of scripts) hashes.set(script, String(await send(timeout, ['SCRIPT', 'LOAD', script.lua])))
  } catch (error) {
    close()
    throw error
  }

  return {
    call: (ms, ...command) => send(ms, command),
    close,
    async run(script, keys, args) {
      const rest = [String(keys.length), ...keys, ...args]
      const deadline = Date.now() + timeout
      let command: [string, ...string[]] = ['EVALSHA', hashes.get(script)!, ...rest]
      let breaksBefore: number | undefined
      while (await ready(deadline)) {
        breaksBefore ??= breaks
        try {
          return await send(timeout, command)
        } catch (error) {
          if (StorageError.is(error)) throw error
          const { name, message } = error as Error
          if (message.startsWith('NOSCRIPT')) command = ['EVAL', script.lua, ...rest]
          // If the command may have been sent before (ioredis resends too), this reply says nothing about the first attempt.
          else if (name === 'ReplyError')
            throw new StorageError(
              `Redis refused: ${message}`,
              breaks === breaksBefore && !client.isCluster ? 'none' : 'unknown',
              { cause: error },
            )
          else {
            lastError = error as Error
            await pause()
          }
        }
      }
      throw unreachable(breaksBefore === undefined ? 'none' : 'unknown')
    },
  }
}
