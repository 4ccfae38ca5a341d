import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Commit, KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { redisKV } from '@turnpike/storage'
import type { RedisOptions } from 'ioredis'
import { Redis } from 'ioredis'
import { afterEach } from 'vitest'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'

/** Servers, clients and connections that end after each test of the file that calls this. */
export function redisParts() {
  const cleanUp: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of cleanUp.splice(0).toReversed()) await end()
  })

  async function start(config?: Record<string, string[]>): Promise<RedisServer> {
    const server = await startRedis(config)
    cleanUp.push(() => server.stop())
    return server
  }

  /** A client, and a store through it. */
  async function open(port: number, options: RedisOptions = {}, timeout = 10_000): Promise<{ client: Redis; kv: KV }> {
    const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, ...options })
    cleanUp.push(() => client.disconnect())
    return { client, kv: await redisKV(client, { timeout }) }
  }

  /** A connection between client and server that breaks on demand. */
  async function proxy(port: number) {
    const sockets = new Set<Socket>()
    const state = {
      port: 0,
      /** Answers to swallow; with the first of them the connection breaks. */
      swallow: 0,
      /** Whether new connections are refused. */
      down: false,
      /** All that the client sent. */
      sent: [] as Buffer[],
    }
    const server = createServer((near) => {
      if (state.down) {
        near.resetAndDestroy()
        return
      }
      const far = connect(port, '127.0.0.1')
      for (const socket of [near, far]) {
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
      near.on('data', (piece) => {
        state.sent.push(piece)
        far.write(piece)
      })
      far.on('data', (piece) => {
        if (state.swallow === 0) near.write(piece)
        else {
          state.swallow--
          near.resetAndDestroy()
        }
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    state.port = (server.address() as AddressInfo).port
    cleanUp.push(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    return state
  }

  return { start, open, proxy, cleanUp }
}

export const addOne: Commit = { set: [{ key: ['a'], value: 1 }], sum: [{ key: ['n'], add: { x: 1 } }] }
export const outcome = (commit: Promise<boolean>): Promise<unknown> =>
  commit.catch((error: unknown) => (StorageError.is(error) ? error.outcome : error))
