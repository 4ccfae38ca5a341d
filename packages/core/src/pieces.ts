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
