import { createHash } from 'node:crypto'
import type { BlobBody, ByteRange, Memory, StoredBlob } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { follow } from '@turnpike/core/helpers'

export interface ChunkOptions {
  /** Size of each chunk but the last, in bytes. */
  chunkBytes: number
  /** Maximum size of the body in bytes. */
  maxBytes: number
  /** Number of concurrent writes. While they run, one more chunk is filled. */
  parallel: number
  /** Whether the memory of a chunk is used again once it has been written. */
  reuse: boolean
  signal: AbortSignal | undefined
  memory: Memory | undefined
}

async function* once(bytes: Uint8Array) {
  yield bytes
}

/**
 * Splits a body into chunks, which are copies, and writes them. An empty body is written as one empty chunk.
 * On a failure it aborts the writes under way, and rejects after they have settled.
 * @throws ApiError 413 if the body is too large; any error of the body or of a write; the reason of the signal
 */
export async function writeChunks(
  body: BlobBody,
  options: ChunkOptions,
  write: (chunk: Uint8Array, index: number, isLast: boolean, signal: AbortSignal) => Promise<void>,
): Promise<StoredBlob> {
  const { chunkBytes, maxBytes, parallel, reuse, memory } = options
  const source = (body instanceof Uint8Array ? once(body) : body)[Symbol.asyncIterator]()
  const { controller, dispose } = follow(options.signal ?? new AbortController().signal)
  const { signal } = controller
  let interrupt: ((reason: unknown) => void) | undefined
  signal.addEventListener('abort', () => interrupt?.(signal.reason))
  /** Awaits a promise, but rejects at once when the signal is aborted. */
  const wait = <T>(promise: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      interrupt = reject
      promise.then(resolve, reject)
      if (signal.aborted) reject(signal.reason)
    })

  const hash = createHash('sha256')
  const writing = new Set<Promise<void>>()
  /** Chunks whose memory can be used again: a new one costs a page fault for each 4 KiB, and the garbage collector its share. */
  const spare: Uint8Array[] = []
  let chunk: Uint8Array | undefined
  let filled = 0
  let size = 0
  let count = 0
  /** Bytes that may come until all chunks which can be in memory are. */
  let room = (parallel + 1) * chunkBytes
  const send = async (isLast: boolean): Promise<void> => {
    const full = filled === chunkBytes ? chunk! : new Uint8Array(chunk?.subarray(0, filled) ?? [])
    chunk = undefined
    filled = 0
    while (writing.size >= parallel) await wait(Promise.race(writing))
    const written = write(full, count++, isLast, signal)
      .then(
        () => {
          if (reuse && full.length === chunkBytes) spare.push(full)
        },
        (error: unknown) => controller.abort(error),
      )
      .finally(() => writing.delete(written))
    writing.add(written)
  }
  try {
    for (;;) {
      const { done, value } = await wait(source.next())
      if (done) break
      size += value.length
      if (size > maxBytes)
        throw new ApiError(413, 'invalid_request_error', `The file is larger than ${maxBytes} bytes`, {
          code: 'request_too_large',
        })
      if (room > 0) memory?.take(Math.min(room, value.length))
      room -= value.length
      hash.update(value)
      for (let at = 0; at < value.length;) {
        if (filled === chunkBytes) await send(false)
        const part = value.subarray(at, at + chunkBytes - filled)
        chunk ??= spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes)
        chunk.set(part, filled)
        filled += part.length
        at += part.length
      }
    }
    await send(true)
    await wait(Promise.all(writing))
  } catch (error) {
    controller.abort(error)
    // Not awaited: with a body that hangs, this never settles.
    source.return?.()?.catch(() => undefined)
    await Promise.all(writing)
    throw signal.reason
  } finally {
    dispose()
  }
  return { size, sha256: hash.digest('hex') }
}

/** Clamps a range to a blob of `size` bytes; null if it is then empty. */
export function cutRange(
  size: number,
  { start, end = Infinity }: ByteRange = { start: 0 },
): Required<ByteRange> | null {
  const last = Math.min(end, size - 1)
  return start <= last ? { start, end: last } : null
}
