/** For how long there have to be no keys before keys act, in milliseconds. */
const PAUSE_MS = 700

/** Whether a page of another site has opened this one, as the server says with the page. */
const isOpenedByOthers = (): boolean =>
  (performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]).some(({ serverTiming = [] }) =>
    serverTiming.some(({ name }) => name === 'other-site'),
  )

/** Ignores keys until there is a pause. */
function ignoreUntilPause(): void {
  const types = ['keydown', 'keypress', 'keyup']
  let timer: ReturnType<typeof setTimeout>
  const wait = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // Keys of a window that is not in front go elsewhere.
      if (!document.hasFocus()) return wait()
      for (const type of types) removeEventListener(type, ignore, true)
    }, PAUSE_MS)
  }
  const ignore = (event: Event): void => {
    event.preventDefault()
    event.stopImmediatePropagation()
    wait()
  }
  for (const type of types) addEventListener(type, ignore, true)
  wait()
}

/**
 * Ignores keys until there is a pause, where a page of another site has opened this one, or has gone back to it: who types into a page of others, while
 * that opens this one in a window of its own, types into this one. Has to be called before anything else listens to keys.
 */
export function ignoreKeysForOthers(): void {
  if (isOpenedByOthers()) ignoreUntilPause()
  addEventListener('pageshow', ({ persisted }) => persisted && ignoreUntilPause())
}
