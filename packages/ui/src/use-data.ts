import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { afterWhileSeen } from './while-seen.js'

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
 * Reads data when a component appears, when `of` changes, and every `everyMs` while somebody looks at the page ({@link afterWhileSeen}).
 * @param read is given a signal that is aborted when the data is not needed any more, and what was read before of the same; where it resolves with that,
 * nothing is drawn again
 */
export function useData<T>(
  read: (signal: AbortSignal, known: T | undefined) => Promise<T>,
  of: readonly unknown[],
  everyMs?: number,
): Data<T> {
  const [state, setState] = useState<Omit<Data<T>, 'again'>>(nothing)
  const [round, setRound] = useState(0)
  const again = useCallback(() => setRound((count) => count + 1), [])
  const last = useRef<readonly unknown[]>([])
  const known = useRef<{ value: T; readAt: string } | undefined>(undefined)
  useEffect(() => {
    const leave = new AbortController()
    // What belongs to something else is not shown while the new data is read.
    const isSame = last.current.length === of.length && last.current.every((one, i) => one === of[i])
    last.current = of
    if (!isSame) known.current = undefined
    setState((state) => (isSame ? { ...state, reading: true } : nothing))
    const load = (): void => {
      read(leave.signal, known.current?.value)
        .then(
          (value) => {
            if (leave.signal.aborted) return
            known.current = { value, readAt: new Date().toISOString() }
            const { readAt } = known.current
            setState((state) =>
              state.value === value && state.error === undefined && !state.reading
                ? state
                : { value, readAt, error: undefined, reading: false },
            )
          },
          (error: unknown) =>
            leave.signal.aborted || setState((state) => ({ ...state, ...known.current, error, reading: false })),
        )
        .finally(() => {
          if (everyMs !== undefined && !leave.signal.aborted) afterWhileSeen(everyMs, load, leave.signal)
        })
    }
    load()
    return () => leave.abort()
  }, [...of, round])
  return { ...state, again }
}
