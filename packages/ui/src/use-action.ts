import { useEffect, useRef, useState } from 'preact/hooks'

/** Something that the user does: how it is run, whether it is running, and why it failed the last time. */
export interface Action<Args extends unknown[]> {
  /** Runs it, unless it is running already. */
  run: (...args: Args) => void
  busy: boolean
  /** Whether it succeeded the last time. */
  done: boolean
  /** Why it failed the last time. */
  error: unknown
}

/** Keeps the progress and the error of an action for the component that offers it. */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<Omit<Action<Args>, 'run'>>({ busy: false, done: false, error: undefined })
  const running = useRef(false)
  const mounted = useRef(true)
  useEffect(() => () => void (mounted.current = false), [])
  const end = (done: boolean, error: unknown): void => {
    running.current = false
    if (mounted.current) setState({ busy: false, done, error })
  }
  const run = (...args: Args): void => {
    if (running.current) return
    running.current = true
    setState({ busy: true, done: false, error: undefined })
    act(...args).then(
      () => end(true, undefined),
      (error: unknown) => end(false, error),
    )
  }
  return { run, ...state }
}
