/** Is told what an async iterator's `next` would resolve with. */
export type OnResult<T> = (result: IteratorResult<T, undefined>) => void

/** Is told what it would reject with. */
export type OnError = (error: unknown) => void

/** Asks for what comes next. One of the two is told, once, now or later; nothing more is asked for until then. It is what `new Promise` takes. */
export type Read<T> = (onResult: OnResult<T>, onError: OnError) => void

/** An async iterator that can be read by callbacks too, which cost a chunk of a stream less than promises do (docs/decisions/018). */
export class Pieces<T> implements AsyncIterableIterator<T, undefined> {
  /** @param stop called where the reader stops before the end */
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

/** How to read an iterator: by its own callbacks where it has them. */
export const readerOf = <T>(iterator: AsyncIterator<T, undefined>): Read<T> =>
  iterator instanceof Pieces
    ? iterator.read
    : // Async, so that a `next` that throws is one that rejects.
      (onResult, onError) => void (async () => iterator.next())().then(onResult, onError)
