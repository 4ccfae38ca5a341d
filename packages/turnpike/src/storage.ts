import { stat } from 'node:fs/promises'
import type { KV, RateLimiter } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import type { SharedRateLimiter } from '@turnpike/storage'
import {
  fsKV,
  openKV,
  postgresKV,
  postgresRateLimiter,
  redisKV,
  redisRateLimiter,
  sqliteKV,
  sqliteRateLimiter,
} from '@turnpike/storage'
import type { Config } from './config/schema.js'
import { openDriver } from './driver.js'
import type { Opener } from './open-by-prefix.js'
import { openByPrefix } from './open-by-prefix.js'
import { connectPostgres } from './postgres.js'
import { connectRedis, replicasOf } from './redis.js'

export interface Storage {
  /** Its `close` also closes the rate limiter and the connection. */
  kv: KV
  /** Counts across all processes that share the store; absent if the store serves one process, which can count in memory. */
  rateLimiter?: RateLimiter
}

/** A store whose `close` also closes its connection. */
const withEnd = (kv: KV, end: () => unknown): KV => ({
  ...kv,
  async close() {
    await kv.close()
    await end()
  },
})

/** A store and a rate limiter that several processes share. */
const shared = (kv: KV, rateLimiter: SharedRateLimiter, end?: () => unknown): Storage => ({
  kv: withEnd(kv, async () => {
    await rateLimiter.close()
    await end?.()
  }),
  rateLimiter,
})

async function redis(url: string): Promise<Storage> {
  const replicas = replicasOf(url)
  const client = await connectRedis(url)
  let kv: KV | undefined
  try {
    kv = await redisKV(client, { replicas })
    return shared(kv, await redisRateLimiter(client), () => client.quit())
  } catch (error) {
    await kv?.close()
    client.disconnect()
    throw error
  }
}

async function postgres(url: string): Promise<Storage> {
  const pool = await connectPostgres(url)
  try {
    return shared(await postgresKV(pool), await postgresRateLimiter(pool), () => pool.end())
  } catch (error) {
    await pool.end()
    throw error
  }
}

async function sqlite(file: string): Promise<Storage> {
  const storage = shared(await sqliteKV(file), await sqliteRateLimiter(file))
  // What was there keeps its mode, which may be meant so.
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o007) > 0)
    console.error(`Everybody on this machine can read ${file}; if that is not meant so: chmod o-rwx ${file}*`)
  return storage
}

/** Opens `NAME?{json}`: an unstorage driver and its options. */
async function driver(text: string): Promise<Storage> {
  const storage = await openDriver(text)
  return { kv: withEnd(await openKV(storage), () => storage.dispose?.()) }
}

/** The prefixes of `STORAGE`, and the function that opens each kind of store. */
const openers: Record<string, Opener<Storage>> = {
  memory: async () => ({ kv: await memoryKV() }),
  'fs:': async (folder) => ({ kv: await fsKV(folder) }),
  'sqlite:': sqlite,
  'redis://': (_, url) => redis(url),
  'rediss://': (_, url) => redis(url),
  'postgres://': (_, url) => postgres(url),
  'postgresql://': (_, url) => postgres(url),
  'driver:': driver,
}

/**
 * Opens the store that a value of `STORAGE` names. Besides the form of the value in config/schema.ts, this is the only place that depends on the kind of store.
 * @example const { kv } = await openStorage('fs:.turnpike')
 */
export const openStorage = (url: string): Promise<Storage> => openByPrefix('STORAGE', url, openers)

/** Opens a store by its URL, or takes one that is open: its owner closes it. */
export async function openStore(store: Config['store']): Promise<Storage & { close(): Promise<void> }> {
  if (typeof store !== 'string') return { ...store, close: async () => undefined }
  const opened = await openStorage(store)
  return { ...opened, close: () => opened.kv.close() }
}
