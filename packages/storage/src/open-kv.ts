/** The `KV` of one process on any unstorage driver. @module */
import type { KV, KVCapabilities } from '@turnpike/core'
import { memoryKV, StorageError } from '@turnpike/core'
import { claim } from './ownership.js'
import { segmentLog } from './segment-log.js'
import type { Driver, Items, StorageLike } from './storage-like.js'
import { itemsOf } from './storage-like.js'

/** Options of {@link openKV}. */
export interface OpenKVOptions {
  /** What the keys in the storage begin with; default `kv`. */
  base?: string
  /** Milliseconds after which a call of the storage that has not ended counts as failed; default 10 000. */
  timeout?: number
  /** Characters of values that stay in memory beside the index; default 64 Mi. What is not there is read again. */
  cache?: number
  /** Groups of commits after which their items are merged in the background; default 256. */
  mergeAfter?: number
  /** Characters that an item is merged up to, for drivers that bound a value; default 65 536. A commit that is larger is one item nevertheless. */
  itemSize?: number
  /** How many processes are to write; anything but `one-process` is refused, with the engines that can. */
  writers?: KVCapabilities['writers']
}

const FORGETS = 'it does not keep what it is given'
const LATE = 'it may answer with what was there before'
const FILES = 'it is made for files; use it for blobs'

/** Drivers of unstorage that cannot hold a store, and why. */
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

const DURABILITY: Record<string, KVCapabilities['durability']> = {
  memory: 'none',
  fs: 'process-crash',
  'fs-lite': 'process-crash',
}

const refused = (name: string, why: string): StorageError =>
  new StorageError(
    `The storage driver "${name}" cannot hold a store: ${why}. Files, SQLite, Redis, PostgreSQL and most databases can`,
    'none',
  )

/** Writes, reads, lists and removes one item. */
async function probe(items: Items, name: string): Promise<void> {
  const key = 'probe'
  const text = 'turnpike "probe" {ü€😀}\n\u2028'
  await items.set(key, text)
  if ((await items.get(key)) !== text) throw refused(name, 'it does not give back what was written')
  if (!(await items.keys()).includes(key)) throw refused(name, 'it does not list what was written')
  await items.remove(key)
  if ((await items.get(key)) !== null) throw refused(name, 'it does not remove what it is told to')
}

/** Locks the folder that a driver of files keeps its items in. */
async function lock(driver: Driver): Promise<(() => Promise<void>) | undefined> {
  const { base } = (driver.options ?? {}) as { base?: unknown }
  if (typeof base !== 'string' || !/^(durable-)?fs(-lite)?$/.test(driver.name ?? '')) return undefined
  const { lockFolder } = await import('./folder-lock.js')
  return lockFolder(base)
}

/**
 * Opens a store on an unstorage `Storage` or driver: the keys are in memory, a group of commits is one item, and values beyond the
 * cache are read again. It serves one process. On a driver of files, a second one is refused; on any other, who opens the store last
 * owns it, and the process before acknowledges nothing more.
 * @throws StorageError where the driver cannot hold a store, another process has it open, or something in it is missing or corrupt
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
      capabilities: { writers, durability: driver.durability ?? DURABILITY[name] ?? 'engine-configured', driver: name },
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
