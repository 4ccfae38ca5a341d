import type { Provider, ProviderHealth, ProviderState, Target, UpstreamFailure } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'

export interface HealthOptions {
  /** Failures in a row after which a provider is left alone while there is another; default 5. */
  failures?: number
  /** Milliseconds for which it is left alone before one request tries it again; default 30,000. */
  restMs?: number
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/** Seconds for which a model that is rate limited is asked last, where its provider names none. */
const LIMITED_S = 1

interface State {
  failures: number
  last: ProviderHealth['last_failure']
  /** When it may be tried again; undefined while it is healthy. */
  nextTry: number | undefined
  /** The target of the request that is trying it right now. */
  probe: Target | undefined
}

/** Whether a model answered and ended that by itself, otherwise than was asked for: the code is its reason. */
const ended = ({ kind, code }: UpstreamFailure): boolean =>
  (kind === 'malformed' || kind === 'truncated') && code !== undefined

/**
 * A circuit breaker per provider, fed by real traffic: after some failures in a row it is asked last for a while, then one request tries it.
 * What is the caller's fault is no failure, nor is an answer that the model itself ended, which a caller could ask for,
 * nor a rate limit, which only puts the model behind others.
 */
export class Health {
  readonly #states = new Map<Provider, State>()
  readonly #limited = new Map<Provider, Map<string, number>>()
  readonly #most: number
  readonly #restMs: number
  readonly #now: () => number

  constructor({ failures = 5, restMs = 30_000, now = Date.now }: HealthOptions) {
    this.#most = failures
    this.#restMs = restMs
    this.#now = now
  }

  #of(provider: Provider): State {
    let state = this.#states.get(provider)
    if (!state) this.#states.set(provider, (state = { failures: 0, last: null, nextTry: undefined, probe: undefined }))
    return state
  }

  /** Whether a provider is to be asked before those that are not available. */
  available(provider: Provider): boolean {
    const { nextTry, probe } = this.#of(provider)
    return nextTry === undefined || (nextTry <= this.#now() && !probe)
  }

  /** A request is sent to a target, maybe the one that tries its provider again; to be followed by `report` of the same target. */
  begin(target: Target): void {
    const state = this.#of(target.provider)
    if (state.nextTry !== undefined && this.available(target.provider)) state.probe = target
  }

  /** Whether a target was rate limited and has not had the time that it asked for. */
  limited({ provider, model }: Target): boolean {
    return (this.#limited.get(provider)?.get(model) ?? 0) > this.#now()
  }

  report(target: Target, error?: unknown): void {
    const { provider, model } = target
    const state = this.#of(provider)
    // Others may be under way to it because nobody else was there.
    if (state.probe === target) state.probe = undefined
    // A client that left says nothing of the provider.
    if (error !== undefined && !UpstreamError.is(error)) return
    if (error === undefined || error.failure.caller || ended(error.failure)) {
      state.failures = 0
      state.nextTry = undefined
      return
    }
    const { kind, status, retryAfter = LIMITED_S } = error.failure
    if (status === 429) {
      const limits = this.#limited.get(provider) ?? new Map<string, number>()
      // Callers name models as they like: those whose time is over are forgotten.
      for (const [one, until] of limits) if (until <= this.#now()) limits.delete(one)
      this.#limited.set(provider, limits.set(model, this.#now() + retryAfter * 1000))
      return
    }
    state.failures++
    state.last = kind
    if (state.failures >= this.#most) state.nextTry = this.#now() + this.#restMs
  }

  /** The state of the breaker in one word. */
  breaker(provider: Provider): ProviderState['breaker'] {
    const { nextTry } = this.#of(provider)
    return nextTry === undefined ? 'closed' : nextTry > this.#now() ? 'open' : 'half-open'
  }

  /** The models that are limited, and until when. */
  limits(provider: Provider): ProviderState['limited'] {
    return [...(this.#limited.get(provider) ?? [])]
      .filter(([, until]) => until > this.#now())
      .map(([model, until]) => ({ model, until: new Date(until).toISOString() }))
  }

  describe(provider: Provider): ProviderHealth {
    const { failures, last, nextTry } = this.#of(provider)
    return {
      id: provider.id,
      status: nextTry === undefined ? 'healthy' : 'unhealthy',
      failures,
      last_failure: last,
      next_try: nextTry === undefined ? null : new Date(nextTry).toISOString(),
    }
  }
}
