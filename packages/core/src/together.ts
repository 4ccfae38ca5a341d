import { UpstreamError } from './errors.js'
import { extend } from './extend.js'
import type { Signal } from './provider.js'

/** Calls of one request that run at the same time. */
export const AT_ONCE = 8

/** A signal that aborts with another, and by itself, until it lets go of that. */
export function follow(signal: Signal): { controller: AbortController; letGo(): void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  return { controller, letGo: () => signal.removeEventListener('abort', abort) }
}

/** Keeps count of calls that were accepted, or may be: whoever asks again pays for those twice (ruling 16). */
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
    /** What one call failed of, in view of the others. */
    judge: (error: unknown): unknown =>
      UpstreamError.is(error) && open > 0
        ? new UpstreamError(error.message, extend(error.failure, { accepted: true }))
        : error,
  }
}

/**
 * The results of `count` calls of an upstream, at most 8 of them at once. They succeed or fail together: where one fails, those under
 * way are aborted, and the failure says so if an upstream may be paid for others.
 */
export async function together<T>(
  count: number,
  signal: Signal,
  run: (index: number, signal: Signal) => Promise<T>,
): Promise<T[]> {
  const { controller, letGo } = follow(signal)
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
    await Promise.all(Array.from({ length: Math.min(count, AT_ONCE) }, work))
  } catch (error) {
    controller.abort()
    throw accepted.judge(error)
  } finally {
    letGo()
  }
  return results
}
