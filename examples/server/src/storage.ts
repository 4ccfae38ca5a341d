import type { KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { fsKV, openKV, postgresKV, redisKV, sqliteKV } from '@turnpike/storage'

/** A store that ends its connection with itself. */
const ending = (kv: KV, end: () => unknown): KV => ({
  ...kv,
  async close() {
    await kv.close()
    await end()
  },
})

async function redis(url: string): Promise<KV> {
  const { Redis } = await import('ioredis')
  const client = new Redis(url)
  try {
    return ending(await redisKV(client), () => client.quit())
  } catch (error) {
    client.disconnect()
    throw error
  }
}

async function postgres(url: string): Promise<KV> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    return ending(await postgresKV(pool), () => pool.end())
  } catch (error) {
    await pool.end()
    throw error
  }
}

/** `NAME?{json}`: a driver of unstorage and its options. */
async function driver(text: string): Promise<KV> {
  const { builtinDrivers } = await import('unstorage')
  const [, name = '', json = '{}'] = /^([^?]*)(?:\?(.*))?$/s.exec(text) ?? []
  const path = (builtinDrivers as Record<string, string>)[name]
  if (path === undefined)
    throw new Error(`unstorage has no driver "${name}", but ${Object.keys(builtinDrivers).toSorted().join(', ')}`)
  const { default: create } = (await import(path)) as { default: (options: object) => Parameters<typeof openKV>[0] }
  const storage = create(JSON.parse(json) as object)
  return ending(await openKV(storage), () => storage.dispose?.())
}

/** What `STORAGE` begins with, and how the rest is opened. */
const openers: Record<string, (rest: string, url: string) => Promise<KV>> = {
  memory: () => memoryKV(),
  'fs:': (folder) => fsKV(folder),
  'sqlite:': (file) => sqliteKV(file),
  'redis://': (_, url) => redis(url),
  'rediss://': (_, url) => redis(url),
  'postgres://': (_, url) => postgres(url),
  'postgresql://': (_, url) => postgres(url),
  'driver:': driver,
}

/** Opens the store that a value of `STORAGE` names: the one switch between storages. */
export function openStorage(url: string): Promise<KV> {
  const [scheme, open] = Object.entries(openers).find(([scheme]) => url.startsWith(scheme)) ?? []
  if (!open) throw new Error(`STORAGE begins with one of ${Object.keys(openers).join(' ')}`)
  return open(url.slice(scheme!.length), url)
}
