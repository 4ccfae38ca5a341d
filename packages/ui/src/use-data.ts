import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** What was read so far. */
export interface Data<T> {
  /** Undefined until it has been read once; kept while it is read again. */
  value: T | undefined
  /** When that was, in ISO 8601. */
  readAt: string | undefined
  /** Why it could not be read the last time. */
  error: unknown
  reading: boolean
  /** Reads it again. */
  again: () => void
}

const nothing = { value: undefined, readAt: undefined, error: undefined, reading: true }

/**
 * Reads data when a component appears, when `of` changes, and every `everyMs` while the page is visible.
 * @param read is given a signal that is aborted when the data is not needed any more
 */
export function useData<T>(
  read: (signal: AbortSignal) => Promise<T>,
  of: readonly unknown[],
  everyMs?: number,
): Data<T> {
  const [state, setState] = useState<Omit<Data<T>, 'again'>>(nothing)
  const [round, setRound] = useState(0)
  const again = useCallback(() => setRound((count) => count + 1), [])
  const last = useRef<readonly unknown[]>([])
  useEffect(() => {
    const leave = new AbortController()
    // What belongs to something else is not shown while the new data is read.
    const isSame = last.current.length === of.length && last.current.every((one, i) => one === of[i])
    last.current = of
    setState((state) => (isSame ? { ...state, reading: true } : nothing))
    let timer: ReturnType<typeof setTimeout> | undefined
    const later = (): void => {
      if (everyMs !== undefined && !leave.signal.aborted)
        timer = setTimeout(() => (document.hidden ? later() : again()), everyMs)
    }
    read(leave.signal)
      .then(
        (value) =>
          leave.signal.aborted ||
          setState({ value, readAt: new Date().toISOString(), error: undefined, reading: false }),
        (error: unknown) => leave.signal.aborted || setState((state) => ({ ...state, error, reading: false })),
      )
      .finally(later)
    return () => {
      leave.abort()
      clearTimeout(timer)
    }
  }, [...of, round])
  return { ...state, again }
}
