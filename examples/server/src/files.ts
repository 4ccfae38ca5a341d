import type { BlobStore } from '@turnpike/core'
import { durableFs, redisItems, unstorageBlobs } from '@turnpike/storage'
import { openDriver } from './driver.js'
import type { Environment } from './environment.js'
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
async function s3(url: string, environment: Environment): Promise<Files> {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment
  if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined)
    throw new Error('FILES=s3://… needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  const { host: bucket, searchParams: query } = new URL(url)
  const region = query.get('region') ?? 'us-east-1'
  const { s3Blobs } = await import('@turnpike/storage/s3')
  return withoutConnection(
    s3Blobs({
      bucket,
      region,
      endpoint: query.get('endpoint') ?? `https://s3.${region}.amazonaws.com`,
      prefix: query.get('prefix') ?? '',
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    }),
  )
}

/** The prefixes of `FILES`, and the function that opens each kind. */
const openersOf = (environment: Environment): Record<string, Opener<Files>> => ({
  memory: () => onDriver('memory'),
  // Large chunks: each is a file that is flushed.
  'fs:': async (base) => withoutConnection(unstorageBlobs(durableFs({ base }), { chunkBytes: 2 ** 22 })),
  'redis://': redis,
  'rediss://': redis,
  's3://': (_, url) => s3(url, environment),
  'driver:': onDriver,
})

/** What `FILES` is where it is unset: beside the store where that is a folder. */
const presetOf = (storage: string): string => {
  if (storage === 'memory') return 'memory'
  return storage.startsWith('fs:') ? `${storage.replace(/\/+$/, '')}-files` : 'fs:.turnpike-files'
}

/** Opens the blob store that `FILES` names. Warns where it outlives the records of its files. */
export function openFiles(environment: Environment): Promise<Files> {
  const { STORAGE, FILES = presetOf(STORAGE) } = environment
  if (STORAGE === 'memory' && FILES !== 'memory')
    console.error('STORAGE=memory forgets all files when the server ends, and their bytes stay in FILES for good')
  return openByPrefix('FILES', FILES, openersOf(environment))
}
