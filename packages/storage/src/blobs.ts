/** Blobs in chunks on any unstorage driver. @module */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { BlobStore, ByteRange, StoredBlob } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/internal'
import { cutRange, writeChunks } from './blob-bytes.js'
import { envelope } from './envelope.js'
import type { Items, StorageLike } from './storage-like.js'
import { boundedCalls, itemsOf } from './storage-like.js'

/** Options of {@link unstorageBlobs}. */
export interface UnstorageBlobsOptions {
  /** What the keys in the storage begin with; default `blobs`. */
  base?: string
  /** Bytes of a chunk; default 1 MiB. Blobs that are there keep the size that they were written with. */
  chunkBytes?: number
  /** Milliseconds after which a call of the storage that has not ended counts as failed; default 30 000. */
  timeout?: number
  /** Milliseconds that a `put` may take; default a day. Twice as long after it began, what it left behind is an orphan. */
  putWithin?: number
}

/** A {@link BlobStore} over an unstorage driver. */
export interface UnstorageBlobs extends BlobStore {
  /**
   * Removes chunks that belong to no blob: a crash leaves them. It lists the whole storage, and may run while others write.
   * @returns how many chunks it removed
   */
  sweep(): Promise<number>
}

/** What is known of a blob. It is written after the chunks, so that where it is, they are. */
interface Manifest extends StoredBlob {
  /** A UUIDv7 of this writing. */
  id: string
  type: string
  chunkBytes: number
  /** CRC-32 of each chunk. */
  sums: number[]
}

/** Seals a manifest under the name of its blob: both copies of it are the same text. */
const { seal, unseal } = envelope('turnpike-blob', 1)

const nameOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const chunkOf = (name: string, id: string, index: number): string => `chunk:${name}-${id}-${index}`
/** When a UUIDv7 was made, in milliseconds. */
const timeOf = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** How unstorage begins bytes that it keeps as text. */
const BASE64 = 'base64:'

/** The chunks of a storage; as base64 text where it has no raw methods. */
function chunksOf(storage: StorageLike, items: Items, base: string, timeout: number) {
  if (!storage.getItemRaw || !storage.setItemRaw)
    return {
      async get(key: string): Promise<Uint8Array | null> {
        const text = await items.get(key)
        return text === null ? null : Buffer.from(text.slice(BASE64.length), 'base64')
      },
      set: (key: string, { buffer, byteOffset, byteLength }: Uint8Array): Promise<void> =>
        items.set(key, BASE64 + Buffer.from(buffer, byteOffset, byteLength).toString('base64')),
    }
  const call = boundedCalls(timeout)
  return {
    async get(key: string): Promise<Uint8Array | null> {
      const value = await call('a read', () => storage.getItemRaw!(`${base}:${key}`, {}))
      if (value === null || value === undefined) return null
      if (value instanceof Uint8Array) return value
      if (value instanceof ArrayBuffer) return new Uint8Array(value)
      // unstorage's own file driver hands an error out as if it were the value.
      throw value instanceof Error ? value : new StorageError('The storage does not give bytes back', 'none')
    },
    async set(key: string, bytes: Uint8Array): Promise<void> {
      await call('a write', () => storage.setItemRaw!(`${base}:${key}`, bytes, {}))
    },
  }
}

/**
 * Keeps blobs in chunks of an unstorage `Storage` or driver, so that any driver streams and serves ranges. Two chunks of a blob are in
 * memory while it is written, one while it is read. Puts and deletions of one key follow each other in one process; in several,
 * the last one wins.
 * @throws StorageError where the storage cannot be written to
 * @example const blobs = unstorageBlobs(createStorage({ driver: fsDriver({ base: './files' }) }))
 */
export function unstorageBlobs(storage: StorageLike, options: UnstorageBlobsOptions = {}): UnstorageBlobs {
  const { base = 'blobs', chunkBytes = 2 ** 20, timeout = 30_000, putWithin = 86_400_000 } = options
  if (!storage.setItem || !storage.removeItem) throw new StorageError('The storage can only be read', 'none')
  const items = itemsOf(storage, base, timeout)
  const chunks = chunksOf(storage, items, base, timeout)

  // A driver that writes in place loses an item if it is killed meanwhile. So there are two copies of a manifest: the second is that of
  // the present blob while the first is being replaced.
  const first = (name: string): string => `manifest:${name}-a`
  const second = (name: string): string => `manifest:${name}-b`
  /** The manifest of a blob; null if there is no blob, undefined if both copies are damaged. */
  const find = async (name: string): Promise<Manifest | null | undefined> => {
    // The first again, as both may have been written since it was read.
    for (const copy of [first(name), second(name), first(name)]) {
      const text = await items.get(copy)
      if (text === null) return null
      const manifest = await unseal<Manifest>(name, text)
      if (manifest) return manifest
    }
    return undefined
  }

  /** Removes chunks, as far as that works; `sweep` finds the rest. */
  const discard = async (name: string, id: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await items.remove(chunkOf(name, id, i)).catch(() => undefined)
  }

  const turns = new Map<string, Promise<unknown>>()
  /** Runs after what was begun for the same blob has ended. */
  const inTurn = async (name: string, run: () => Promise<void>): Promise<void> => {
    const turn = (turns.get(name) ?? Promise.resolve()).then(run)
    const ended = turn.catch(() => undefined)
    turns.set(name, ended)
    try {
      await turn
    } finally {
      if (turns.get(name) === ended) turns.delete(name)
    }
  }

  async function* read(name: string, { id, chunkBytes, sums }: Manifest, range: Required<ByteRange> | null) {
    if (!range) return
    for (let i = Math.floor(range.start / chunkBytes); i * chunkBytes <= range.end; i++) {
      const chunk = await chunks.get(chunkOf(name, id, i))
      if (!chunk) throw new StorageError('The blob was replaced or deleted while it was being read', 'none')
      if (crc32(chunk) !== sums[i]) throw new StorageError('A chunk of the blob is damaged', 'none')
      const at = i * chunkBytes
      yield new Uint8Array(chunk.subarray(Math.max(0, range.start - at), range.end + 1 - at))
    }
  }

  return {
    async put(key, body, { type, maxBytes, signal }) {
      const name = nameOf(key)
      const id = uuidv7()
      const began = Date.now()
      const sums: number[] = []
      let isCommitting = false
      try {
        const stored = await writeChunks(body, { chunkBytes, maxBytes, parallel: 1, signal }, (chunk, i) => {
          sums[i] = crc32(chunk)
          return chunks.set(chunkOf(name, id, i), chunk)
        })
        const manifest = await seal(name, { id, type, chunkBytes, sums, ...stored } satisfies Manifest)
        await inTurn(name, async () => {
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
      await inTurn(name, async () => {
        const manifest = await find(name)
        for (const copy of [second(name), first(name)]) {
          await items.remove(copy)
          // unstorage drops what its file driver says of a removal that failed.
          if ((await items.get(copy)) !== null) throw new StorageError('The blob could not be deleted', 'none')
        }
        if (manifest) await discard(name, manifest.id, manifest.sums.length)
      })
    },
    async sweep() {
      const before = Date.now() - 2 * putWithin
      const found = new Map<string, Promise<Manifest | null | undefined>>()
      let removed = 0
      for (const key of await items.keys()) {
        const [, name, id] = /^chunk:(\w{64})-([\w-]{36})-\d+$/.exec(key) ?? []
        if (!name || !id || timeOf(id) > before) continue
        // Asked for by name, as some drivers list only a part of what they have.
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
