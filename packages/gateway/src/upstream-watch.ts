import type { Outcome, Signal } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { CLIENT_LEFT } from '@turnpike/http'

/** Why a request to an upstream was stopped; the error is the reason of its signal. */
export interface Stop {
  outcome: Outcome
  error: ApiError | UpstreamError
}

const clientLeft: Stop = {
  outcome: 'client_abort',
  error: new ApiError(CLIENT_LEFT, 'server_error', 'The client went away', { code: 'internal_error' }),
}

const shuttingDown: Stop = {
  outcome: 'server_shutdown',
  error: new ApiError(502, 'server_error', 'The server is shutting down', {
    code: 'internal_error',
    shouldRetry: false,
  }),
}

const silent: Stop = {
  outcome: 'idle_timeout',
  error: new UpstreamError('The upstream did not answer in time', { provider: '', kind: 'timeout', accepted: true }),
}

/** Holds the one signal of an upstream call, and aborts it when the client leaves, the upstream is silent, or the server stops. */
export interface UpstreamWatch {
  readonly signal: Signal
  /** Why the call was stopped, if it was. */
  stop(): Stop | undefined
  /** Whether the client has left. */
  left(): boolean
  /** Gives the upstream `ms` from now; the call is stopped if `relax` does not come before. */
  expect(ms: number): void
  /** The upstream has answered. */
  relax(): void
  /** Closes the connection to the upstream. */
  abort(): void
  /** Ends the watch, for which a shutdown waits. */
  end(): void
}

/** The calls that are running, so that a shutdown can wait for them and then end them. */
export interface UpstreamWatches {
  /** @param drainMs how long the call goes on after the client has left; 0 = it is stopped at once */
  watch(client: { onLeave(listener: () => void): void }, drainMs: number): UpstreamWatch
  /** How many calls run. */
  running(): number
  /** Resolves when no call runs any more; stops those that still do after `ms`. */
  drain(ms: number): Promise<void>
}

/** The signal of one call. A real one costs Node 12 µs, a sixth of a whole request (docs/decisions/008). */
class StopSignal implements Signal {
  aborted = false
  reason: Stop['error'] | undefined
  stop: Stop | undefined
  #listeners: (() => void)[] = []

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.push(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener)
  }

  abort(stop: Stop): void {
    if (this.aborted) return
    this.aborted = true
    this.stop = stop
    this.reason = stop.error
    for (const listener of this.#listeners) listener()
  }
}

export function upstreamWatches(): UpstreamWatches {
  const running = new Set<StopSignal>()
  let onIdle: (() => void) | undefined

  return {
    watch(client, drainMs) {
      const signal = new StopSignal()
      running.add(signal)
      const abort = (): void => signal.abort(clientLeft)
      let left = false
      let lastCall: ReturnType<typeof setTimeout> | undefined
      client.onLeave(() => {
        left = true
        if (drainMs === 0) abort()
        else if (running.has(signal)) lastCall = setTimeout(abort, drainMs)
      })

      // One timer per call, which looks again when it fires: a timer per event would cost more than the event.
      let deadline = Infinity
      let timer: ReturnType<typeof setTimeout> | undefined
      let firesAt = Infinity
      const arm = (at: number): void => {
        clearTimeout(timer)
        firesAt = at
        timer = setTimeout(check, at - performance.now())
      }
      const check = (): void => {
        firesAt = Infinity
        if (deadline === Infinity) return
        if (deadline <= performance.now()) signal.abort(silent)
        else arm(deadline)
      }

      return {
        signal,
        stop: () => signal.stop,
        left: () => left,
        expect(ms) {
          deadline = performance.now() + ms
          if (deadline < firesAt) arm(deadline)
        },
        relax() {
          deadline = Infinity
        },
        abort,
        end() {
          clearTimeout(timer)
          clearTimeout(lastCall)
          running.delete(signal)
          if (running.size === 0) onIdle?.()
        },
      }
    },
    running: () => running.size,
    async drain(ms) {
      if (running.size === 0) return
      const idle = new Promise<void>((resolve) => (onIdle = resolve))
      const timer = setTimeout(() => {
        for (const signal of running) signal.abort(shuttingDown)
      }, ms)
      await idle
      clearTimeout(timer)
    },
  }
}
