async function* reported<T>(body: AsyncIterable<T>, hooks: WatchHooks<T>): AsyncGenerator<T> {
  try {
    for await (const piece of body) {
      hooks.onPiece(piece)
      yield piece
    }
  } catch (error) {
    hooks.onError(error)
    throw error
  } finally {
    hooks.onEnd()
  }
}

export interface WatchHooks<T> {
  /** Called with each piece before it is passed on; what it throws breaks the body off. */
  onPiece: (piece: T) => void
  /** Called with the error that breaks the body off. */
  onError: (error: unknown) => void
  /** Called once, when the body has ended, has failed, or is not read any more. */
  onEnd: () => void
}

/** A streamed body whose pieces, error and end are told. */
export const watched = <T>(body: AsyncIterable<T>, hooks: WatchHooks<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]() {
    const iterator = reported(body, hooks)
    let begun = false
    return {
      next() {
        begun = true
        return iterator.next()
      },
      async return() {
        // `return()` on a generator that has not started skips its `finally`, and with it the clean-up and the usage record.
        if (!begun) await iterator.next().catch(() => undefined)
        return iterator.return(undefined)
      },
    }
  },
})
