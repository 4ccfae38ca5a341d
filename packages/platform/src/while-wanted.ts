import { WANTED_CHECK_S } from './conventions.js'
import { notFound } from './errors.js'

/** Whether what somebody pays for, such as a reply, is still wanted. */
export interface Wanted {
  /** Aborted when the caller leaves, or when it is not wanted any more. */
  signal: AbortSignal
  /** @throws ApiError 404 where it is not wanted any more */
  check(): void
  /** Stops asking. Call it when the work ends. */
  end(): void
}

/**
 * Asks each second whether something that is being made is still wanted: what it is for may have been deleted, also by another process.
 * @param isWanted where it fails, it is asked again
 * @param left aborted when the caller leaves
 */
export function whileWanted(isWanted: () => Promise<boolean>, left: AbortSignal): Wanted {
  const gone = new AbortController()
  const ask = async (): Promise<void> => {
    if (!(await isWanted().catch(() => true))) gone.abort(notFound('conversation'))
  }
  const timer = setInterval(() => void ask(), WANTED_CHECK_S * 1_000)
  return {
    signal: AbortSignal.any([left, gone.signal]),
    check: () => gone.signal.throwIfAborted(),
    end: () => clearInterval(timer),
  }
}
