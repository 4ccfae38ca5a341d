import type { RequestLog } from '@turnpike/http'

/** Is told of each finished request. */
export type OnRequest = (log: RequestLog) => void

/** One for several, each of which is told whatever becomes of the others; undefined for none, so that nobody is told at no cost. */
export function tellEach(listeners: OnRequest[]): OnRequest | undefined {
  if (listeners.length < 2) return listeners[0]
  return (log) => {
    for (const listener of listeners)
      try {
        listener(log)
      } catch {
        // The host's own hook failed.
      }
  }
}
