/** Hands values from one who makes them to one who reads them, who may leave. One waits at most: it may have megabytes. */
export interface Channel<T> {
  /** Resolves when the reader has taken the value, or has left. */
  push(value: T): Promise<void>
  /** Nothing follows. @param failure what the reader gets after the values that it has not read yet */
  end(failure?: { error: unknown }): void
  /** Its `return()` leaves. */
  reader: AsyncIterableIterator<T, undefined>
}

export function channel<T>(): Channel<T> {
  /** The value that waits for the reader. */
  const waiting: T[] = []
  const state: { ended?: { failure: { error: unknown } | undefined }; hasLeft: boolean } = { hasLeft: false }
  /** Wakes the one side that waits for the other. */
  let wake: (() => void) | undefined
  const changed = (): void => {
    wake?.()
    wake = undefined
  }
  const change = (): Promise<void> => new Promise((resolve) => (wake = resolve))
  const done = { done: true, value: undefined } as const
  return {
    async push(value) {
      if (state.hasLeft || state.ended) return
      waiting.push(value)
      changed()
      while (waiting.length > 0 && !state.hasLeft && !state.ended) await change()
    },
    end(failure) {
      state.ended ??= { failure }
      changed()
    },
    reader: {
      async next() {
        while (waiting.length === 0 && !state.ended && !state.hasLeft) await change()
        if (state.hasLeft) return done
        if (waiting.length > 0) {
          const value = waiting.shift()!
          changed()
          return { done: false, value }
        }
        if (state.ended?.failure) throw state.ended.failure.error
        return done
      },
      async return() {
        state.hasLeft = true
        waiting.length = 0
        changed()
        return done
      },
      [Symbol.asyncIterator]() {
        return this
      },
    },
  }
}
