/** Calls a function once and keeps what it resolves with; after a failure, it is called again. */
export function memoize<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () =>
    (running ??= run().catch((error: unknown) => {
      running = undefined
      throw error
    }))
}
