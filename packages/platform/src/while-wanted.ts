import { WANTED_CHECK_S } from './conventions.js'
import { notFound } from './errors.js'

/** Whether what is made for something, such as the reply in a conversation, is still wanted. */
export interface Wanted {
  /** Aborted when the caller leaves, or when it is not wanted any more. */
  signal: AbortSignal
  /** @throws ApiError 404 where it is not wanted any more */
  check(): void
  /** Stops asking. Call it when the work ends. */
  end(): void
}

/**
 * Asks, a second after each answer, whether the thing that something is made for is still there: another process may have deleted it.
 * @param thing what it is, for the error: `conversation`
 * @param isThere where it fails, it is asked again
 * @param left aborted when the caller leaves
 */
export function whileWanted(thing: string, isThere: () => Promise<boolean>, left: AbortSignal): Wanted {
  const gone = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended = false
  const askLater = (): void => {
    if (!ended) timer = setTimeout(() => void ask(), WANTED_CHECK_S * 1_000)
  }
  const ask = async (): Promise<void> => {
    if (await isThere().catch(() => true)) askLater()
    else gone.abort(notFound(thing))
  }
  askLater()
  return {
    signal: AbortSignal.any([left, gone.signal]),
    check: () => gone.signal.throwIfAborted(),
    end() {
      ended = true
      clearTimeout(timer)
    },
  }
}
