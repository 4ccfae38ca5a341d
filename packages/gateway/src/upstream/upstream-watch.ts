import type { Outcome, Signal } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { CLIENT_LEFT } from '@turnpike/http'

/** Why a request to an upstream was stopped; the error is the reason of its signal. */
export interface Stop {
  outcome: Outcome
  error: ApiError | UpstreamError
}

const clientDisconnected: Stop = {
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

/** What all watches share. */
interface Calls {
  /** Makes the shared timer fire at this deadline or before. */
  arm(deadline: number): void
  /** Removes a call that has ended. */
  end(call: UpstreamWatch): void
}

/**
 * The signal of an upstream call. It aborts when the client disconnects, the upstream times out, or the server shuts down.
 * It is no AbortController, which costs 12 µs on Node, a sixth of a whole request (docs/decisions/008).
 */
export class UpstreamWatch implements Signal {
  aborted = false
  reason: Stop['error'] | undefined
  /** Why the call was stopped, if it was. */
  stop: Stop | undefined
  /** Whether the client has disconnected. */
  disconnected = false
  /** When the call times out, by `performance.now`. */
  deadline = Infinity
  /** Whether an upstream has been called, and has begun to answer. */
  #called = false
  #answers = false
  #listeners: (() => void)[] = []
  #lastCall: ReturnType<typeof setTimeout> | undefined

  /**
   * @param drainMs milliseconds for which an answer that has begun continues after the client has disconnected; 0 = the call is aborted at once,
   *   Infinity = until it times out
   */
  constructor(
    private readonly calls: Calls,
    readonly drainMs: number,
  ) {}

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.concat(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener)
  }

  /** An upstream is called, which has `ms` until it begins to answer. */
  begin(ms: number): void {
    this.#called = true
    this.#answers = false
    clearTimeout(this.#lastCall)
    this.#lastCall = undefined
    this.expect(ms)
  }

  /** Starts a time-out of `ms`; the call is aborted unless `relax` is called before. */
  expect(ms: number): void {
    this.deadline = performance.now() + ms
    this.calls.arm(this.deadline)
  }

  /** The upstream has begun to answer, which ends the time-out. */
  answered(): void {
    this.relax()
    this.#answers = true
    if (this.disconnected) this.#drain()
  }

  /** Ends the time-out. */
  relax(): void {
    this.deadline = Infinity
  }

  /** Ends the call after a while, as nobody reads its answer. */
  #drain(): void {
    if (this.drainMs < Infinity) this.#lastCall ??= setTimeout(() => this.abort(), this.drainMs)
  }

  /** The client has disconnected. */
  disconnect(): void {
    this.disconnected = true
    if (this.drainMs === 0 || !this.#called) this.abort()
    // What it has taken in is told with the answer, such as after a minute of thoughts.
    else if (this.#answers) this.#drain()
  }

  /** Closes the connection to the upstream. */
  abort(stop: Stop = clientDisconnected): void {
    if (this.aborted) return
    this.aborted = true
    this.stop = stop
    this.reason = stop.error
    for (const listener of this.#listeners) listener()
  }

  /** Ends the watch, for which a shutdown waits. */
  end(): void {
    clearTimeout(this.#lastCall)
    this.calls.end(this)
  }
}

/** The calls that are running, so that a shutdown can wait for them and then end them. */
export interface UpstreamWatches {
  /** @param drainMs as of {@link UpstreamWatch} */
  watch(client: { onDisconnect(listener: () => void): void }, drainMs: number): UpstreamWatch
  /** How many calls run. */
  running(): number
  /** Resolves when no call is running; aborts those that still are after `ms`. */
  drain(ms: number): Promise<void>
}

/** Watches upstream calls: their time-outs, their clients and the shutdown. */
export function upstreamWatches(): UpstreamWatches {
  const running = new Set<UpstreamWatch>()
  let onIdle: (() => void) | undefined

  // One timer for all calls: one per call, or even per event, would cost more than the rest of the watch.
  let timer: ReturnType<typeof setTimeout> | undefined
  let firesAt = Infinity
  const check = (): void => {
    firesAt = Infinity
    const now = performance.now()
    let next = Infinity
    for (const call of running)
      if (call.deadline > now) next = Math.min(next, call.deadline)
      else {
        call.relax()
        call.abort(silent)
      }
    calls.arm(next)
  }
  const calls: Calls = {
    arm(deadline) {
      if (deadline >= firesAt) return
      clearTimeout(timer)
      firesAt = deadline
      timer = setTimeout(check, deadline - performance.now())
    },
    end(call) {
      running.delete(call)
      if (running.size > 0) return
      clearTimeout(timer)
      firesAt = Infinity
      onIdle?.()
    },
  }

  return {
    watch(client, drainMs) {
      const call = new UpstreamWatch(calls, drainMs)
      running.add(call)
      client.onDisconnect(() => {
        if (running.has(call)) call.disconnect()
      })
      return call
    },
    running: () => running.size,
    async drain(ms) {
      if (running.size === 0) return
      const idle = new Promise<void>((resolve) => (onIdle = resolve))
      const timer = setTimeout(() => {
        for (const call of running) call.abort(shuttingDown)
      }, ms)
      await idle
      clearTimeout(timer)
    },
  }
}
