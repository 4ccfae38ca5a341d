/** The storage port for file contents. */
import type { Memory } from './provider.js'

/** The bytes to store. A stream or iterable is read with backpressure: no faster than its bytes are written. */
export type BlobBody = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array

/** Options of {@link BlobStore.put}. */
export interface BlobPutOptions {
  /** Media type, stored unchanged. */
  type: string
  /** Maximum size in bytes. */
  maxBytes: number
  /** Aborts the upload; `put` then rejects with the signal's reason. */
  signal?: AbortSignal
  /** What the bytes are taken from that are in memory while the blob is written; absent = they are not counted. */
  memory?: Memory | undefined
}

/** The size and hash of a stored blob. */
export interface StoredBlob {
  /** In bytes. */
  size: number
  /** SHA-256 of the bytes, in hexadecimal. */
  sha256: string
}

/** A byte range as in HTTP: zero-based, with both ends included. */
export interface ByteRange {
  start: number
  /** Default: the last byte. An end beyond the last byte is clamped to it. */
  end?: number
}

/** The result of {@link BlobStore.get}: the blob's bytes, or a range of them, and its metadata. */
export interface BlobContent {
  /** The bytes of `range`. Can be read once, and fetches nothing before that. It throws rather than end early. */
  body: AsyncIterable<Uint8Array>
  /** Size of the whole blob in bytes. */
  size: number
  /** Media type, as stored. */
  type: string
  /** The range that `body` yields; null if it is empty, for example because it starts beyond the end (HTTP 416). */
  range: Required<ByteRange> | null
}

/** Storage for file contents. Writes are atomic: a blob is stored completely or not at all. A key can be any string. */
export interface BlobStore {
  /**
   * Stores a blob and replaces an existing one. If it rejects, the previous blob is kept and nothing of the new one remains.
   * @throws ApiError 413 if the body is larger than `maxBytes`; any error of the body or of `memory`; the reason of `signal`
   * @throws StorageError with `outcome: 'unknown'` if the blob may have been stored
   */
  put(key: string, body: BlobBody, options: BlobPutOptions): Promise<StoredBlob>
  /** Reads a blob or a range of it; null if there is none. */
  get(key: string, range?: ByteRange): Promise<BlobContent | null>
  /** Deletes a blob; does nothing if it does not exist. */
  delete(key: string): Promise<void>
  /**
   * Removes what puts that a crash cut off have left behind. Absent if the store keeps no such leftovers.
   * @param olderThanMs leaves out puts that began within this time; 0 where none can be under way. Default: longer than a put may take
   * @returns how many pieces were removed
   */
  sweep?(olderThanMs?: number): Promise<number>
  /**
   * A URL from which anybody can read the blob for `expiresIn` seconds, as a download named `filename` if that is given.
   * Absent if the store has no such URLs.
   */
  signedUrl?(key: string, options: { expiresIn: number; filename?: string }): Promise<URL>
  /** The largest `expiresIn`, in seconds. Absent if there is no limit. */
  readonly maxExpiresIn?: number
}
