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

export interface Storage {
  /** Its `close` closes all. */
  kv: KV
  /** Counts for all processes of the store; absent where there can be one only, whose own memory is enough. */
  rateLimiter?: RateLimiter
}

/** A store that ends its connection with itself. */
const ending = (kv: KV, end: () => unknown): KV => ({
  ...kv,
  async close() {
    await kv.close()
    await end()
  },
})

/** What several processes share. */
const shared = (kv: KV, rateLimiter: SharedRateLimiter, end?: () => unknown): Storage => ({
  kv: ending(kv, async () => {
    await rateLimiter.close()
    await end?.()
  }),
  rateLimiter,
})

async function redis(url: string): Promise<Storage> {
  const { Redis } = await import('ioredis')
  const client = new Redis(url)
  try {
    return shared(await redisKV(client), await redisRateLimiter(client), () => client.quit())
  } catch (error) {
    client.disconnect()
    throw error
  }
}

async function postgres(url: string): Promise<Storage> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    return shared(await postgresKV(pool), await postgresRateLimiter(pool), () => pool.end())
  } catch (error) {
    await pool.end()
    throw error
  }
}

/** `NAME?{json}`: a driver of unstorage and its options. */
async function driver(text: string): Promise<Storage> {
  const { builtinDrivers } = await import('unstorage')
  const [, name = '', json = '{}'] = /^([^?]*)(?:\?(.*))?$/s.exec(text) ?? []
  const path = (builtinDrivers as Record<string, string>)[name]
  if (path === undefined)
    throw new Error(`unstorage has no driver "${name}", but ${Object.keys(builtinDrivers).toSorted().join(', ')}`)
  const { default: create } = (await import(path)) as { default: (options: object) => Parameters<typeof openKV>[0] }
  const storage = create(JSON.parse(json) as object)
  return { kv: ending(await openKV(storage), () => storage.dispose?.()) }
}

/** What `STORAGE` begins with, and how the rest is opened. */
const openers: Record<string, (rest: string, url: string) => Promise<Storage>> = {
  memory: async () => ({ kv: await memoryKV() }),
  'fs:': async (folder) => ({ kv: await fsKV(folder) }),
  'sqlite:': async (file) => shared(await sqliteKV(file), await sqliteRateLimiter(file)),
  'redis://': (_, url) => redis(url),
  'rediss://': (_, url) => redis(url),
  'postgres://': (_, url) => postgres(url),
  'postgresql://': (_, url) => postgres(url),
  'driver:': driver,
}

/** Opens the store that a value of `STORAGE` names: the one switch between storages. */
export function openStorage(url: string): Promise<Storage> {
  const [scheme, open] = Object.entries(openers).find(([scheme]) => url.startsWith(scheme)) ?? []
  if (!open) throw new Error(`STORAGE begins with one of ${Object.keys(openers).join(' ')}`)
  return open(url.slice(scheme!.length), url)
}
