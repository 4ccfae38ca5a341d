import type { BlobStore } from '@turnpike/core'
import type { StorageLike } from '@turnpike/storage'
import { durableFs, redisItems, unstorageBlobs } from '@turnpike/storage'
import { ConfigError } from './config/faults.js'
import { openDriver } from './driver.js'
import type { Config } from './config/schema.js'
import type { Opener } from './open-by-prefix.js'
import { openByPrefix } from './open-by-prefix.js'
import { connectRedis } from './redis.js'

/** Where the bytes of files are kept. */
export interface Files {
  blobs: BlobStore
  /** Closes the connection, where there is one. */
  close(): Promise<void>
}

const withoutConnection = (blobs: BlobStore): Files => ({ blobs, close: async () => undefined })

/** Items in this process. */
function memoryItems(): StorageLike {
  const items = new Map<string, string | Uint8Array>()
  const getItem = (key: string) => items.get(key) ?? null
  const setItem = (key: string, value: string | Uint8Array) => void items.set(key, value)
  return {
    getItem,
    setItem,
    getItemRaw: getItem,
    setItemRaw: setItem,
    removeItem: (key) => items.delete(key),
    getKeys: () => [...items.keys()],
  }
}

async function onDriver(text: string): Promise<Files> {
  const storage = await openDriver(text)
  return { blobs: unstorageBlobs(storage), close: async () => void (await storage.dispose?.()) }
}

async function redis(_: string, url: string): Promise<Files> {
  const client = await connectRedis(url)
  // Small chunks: ioredis needs several times the memory of a value.
  return {
    blobs: unstorageBlobs(redisItems(client), { chunkBytes: 2 ** 16, parallel: 8 }),
    close: async () => void (await client.quit()),
  }
}

/** Opens `s3://BUCKET?endpoint=…&region=…&prefix=…`. */
async function s3(url: string, { accessKeyId, secretAccessKey, sessionToken }: Config['files']): Promise<Files> {
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError([
      'files.store (FILES) at s3:// needs files.accessKeyId and files.secretAccessKey (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)',
    ])
  const { host: bucket, searchParams: query } = new URL(url)
  const region = query.get('region') ?? 'us-east-1'
  const { s3Blobs } = await import('@turnpike/storage/s3')
  return withoutConnection(
    s3Blobs({
      bucket,
      region,
      endpoint: query.get('endpoint') ?? `https://s3.${region}.amazonaws.com`,
      prefix: query.get('prefix') ?? '',
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    }),
  )
}

/** The prefixes of `FILES`, and the function that opens each kind. */
const openersOf = (settings: Config['files']): Record<string, Opener<Files>> => ({
  memory: async () => withoutConnection(unstorageBlobs(memoryItems())),
  // Large chunks: each is a file that is flushed.
  'fs:': async (base) => withoutConnection(unstorageBlobs(durableFs({ base }), { chunkBytes: 2 ** 22 })),
  'redis://': redis,
  'rediss://': redis,
  's3://': (_, url) => s3(url, settings),
  'driver:': onDriver,
})

/** Where files are if nothing says so: beside the store where that is a folder. */
const presetOf = (store: Config['store']): string => {
  if (typeof store !== 'string' || !store.startsWith('fs:')) return store === 'memory' ? 'memory' : 'fs:.turnpike-files'
  return `${store.replace(/\/+$/, '')}-files`
}

/**
 * Opens the blob store of files. Warns where it outlives the records of its files.
 * @example const { blobs } = await openFiles(await loadConfig(process.env))
 */
export function openFiles({ store, files }: Pick<Config, 'store' | 'files'>): Promise<Files> {
  const where = files.store ?? presetOf(store)
  if (store === 'memory' && where !== 'memory')
    console.error('STORAGE=memory forgets all files when the server ends, and their bytes stay in FILES for good')
  return openByPrefix('FILES', where, openersOf(files))
}
