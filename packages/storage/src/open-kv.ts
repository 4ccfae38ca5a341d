/** A `KV` for one process, on any unstorage driver. @module */
import type { KV, KVCapabilities } from '@turnpike/core'
import { memoryKV, StorageError } from '@turnpike/core'
import { claim } from './log/ownership.js'
import { segmentLog } from './log/segment-log.js'
import type { Driver, Items, StorageLike } from './log/storage-like.js'
import { itemsOf } from './log/storage-like.js'

/** Options of {@link openKV}. */
export interface OpenKVOptions {
  /** Prefix of the keys in the storage; default `kv`. */
  base?: string
  /** Time-out of a storage call in milliseconds; default 10 000. */
  timeout?: number
  /** Size of the value cache in characters; default 64 Mi. The index is always in memory; other values are read from the storage. */
  cache?: number
  /**
   * Number of commit groups after which their items are merged in the background, default 256; sooner where they have more characters than so many
   * merged items may have.
   */
  mergeAfter?: number
  /** Maximum size of a merged item in characters, for drivers that limit values; default 65 536. A larger commit is still one item. */
  itemSize?: number
  /** The required `writers` capability. Anything but `one-process` is refused with an error that names the engines for it. */
  writers?: KVCapabilities['writers']
}

const FORGETS = 'it does not keep what it is given'
const LATE = 'it may answer with what was there before'
const FILES = 'it is made for files; use it for blobs'

/** unstorage drivers that are refused, and why. */
const UNFIT: Record<string, string> = {
  null: FORGETS,
  'lru-cache': FORGETS,
  overlay: FORGETS,
  'vercel-runtime-cache': FORGETS,
  http: 'another server answers for it',
  github: 'it can only be read',
  'cloudflare-kv-binding': LATE,
  'cloudflare-kv-http': LATE,
  'netlify-blobs': LATE,
  s3: FILES,
  'cloudflare-r2-binding': FILES,
  'vercel-blob': FILES,
  uploadthing: FILES,
}

/** Drivers of unstorage in front of a database, which decides what survives. */
const databases = 'redis upstash mongodb db0 planetscale deno-kv deno-kv-node azure-cosmos azure-storage-table'

/** What an acknowledged commit survives with the drivers of unstorage; others say it themselves (`durability`), or it is not known. */
const DURABILITY: Record<string, KVCapabilities['durability']> = {
  memory: 'none',
  fs: 'process-crash',
  'fs-lite': 'process-crash',
  ...Object.fromEntries(databases.split(' ').map((name) => [name, 'engine-configured'] as const)),
}

const refused = (name: string, why: string): StorageError =>
  new StorageError(
    `The storage driver "${name}" cannot hold a store: ${why}. Files, SQLite, Redis, PostgreSQL and most databases can`,
    'none',
  )

/** Tests a driver: writes, reads, lists and removes one item. */
async function probe(items: Items, name: string): Promise<void> {
  const key = 'probe'
  const text = 'turnpike "probe" {ü€😀}\n\u2028'
  await items.set(key, text)
  if ((await items.get(key)) !== text) throw refused(name, 'it does not give back what was written')
  if (!(await items.keys()).includes(key)) throw refused(name, 'it does not list what was written')
  await items.remove(key)
  if ((await items.get(key)) !== null) throw refused(name, 'it does not remove what it is told to')
}

/** Locks the folder of a file driver. */
async function lock(driver: Driver): Promise<(() => Promise<void>) | undefined> {
  const { base } = (driver.options ?? {}) as { base?: unknown }
  if (typeof base !== 'string' || !/^(durable-)?fs(-lite)?$/.test(driver.name ?? '')) return undefined
  const { lockFolder } = await import('./log/folder-lock.js')
  return lockFolder(base)
}

/**
 * Opens a store on an unstorage `Storage` or driver. Keys are in memory, each group of commits is one item, and values that are not cached
 * are read from the storage. It serves one process. On a file driver, a second process is refused. On any other driver, the process that
 * opens the store last owns it, and all operations of the previous owner are rejected.
 * `close()` leaves the storage open, as it is yours: `storage.dispose()` ends its connections, without which a process does not exit.
 * @throws StorageError if the driver is unsuitable, another process has the store open, or an item is missing or corrupt
 * @example const kv = await openKV(createStorage({ driver: redisDriver({ url }) }))
 */
export async function openKV(storage: StorageLike, options: OpenKVOptions = {}): Promise<KV> {
  const { base = 'kv', timeout = 10_000, cache = 2 ** 26, mergeAfter = 256, itemSize = 65_536 } = options
  const { writers = 'one-process' } = options
  const driver: Driver = storage.getMount?.(`${base}:`).driver ?? (storage as Driver)
  const { name = 'unknown' } = driver
  if (writers !== 'one-process')
    throw new StorageError(
      `A store on the storage driver "${name}" serves one process; for ${writers} use Redis or PostgreSQL, or SQLite on one host`,
      'none',
    )
  if (UNFIT[name]) throw refused(name, UNFIT[name])
  if (!storage.setItem || !storage.removeItem) throw refused(name, 'it can only be read')
  const unlock = await lock(driver)
  try {
    const items = itemsOf(storage, base, timeout)
    await probe(items, name)
    const kv = await memoryKV({
      log: segmentLog(items, await claim(items), { cache, mergeAfter, itemSize, torn: !driver.atomic }),
      capabilities: { writers, durability: driver.durability ?? DURABILITY[name] ?? 'unknown', driver: name },
    })
    return {
      ...kv,
      async close() {
        await kv.close()
        await unlock?.()
      },
    }
  } catch (error) {
    await unlock?.()
    throw error
  }
}
