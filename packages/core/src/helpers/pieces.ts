import { nextTurn } from './microtask.js'
import { PIECE_COST } from './small-pieces.js'

/** Called with what an async iterator's `next` would resolve with. */
export type OnResult<T> = (result: IteratorResult<T, undefined>) => void

/** Called with what `next` would reject with. */
export type OnError = (error: unknown) => void

/**
 * The callback form of `next`. It calls one of the callbacks once, synchronously or later, and must not be called again before that.
 * The signature is that of an executor of `new Promise`.
 */
export type Read<T> = (onResult: OnResult<T>, onError: OnError) => void

/** An async iterator that can also be read with callbacks, which cost less per chunk than promises (docs/decisions/018). */
export class Pieces<T> implements AsyncIterableIterator<T, undefined> {
  /** @param stop called if the reader stops before the end */
  constructor(
    readonly read: Read<T>,
    private readonly stop: () => void | Promise<void>,
  ) {}

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise(this.read)
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this.stop()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** The callback reader of any iterator: its own `read` if it is a {@link Pieces}, otherwise a wrapper of `next`. */
export const readerOf = <T>(iterator: AsyncIterator<T, undefined>): Read<T> =>
  iterator instanceof Pieces
    ? iterator.read
    : // An async function turns a synchronous throw of `next` into a rejection.
      (onResult, onError) => void (async () => iterator.next())().then(onResult, onError)

/** Bytes of a body that are worked on in one turn of the event loop; a piece counts as {@link PIECE_COST} more. */
const TURN_BYTES = 64 * 1024

/**
 * The same reader, which lets other requests have their turn after every 64 KiB. Node reads megabytes of a socket in one turn, however long the work
 * on each piece takes.
 */
export function inTurns(read: Read<Uint8Array>): Read<Uint8Array> {
  let bytes = 0
  let onResult!: OnResult<Uint8Array>
  let onError!: OnError
  // Made once, and not for each piece (docs/decisions/018).
  const onPiece: OnResult<Uint8Array> = (result) => {
    if (!result.done) bytes += result.value.length + PIECE_COST
    onResult(result)
  }
  const readOn = (): void => read(onPiece, onError)
  return (toResult, toError) => {
    onResult = toResult
    onError = toError
    if (bytes < TURN_BYTES) return readOn()
    bytes = 0
    void nextTurn().then(readOn)
  }
}
