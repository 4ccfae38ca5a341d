/** The port for the bytes of files. */

/** The bytes to store; an iterable is read no faster than they are written. */
export type BlobBody = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array

/** What may be given with the bytes of a blob. */
export interface BlobPutOptions {
  /** Media type, kept as it is. */
  type: string
  /** Bytes that the blob may have. */
  maxBytes: number
  /** Ends the writing; `put` then rejects with its reason. */
  signal?: AbortSignal
}

/** What was stored. */
export interface StoredBlob {
  /** In bytes. */
  size: number
  /** SHA-256 of the bytes, in hexadecimal. */
  sha256: string
}

/** Positions of bytes, from 0, both ends included, as HTTP counts them. */
export interface ByteRange {
  start: number
  /** Default: the last byte. What lies beyond that is cut off. */
  end?: number
}

/** A blob as it is read: its bytes, whole or in a range, and what is stored about it. */
export interface BlobContent {
  /** The bytes of `range`, to be read once; nothing is fetched before it is read. It rejects rather than end early. */
  body: AsyncIterable<Uint8Array>
  /** Bytes of the whole blob. */
  size: number
  /** Media type, as stored. */
  type: string
  /** What `body` yields; null where no byte of the blob is asked for, as where the range starts beyond the end (HTTP's 416). */
  range: Required<ByteRange> | null
}

/** Where the bytes of files are kept. A blob is there whole or not at all; keys are any text. */
export interface BlobStore {
  /**
   * Stores a blob, in place of the one that was there. If it rejects, what was there before remains and nothing else does.
   * @throws ApiError 413 where there are more than `maxBytes`; what the body throws; the reason of `signal`
   * @throws StorageError with `outcome: 'unknown'` where the blob may have been stored
   */
  put(key: string, body: BlobBody, options: BlobPutOptions): Promise<StoredBlob>
  /** A blob, or a part of it; null if there is none. */
  get(key: string, range?: ByteRange): Promise<BlobContent | null>
  /** Deletes a blob; one that is absent is no error. */
  delete(key: string): Promise<void>
  /**
   * An address from which anybody may read the blob for `expiresIn` seconds; as a file to be saved where `filename` is given.
   * Absent where the store has no addresses.
   */
  signedUrl?(key: string, options: { expiresIn: number; filename?: string }): Promise<URL>
}
