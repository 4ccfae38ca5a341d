/** A store in a folder that survives a power failure, and its driver. @module */
import { access, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { KV } from '@turnpike/core'
import type { OpenKVOptions } from './open-kv.js'
import { openKV } from './open-kv.js'
import type { Driver, StorageLike } from './log/storage-like.js'

const absent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** File extension of an item. With it, a key can also be a prefix of another one, which makes it a folder. */
const ITEM = '.item'
/** File extension of a temporary file, which is being written. */
const PART = '.part'
/** Age in milliseconds after which a temporary file is a leftover of a crash. */
const STALE_MS = 600_000

/** The unstorage driver that {@link durableFs} returns. */
export interface DurableFs extends StorageLike, Required<Driver> {
  hasItem(key: string): Promise<boolean>
  getItem(key: string): Promise<string | null>
  getItemRaw(key: string): Promise<Uint8Array | null>
  getItemPart(key: string, start: number, end: number): Promise<Uint8Array | null>
  setItem(key: string, value: string): Promise<void>
  setItemRaw(key: string, value: Uint8Array): Promise<void>
  removeItem(key: string, options?: { flush?: boolean }): Promise<void>
  getKeys(): Promise<string[]>
}

/**
 * An unstorage driver that stores each item in a file below `base`. Writes are atomic and durable: a temporary file is written, flushed
 * to the disk and renamed, and then its folder is flushed. Only the user has access to the folders.
 * Keys are as in unstorage: segments joined by `:`, each a valid file name.
 * @example createStorage({ driver: durableFs({ base: './data' }) })
 */
export function durableFs(options: { base: string }): DurableFs {
  const { base } = options
  const pathOf = (key: string): string => {
    const segments = key.split(/[:/]/)
    if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\0')))
      throw new TypeError(`${key} cannot be a key of a folder`)
    return join(base, ...segments) + ITEM
  }
  const made = new Map<string, Promise<void>>()
  /** Creates a folder with its parents, and flushes every folder that has a new entry. */
  const make = async (folder: string): Promise<void> => {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (first === undefined) return
    for (let at = folder; at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at))
  }
  const folderOf = async (path: string): Promise<string> => {
    const folder = dirname(path)
    let done = made.get(folder)
    if (!done) {
      done = make(folder)
      made.set(folder, done)
      done.catch(() => made.delete(folder))
    }
    await done
    return folder
  }
  let parts = 0
  /** Removes a temporary file that a crashed process left behind. */
  const sweep = async (path: string): Promise<void> => {
    const file = await stat(path).catch(absent)
    if (file && Date.now() - file.mtimeMs > STALE_MS) await rm(path, { force: true })
  }

  const read = (key: string): Promise<Buffer | null> => readFile(pathOf(key)).catch(absent)

  const write = async (key: string, data: string | Uint8Array): Promise<void> => {
    const path = pathOf(key)
    const folder = await folderOf(path)
    const part = `${path}.${process.pid}-${parts++}${PART}`
    try {
      const handle = await open(part, 'wx', 0o600)
      try {
        if (typeof data === 'string') await handle.writeFile(data)
        // In one call where possible: writeFile makes one for each 512 KiB.
        else for (let at = 0; at < data.length;) at += (await handle.write(data, at)).bytesWritten
        await handle.datasync()
      } finally {
        await handle.close()
      }
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
    await syncFolder(folder)
  }
  return {
    name: 'durable-fs',
    options,
    durability: 'power-loss',
    atomic: true,
    copiesBytes: true,
    hasItem: async (key) => (await access(pathOf(key)).catch(absent)) !== null,
    // Decoded in one step: readFile with an encoding decodes chunk by chunk, which takes longer than the read.
    getItem: async (key) => (await read(key))?.toString() ?? null,
    getItemRaw: read,
    async getItemPart(key, start, end) {
      const file = await open(pathOf(key), 'r').catch(absent)
      if (!file) return null
      try {
        const { size } = await file.stat()
        const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(end, size) - start))
        let filled = 0
        for (let count = 1; count > 0 && filled < bytes.length; filled += count)
          count = (await file.read(bytes, filled, bytes.length - filled, start + filled)).bytesRead
        return bytes.subarray(0, filled)
      } finally {
        await file.close()
      }
    },
    setItem: write,
    setItemRaw: write,
    async removeItem(key, { flush = true } = {}) {
      const path = pathOf(key)
      await unlink(path).catch(absent)
      if (flush) await syncFolder(dirname(path)).catch(absent)
    },
    async getKeys() {
      const files = (await readdir(base, { recursive: true, withFileTypes: true }).catch(absent)) ?? []
      const keys: string[] = []
      for (const file of files) {
        const path = join(file.parentPath, file.name)
        if (file.name.endsWith(ITEM)) keys.push(path.slice(join(base, '/').length, -ITEM.length).replaceAll(sep, ':'))
        else if (file.name.endsWith(PART)) await sweep(path)
      }
      return keys
    },
  }
}

/** Size of a merged item in a folder, in characters: about a thousand files for a million usage records. */
const ITEM_SIZE = 2 ** 20

/**
 * Opens the store in a folder, and creates the folder if it is missing. A commit is acknowledged once it is on the disk.
 * @throws StorageError if another process has the folder open or something in it is missing or corrupt
 * @example const kv = await fsKV('.turnpike')
 */
export function fsKV(folder: string, options?: OpenKVOptions): Promise<KV> {
  return openKV(durableFs({ base: folder }), { itemSize: ITEM_SIZE, ...options })
}
