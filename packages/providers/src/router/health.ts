import type { Provider, ProviderHealth, Target } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'

export interface HealthOptions {
  /** Failures in a row after which a provider is left alone; default 5. */
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
  /** Whether a request is trying it right now. */
  probing: boolean
}

/**
 * A circuit breaker per provider, fed by real traffic: after some failures in a row nobody asks it for a while, then one request does.
 * What is the caller's fault is no failure, and neither is a rate limit, which only puts the model behind others.
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
    if (!state) this.#states.set(provider, (state = { failures: 0, last: null, nextTry: undefined, probing: false }))
    return state
  }

  /** Whether a request may be sent to a provider. */
  available(provider: Provider): boolean {
    const { nextTry, probing } = this.#of(provider)
    return nextTry === undefined || (nextTry <= this.#now() && !probing)
  }

  /** Takes the place of the one request that tries a provider again; to be followed by `report`. @returns {@link available} */
  admit(provider: Provider): boolean {
    const available = this.available(provider)
    const state = this.#of(provider)
    if (available && state.nextTry !== undefined) state.probing = true
    return available
  }

  /** Whether a target was rate limited and has not had the time that it asked for. */
  limited({ provider, model }: Target): boolean {
    return (this.#limited.get(provider)?.get(model) ?? 0) > this.#now()
  }

  report({ provider, model }: Target, error?: unknown): void {
    const state = this.#of(provider)
    state.probing = false
    if (error === undefined) {
      state.failures = 0
      state.nextTry = undefined
      return
    }
    // A client that left says nothing of the provider.
    if (!UpstreamError.is(error)) return
    const { kind, status, caller, retryAfter = LIMITED_S } = error.failure
    if (status === 429) {
      const limits = this.#limited.get(provider) ?? new Map<string, number>()
      this.#limited.set(provider, limits.set(model, this.#now() + retryAfter * 1000))
      return
    }
    if (caller) {
      state.failures = 0
      state.nextTry = undefined
      return
    }
    state.failures++
    state.last = kind
    if (state.failures >= this.#most) state.nextTry = this.#now() + this.#restMs
  }

  /** Seconds until one of some providers may be tried again. */
  secondsUntil(providers: Provider[]): number {
    const next = Math.min(...providers.map((provider) => this.#of(provider).nextTry ?? 0))
    return Math.max(1, Math.ceil((next - this.#now()) / 1000))
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
