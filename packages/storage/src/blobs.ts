/** Blobs, stored in chunks on any unstorage driver. @module */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { BlobStore, ByteRange, StoredBlob } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { timeOf, uuidv7 } from '@turnpike/core/helpers'
import { cutRange, writeChunks } from './blobs/blob-bytes.js'
import { envelope } from './log/envelope.js'
import type { Driver, Items, StorageLike } from './log/storage-like.js'
import { boundedCalls, itemsOf } from './log/storage-like.js'

/** Options of {@link unstorageBlobs}. */
export interface UnstorageBlobsOptions {
  /** Prefix of the keys in the storage; default `blobs`. */
  base?: string
  /** Size of a chunk in bytes; default 1 MiB. Existing blobs keep the chunk size that they were written with. */
  chunkBytes?: number
  /**
   * Number of chunks that are written concurrently, default 4: a disk is faster so, as each write waits until its bytes are on it. One more is in
   * memory meanwhile.
   */
  parallel?: number
  /** Time-out of a storage call in milliseconds; default 30 000. */
  timeout?: number
  /** Maximum duration of a `put` in milliseconds; default one day. `sweep` removes its leftovers after twice this time by default. */
  putWithin?: number
}

/** A {@link BlobStore} over an unstorage driver. */
export interface UnstorageBlobs extends BlobStore {
  /**
   * Removes orphaned chunks, which a crash leaves behind. It lists the whole storage, and may run while others write.
   * @param olderThanMs leaves out puts that began within this time; less than `putWithin` only where none can be under way, because it
   * would lose their chunks. Default: twice `putWithin`
   * @returns how many chunks it removed
   */
  sweep(olderThanMs?: number): Promise<number>
}

/** The metadata of a blob. It is written after the chunks, so a blob with a manifest is complete. */
interface Manifest extends StoredBlob {
  /** A UUIDv7 for each `put`. */
  id: string
  type: string
  chunkBytes: number
  /** CRC-32 of each chunk. */
  sums: number[]
  /** The sums within the chunks; absent where each is one block, and in blobs of earlier versions. */
  blocks?: {
    /** Size of a block in bytes; chunks begin with one. */
    bytes: number
    /** For each block, the CRC-32 of its chunk up to its end, so that a block can be checked from the sum before it. 32 bits, little-endian, as base64. */
    sums: string
  }
}

/** Size in bytes of what is checked, and of the smallest part that is read where the driver reads parts. */
const BLOCK = 2 ** 16
/** Most bytes that are read at once where the driver reads parts: larger buffers make V8 collect all garbage (docs/decisions/041). */
const STEP = 2 ** 18

const packed = (sums: number[]): string => {
  const bytes = Buffer.alloc(4 * sums.length)
  for (const [i, sum] of sums.entries()) bytes.writeUInt32LE(sum, 4 * i)
  return bytes.toString('base64')
}

/** The sums at the ends of a blob's blocks, and the size of a block. */
function blocksOf({ chunkBytes, sums, blocks }: Manifest): { blockBytes: number; sumOf: (block: number) => number } {
  if (!blocks) return { blockBytes: chunkBytes, sumOf: (i) => sums[i]! }
  const bytes = Buffer.from(blocks.sums, 'base64')
  return { blockBytes: blocks.bytes, sumOf: (i) => bytes.readUInt32LE(4 * i) }
}

/** Manifests are sealed with the name of the blob, so both copies are the same text. */
const { seal, unseal } = envelope('turnpike-blob', 1)

const nameOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const chunkOf = (name: string, id: string, index: number): string => `chunk:${name}-${id}-${index}`

/** The prefix with which unstorage stores bytes as text. */
const BASE64 = 'base64:'

/** A copy of a part, as the driver may refer to the whole. */
const cut = (bytes: Uint8Array, start: number, end: number): Uint8Array => new Uint8Array(bytes.subarray(start, end))

/** Access to the chunks of a storage, which are read in parts; stored as base64 text if the driver has no raw methods. */
function chunksOf(
  storage: StorageLike,
  items: Items,
  { base, timeout }: { base: string; timeout: number },
): { get: Items['part']; set: Items['setBytes'] } {
  if (items.readsParts) return { get: items.part, set: items.setBytes }
  if (!storage.getItemRaw || !storage.setItemRaw)
    return {
      async get(key, start, end) {
        const text = await items.get(key)
        return text === null ? null : cut(Buffer.from(text.slice(BASE64.length), 'base64'), start, end)
      },
      set: (key, { buffer, byteOffset, byteLength }) =>
        items.set(key, BASE64 + Buffer.from(buffer, byteOffset, byteLength).toString('base64')),
    }
  const call = boundedCalls(timeout)
  return {
    async get(key, start, end) {
      const value = await call('a read', () => storage.getItemRaw!(`${base}:${key}`, {}))
      if (value === null || value === undefined) return null
      const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value
      if (bytes instanceof Uint8Array) return cut(bytes, start, end)
      // The file driver of unstorage returns errors as values.
      throw value instanceof Error ? value : new StorageError('The storage does not give bytes back', 'none')
    },
    async set(key, bytes) {
      await call('a write', () => storage.setItemRaw!(`${base}:${key}`, bytes, {}))
    },
  }
}

/**
 * Stores blobs in chunks on an unstorage `Storage` or driver, so that any driver can stream and serve ranges. `parallel` chunks of a
 * blob and one more are in memory while it is written; while it is read one, or 256 KiB where the driver reads parts of items. Within a process, puts and deletes of one key run one after the other; between
 * processes, the last one wins.
 * @throws StorageError if the storage is read-only
 * @example const blobs = unstorageBlobs(createStorage({ driver: fsDriver({ base: './files' }) }))
 */
export function unstorageBlobs(storage: StorageLike, options: UnstorageBlobsOptions = {}): UnstorageBlobs {
  const { base = 'blobs', chunkBytes = 2 ** 20, parallel = 4, timeout = 30_000, putWithin = 86_400_000 } = options
  if (!storage.setItem || !storage.removeItem) throw new StorageError('The storage can only be read', 'none')
  const items = itemsOf(storage, base, timeout)
  const { copiesBytes: reuse = false } = storage as Driver
  const chunks = chunksOf(storage, items, { base, timeout })
  const blockBytes = chunkBytes % BLOCK === 0 ? BLOCK : chunkBytes

  // A driver that writes in place loses an item if it is killed during the write. A manifest is therefore stored twice: the second copy
  // describes the current blob while the first is being replaced.
  const first = (name: string): string => `manifest:${name}-a`
  const second = (name: string): string => `manifest:${name}-b`
  /** The manifest of a blob; null if there is no blob, undefined if both copies are corrupt. */
  const find = async (name: string): Promise<Manifest | null | undefined> => {
    // The first copy is read again at the end: both may have been rewritten since the first read.
    for (const copy of [first(name), second(name), first(name)]) {
      const text = await items.get(copy)
      if (text === null) return null
      const manifest = await unseal<Manifest>(name, text)
      if (manifest) return manifest
    }
    return undefined
  }

  /** Removes chunks and ignores errors; `sweep` removes the rest. */
  const discard = async (name: string, id: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await items.remove(chunkOf(name, id, i)).catch(() => undefined)
  }

  const queues = new Map<string, Promise<unknown>>()
  /** Runs `run` after all earlier operations on the same blob have settled. */
  const serialize = async (name: string, run: () => Promise<void>): Promise<void> => {
    const result = (queues.get(name) ?? Promise.resolve()).then(run)
    const settled = result.catch(() => undefined)
    queues.set(name, settled)
    try {
      await result
    } finally {
      if (queues.get(name) === settled) queues.delete(name)
    }
  }

  async function* read(name: string, manifest: Manifest, range: Required<ByteRange> | null) {
    if (!range) return
    const { id, size, chunkBytes } = manifest
    const { blockBytes, sumOf } = blocksOf(manifest)
    const step = items.readsParts ? Math.max(STEP, blockBytes) : chunkBytes
    const last = Math.min(Math.ceil((range.end + 1) / blockBytes) * blockBytes, size)
    for (let at = range.start - (range.start % blockBytes), end = at; at < last; at = end) {
      const offset = at % chunkBytes
      end = Math.min(at + step, at - offset + chunkBytes, last)
      const bytes = await chunks.get(chunkOf(name, id, (at - offset) / chunkBytes), offset, offset + end - at)
      if (!bytes) throw new StorageError('The blob was replaced or deleted while it was being read', 'none')
      for (let from = 0; from < end - at; from += blockBytes) {
        const block = (at + from) / blockBytes
        const before = offset + from === 0 ? 0 : sumOf(block - 1)
        if (crc32(bytes.subarray(from, from + blockBytes), before) !== sumOf(block))
          throw new StorageError('A chunk of the blob is damaged', 'none')
      }
      yield bytes.subarray(Math.max(0, range.start - at), range.end + 1 - at)
    }
  }

  return {
    async put(key, body, { type, maxBytes, signal, memory }) {
      const name = nameOf(key)
      const id = uuidv7()
      const began = Date.now()
      const sums: number[] = []
      const blockSums: number[] = []
      let isCommitting = false
      try {
        const stored = await writeChunks(
          body,
          { chunkBytes, maxBytes, parallel, reuse, signal, memory },
          (chunk, i) => {
            let sum = 0
            for (let at = 0; at < chunk.length; at += blockBytes) {
              sum = crc32(chunk.subarray(at, at + blockBytes), sum)
              blockSums.push(sum)
            }
            sums.push(sum)
            return chunks.set(chunkOf(name, id, i), chunk)
          },
        )
        const blocks = blockSums.length > sums.length && { blocks: { bytes: blockBytes, sums: packed(blockSums) } }
        const manifest = await seal(name, { id, type, chunkBytes, sums, ...blocks, ...stored } satisfies Manifest)
        await serialize(name, async () => {
          const old = await find(name)
          if (old) {
            const present = await seal(name, old)
            if ((await items.get(second(name))) !== present) await items.set(second(name), present)
          }
          signal?.throwIfAborted()
          if (Date.now() - began > putWithin)
            throw new StorageError(`The blob was not stored within ${putWithin} ms`, 'none')
          isCommitting = true
          await items.set(first(name), manifest)
          await items.set(second(name), manifest)
          if (old) await discard(name, old.id, old.sums.length)
        })
        return stored
      } catch (error) {
        if (isCommitting) throw new StorageError('The blob may have been stored', 'unknown', { cause: error })
        await discard(name, id, sums.length)
        throw error
      }
    },
    async get(key, wanted) {
      const name = nameOf(key)
      const manifest = await find(name)
      if (manifest === undefined) throw new StorageError('The manifest of the blob is damaged', 'none')
      if (manifest === null) return null
      const { size, type } = manifest
      const range = cutRange(size, wanted)
      return { body: read(name, manifest, range), size, type, range }
    },
    async delete(key) {
      const name = nameOf(key)
      await serialize(name, async () => {
        const manifest = await find(name)
        for (const copy of [second(name), first(name)]) {
          await items.remove(copy)
          // unstorage swallows the error when its file driver fails to remove an item.
          if ((await items.get(copy)) !== null) throw new StorageError('The blob could not be deleted', 'none')
        }
        if (manifest) await discard(name, manifest.id, manifest.sums.length)
      })
    },
    async sweep(olderThanMs = 2 * putWithin) {
      const before = Date.now() - olderThanMs
      const found = new Map<string, Promise<Manifest | null | undefined>>()
      let removed = 0
      for (const key of await items.keys()) {
        const [, name, id] = /^chunk:(\w{64})-([\w-]{36})-\d+$/.exec(key) ?? []
        if (!name || !id || timeOf(id) >= before) continue
        // Looked up by name, because some drivers list only some of their keys.
        if (!found.has(name)) found.set(name, find(name))
        const manifest = await found.get(name)
        if (manifest === undefined || manifest?.id === id) continue
        await items.remove(key)
        removed++
      }
      return removed
    },
  }
}
