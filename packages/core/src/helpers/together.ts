import { CALLS_AT_ONCE } from '../conventions.js'
import type { UpstreamFailure } from '../errors.js'
import { isMarked, UpstreamError } from '../errors.js'
import { extend } from './extend.js'
import type { Usage } from '../schemas/chat.js'
import type { Signal } from '../provider.js'
import { sumUsage } from '../sum-usage.js'

/** A controller that is aborted with `signal`, until `dispose` removes its listener from that. */
export function follow(signal: Signal): { controller: AbortController; dispose(): void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  return { controller, dispose: () => signal.removeEventListener('abort', abort) }
}

/** Several calls that were not ended by an upstream, but for example by their client, which left: that is the `cause`. */
export class EndedCalls extends Error {
  readonly turnpike = 'EndedCalls'
  override readonly name = 'EndedCalls'

  /** @param spent what those have used that had answered */
  constructor(
    cause: unknown,
    readonly spent: Pick<UpstreamFailure, 'usage' | 'calls'>,
  ) {
    super('The calls were ended', { cause })
  }

  /** Whether `value` is one, including one of another copy of this package. */
  static is(value: unknown): value is EndedCalls {
    return isMarked(value, 'EndedCalls')
  }
}

/**
 * The error of a request that needs several calls: it was accepted if one of them may have been, because a retry would pay for that twice
 * and has used what they used.
 * @param errors of the calls that failed or were aborted, the first one first
 * @param done the usage of each call that was answered
 */
export function errorOfCalls(errors: unknown[], done: (Usage | undefined)[]): unknown {
  const [error] = errors
  const failures = errors.filter(UpstreamError.is).map(({ failure }) => failure)
  const aborted = errors.length - failures.length
  const reports = [...done, ...failures.map(({ usage }) => usage)].filter((usage) => usage !== undefined)
  const unreported =
    done.filter((usage) => usage === undefined).length +
    failures.filter(({ usage, unreported }) => usage === undefined && unreported).length
  const open = aborted + failures.filter(({ usage, unreported, accepted }) => !usage && !unreported && accepted).length
  const spent = { usage: sumUsage(reports), calls: { reported: reports.length, unreported, open } }
  if (!UpstreamError.is(error)) return reports.length > 0 ? new EndedCalls(error, spent) : error
  const all: Partial<UpstreamFailure> = {
    accepted: done.length > 0 || aborted > 0 || failures.some(({ accepted }) => accepted),
    ...spent,
    unreported: unreported > 0 || undefined,
  }
  return new UpstreamError(error.message, extend(error.failure, all))
}

/**
 * Makes `count` upstream calls, at most 8 at a time, and returns their results. If one fails, no other begins; those that run are waited for,
 * because they are billed, and the error has the usage of all.
 */
export async function together<T extends { usage?: Usage | undefined }>(
  count: number,
  run: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  const errors: unknown[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count && errors.length === 0) {
      const index = next++
      try {
        results[index] = await run(index)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(count, CALLS_AT_ONCE) }, work))
  if (errors.length === 0) return results
  // Results have gaps where calls failed.
  const done = Object.values(results).map(({ usage }) => usage)
  throw errorOfCalls(errors, done)
}
