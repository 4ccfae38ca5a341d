import { callHook } from '@turnpike/core/helpers'
import type { RequestLog } from '@turnpike/http'

/** Called with the log record of each finished request. */
export type OnRequest = (log: RequestLog) => void

/** Combines several hooks; an error in one does not affect the others. Undefined where there are none, which costs nothing. */
export function tellEach(listeners: OnRequest[]): OnRequest | undefined {
  if (listeners.length < 2) return listeners[0]
  return (log) => {
    for (const listener of listeners) callHook(() => listener(log))
  }
}
