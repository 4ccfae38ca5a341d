import { CALLS_AT_ONCE } from './conventions.js'
import { UpstreamError } from './errors.js'
import { extend } from './extend.js'
import type { Signal } from './provider.js'

/** A controller that is aborted with `signal`, until `dispose` removes its listener from that. */
export function follow(signal: Signal): { controller: AbortController; dispose(): void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  return { controller, dispose: () => signal.removeEventListener('abort', abort) }
}

/** Counts the calls of one request that the upstream has accepted or may accept: a retry would pay for those twice (ruling 16). */
export function acceptance() {
  let open = 0
  return {
    async count<T>(call: Promise<T>): Promise<T> {
      open++
      try {
        return await call
      } catch (error) {
        open--
        throw error
      }
    },
    /** The error of a failed call, marked as `accepted` if another call is. */
    toError: (error: unknown): unknown =>
      UpstreamError.is(error) && open > 0
        ? new UpstreamError(error.message, extend(error.failure, { accepted: true }))
        : error,
  }
}

/**
 * Makes `count` upstream calls, at most 8 at a time, and returns their results. If one fails, the others are aborted, and the error says
 * so if the upstream may bill any of them.
 */
export async function together<T>(
  count: number,
  signal: Signal,
  run: (index: number, signal: Signal) => Promise<T>,
): Promise<T[]> {
  const { controller, dispose } = follow(signal)
  const results: T[] = []
  const accepted = acceptance()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++
      results[index] = await accepted.count(run(index, controller.signal))
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(count, CALLS_AT_ONCE) }, work))
  } catch (error) {
    controller.abort()
    throw accepted.toError(error)
  } finally {
    dispose()
  }
  return results
}
