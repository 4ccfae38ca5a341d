/** Milliseconds without a touch of the page after which it is taken for left alone. */
const LEFT_MS = 60_000
/** How many times as long a page that is left alone waits. */
const SLOWER = 5

let touched = Date.now()
const touch = (): void => void (touched = Date.now())
for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'])
  globalThis.addEventListener?.(type, touch, { capture: true, passive: true })

/**
 * Calls back once after `ms` milliseconds, or five times as many where nobody has touched the page for a minute; never while it is hidden, and at once
 * when it is seen again.
 * @param signal aborted where the call is not needed any more
 */
export function afterWhileSeen(ms: number, callback: () => void, signal: AbortSignal): void {
  const due = (): void => {
    if (!document.hidden) return callback()
    document.addEventListener('visibilitychange', callback, { once: true, signal })
  }
  const timer = setTimeout(due, Date.now() - touched > LEFT_MS ? ms * SLOWER : ms)
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
}
