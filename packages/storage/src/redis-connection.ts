import { StorageError } from '@turnpike/core'
import type { Script } from './redis-scripts.js'

/** What is used of an ioredis client, `Redis` or `Cluster`. */
export interface RedisClient {
  readonly status: string
  readonly isCluster?: boolean
  call(command: string, ...args: string[]): Promise<unknown>
  pipeline(commands: string[][]): { exec(): Promise<[error: Error | null, reply: unknown][] | null> }
  on(event: string, listener: (error: Error) => void): unknown
  off(event: string, listener: (error: Error) => void): unknown
}

/** Runs scripts on a client. All that are asked for in one turn of the event loop go in one pipeline. */
export interface Connection {
  /**
   * Runs a script, and runs it again where the connection broke before the answer: only for scripts that bear it.
   * @throws StorageError with `outcome: 'none'` where it surely did not write
   */
  run(script: Script, keys: string[], args: string[]): Promise<unknown>
  /** One command, once. */
  call(ms: number, command: string, ...args: string[]): Promise<unknown>
  close(): void
}

interface Waiting {
  command: string[]
  resolve(reply: unknown): void
  reject(error: unknown): void
}

/** Milliseconds between two looks at a client that is not connected. */
const PAUSE = 20

export async function redisConnection(client: RedisClient, timeout: number, scripts: Script[]): Promise<Connection> {
  let queue: Waiting[] = []
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

  const late = (ms: number): StorageError =>
    new StorageError(
      `Redis did not answer within ${ms} ms${lastError && client.status !== 'ready' ? `: ${lastError.message}` : ''}`,
      'unknown',
    )

  const call = async (ms: number, command: string, ...args: string[]): Promise<unknown> => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const never = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late(ms)), ms)
    })
    return Promise.race([client.call(command, ...args), never]).finally(() => clearTimeout(timer))
  }

  const flush = async (): Promise<void> => {
    const batch = queue
    queue = []
    const fail = (error: unknown): void => batch.forEach(({ reject }) => reject(error))
    const timer = setTimeout(() => fail(late(timeout)), timeout)
    inFlight.add(fail)
    try {
      const replies = await client.pipeline(batch.map(({ command }) => command)).exec()
      batch.forEach(({ resolve, reject }, i) => {
        const [error, reply] = replies![i]!
        if (error) reject(error)
        else resolve(reply)
      })
    } catch (error) {
      fail(error)
    }
    clearTimeout(timer)
    inFlight.delete(fail)
  }

  const send = (command: string[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (queue.push({ command, resolve, reject }) === 1) setImmediate(() => void flush())
    })

  const hashes = new Map<Script, string>()
  try {
    for (const script of scripts) hashes.set(script, String(await call(timeout, 'SCRIPT', 'LOAD', script.lua)))
  } catch (cause) {
    close()
    throw new StorageError(`Redis cannot be used: ${(cause as Error).message}`, 'none', { cause })
  }

  return {
    call,
    close,
    async run(script, keys, args) {
      const rest = [String(keys.length), ...keys, ...args]
      const deadline = Date.now() + timeout
      let command = ['evalsha', hashes.get(script)!, ...rest]
      let breaksBefore: number | undefined
      for (;;) {
        if (client.status === 'ready') {
          breaksBefore ??= breaks
          try {
            return await send(command)
          } catch (error) {
            if (StorageError.is(error)) throw error
            const { name, message } = error as Error
            if (message.startsWith('NOSCRIPT')) {
              command = ['eval', script.lua, ...rest]
              continue
            }
            // An answer to what may have been sent before, by ioredis too, tells nothing of the first time.
            if (name === 'ReplyError')
              throw new StorageError(
                `Redis refused: ${message}`,
                breaks === breaksBefore && !client.isCluster ? 'none' : 'unknown',
                { cause: error },
              )
            lastError = error as Error
          }
        }
        if (client.status === 'end' || Date.now() >= deadline)
          throw new StorageError(
            `Redis cannot be reached: ${lastError?.message ?? client.status}`,
            breaksBefore === undefined ? 'none' : 'unknown',
            { cause: lastError },
          )
        await new Promise((resolve) => {
          setTimeout(resolve, PAUSE)
        })
      }
    },
  }
}
