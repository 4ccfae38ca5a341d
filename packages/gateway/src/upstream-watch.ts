import type { Outcome } from '@turnpike/core'
import { ApiError } from '@turnpike/core'

/** Why a request to an upstream was stopped, as the reason of its signal. */
export interface Stop {
  outcome: Outcome
  error: ApiError
}

const stopped = (outcome: Outcome, message: string, code: 'upstream_timeout' | 'internal_error'): Stop => ({
  outcome,
  error: new ApiError(502, code === 'upstream_timeout' ? 'upstream_error' : 'server_error', message, {
    code,
    shouldRetry: false,
  }),
})

const clientLeft = stopped('client_abort', 'The client went away', 'internal_error')
const shuttingDown = stopped('server_shutdown', 'The server is shutting down', 'internal_error')
const silent = stopped('idle_timeout', 'The upstream provider did not answer in time', 'upstream_timeout')

/** Holds the one signal of an upstream call, and aborts it when the client leaves, the upstream is silent, or the server stops. */
export interface UpstreamWatch {
  readonly signal: AbortSignal
  /** Why the call was stopped, if it was. */
  stop(): Stop | undefined
  /** Waits for the upstream, and stops the call if that takes longer than `ms`. */
  within<T>(ms: number, step: Promise<T>): Promise<T>
  /** Closes what is still open and lets go of the timer; a shutdown waits until `last` is done too. */
  end(last?: Promise<void>): Promise<void>
}

/** The calls that are running, so that a shutdown can wait for them and then end them. */
export interface UpstreamWatches {
  watch(client: AbortSignal): UpstreamWatch
  /** Resolves when no call runs any more; stops those that still do after `ms`. */
  drain(ms: number): Promise<void>
}

export function upstreamWatches(): UpstreamWatches {
  const running = new Set<AbortController>()
  let onIdle: (() => void) | undefined

  return {
    watch(client) {
      const controller = new AbortController()
      const { signal } = controller
      running.add(controller)
      const leave = (): void => controller.abort(clientLeft)
      if (client.aborted) leave()
      else client.addEventListener('abort', leave, { once: true })

      // One timer per call, re-armed only when it fires: a timer per event would cost more than the event.
      let timer: ReturnType<typeof setTimeout> | undefined
      let since = 0
      let limit = 0
      const check = (): void => {
        timer = undefined
        if (since === 0) return
        const left = limit - (performance.now() - since)
        if (left <= 0) controller.abort(silent)
        else timer = setTimeout(check, left)
      }

      return {
        signal,
        stop: () => (signal.aborted ? (signal.reason as Stop) : undefined),
        async within(ms, step) {
          since = performance.now()
          if (limit !== ms) {
            limit = ms
            clearTimeout(timer)
            timer = undefined
          }
          timer ??= setTimeout(check, ms)
          try {
            return await step
          } finally {
            since = 0
          }
        },
        async end(last) {
          clearTimeout(timer)
          client.removeEventListener('abort', leave)
          if (!signal.aborted) controller.abort(clientLeft)
          try {
            await last
          } finally {
            running.delete(controller)
            if (running.size === 0) onIdle?.()
          }
        },
      }
    },
    async drain(ms) {
      if (running.size === 0) return
      const idle = new Promise<void>((resolve) => (onIdle = resolve))
      const timer = setTimeout(() => {
        for (const controller of running) controller.abort(shuttingDown)
      }, ms)
      await idle
      clearTimeout(timer)
    },
  }
}
