/**
 * What clicks and keys do that people mean for a page of another site, which has opened this one, or shows it, below their pointer
 * (docs/security.md, row 220).
 * @module
 */

/** For how long something has to be in sight before a click on it counts, and for how long there have to be no keys, in milliseconds. */
const MOMENT_MS = 700

/**
 * Tells whether something has been in sight for a moment, with its window in front and nobody clicking. Until then, a click may be meant for what was
 * there before: a page of others can make people click fast, and open this one below their pointer.
 * @param tell called with false at once, with true after that moment, and with both again where the window comes to the front
 * @returns ends it
 */
export function settle(tell: (isSettled: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout>
  const begin = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      tell(true)
      removeEventListener('pointerdown', begin, true)
    }, MOMENT_MS)
  }
  const again = (): void => {
    tell(false)
    addEventListener('pointerdown', begin, true)
    begin()
  }
  again()
  addEventListener('focus', again)
  return () => {
    clearTimeout(timer)
    removeEventListener('focus', again)
    removeEventListener('pointerdown', begin, true)
  }
}

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
    }, MOMENT_MS)
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
