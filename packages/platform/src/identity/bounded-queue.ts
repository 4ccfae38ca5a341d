import { ApiError } from '@turnpike/core'

/** Runs at most `running` tasks at a time, in their order; at most `waiting` more wait. @returns a function that runs a task or throws ApiError 503 */
export function boundedQueue(limits: { running: number; waiting: number }): <T>(task: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= limits.running) {
      if (queue.length >= limits.waiting)
        throw new ApiError(503, 'server_error', 'Too many people are signing in at the moment', {
          code: 'overloaded',
          retryAfter: 1,
        })
      // Whoever ends hands its place on, so that nobody who comes meanwhile takes it.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else running++
    try {
      return await task()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
