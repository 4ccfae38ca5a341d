/**
 * What `run` resolves with, unless the time is over or `outer` aborts first: then it rejects at once, whether or not `run` heeds its signal.
 * @param late the error for when the time is over
 */
export async function within<T>(
  ms: number,
  late: () => Error,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const leave = (): void => controller.abort(outer.reason)
  outer.throwIfAborted()
  outer.addEventListener('abort', leave)
  // More than 2 ** 31 - 1 would be over at once.
  const timer = setTimeout(() => controller.abort(late()), Math.min(ms, 2 ** 31 - 1))
  try {
    return await new Promise<T>((resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error))
      run(controller.signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', leave)
  }
}

/** What `run` resolves with, unless the signal aborts first. @throws the reason of the signal */
export const unlessAborted = <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> =>
  within(Infinity, () => new Error('Never'), signal, run)

/** Waits. @throws the reason of the signal */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, ms)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
