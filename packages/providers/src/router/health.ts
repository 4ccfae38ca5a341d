import type { Considered, Provider, ProviderHealth, ProviderState, Target, UpstreamFailure } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { common, Failures, isOfSame, type Only, restsFor } from './callers.js'
import { BURST_MS, doubtfulMs, ended, isLarge, isOfRequest, isRateLimit, refusesModel } from './failure-causes.js'

export interface HealthOptions {
  /** Consecutive failures after which a provider rests; default 5. */
  failures?: number
  /** Milliseconds until one request may try it again, and for which a limited model rests that states no Retry-After; default 30,000. */
  restMs?: number
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/** Why a target gets no calls while others can take them, and until when, in milliseconds since 1970. */
export interface Rest {
  why: NonNullable<Considered['behind']>
  until: number
}

/** A model that rests, for all that it is asked for or, where it was refused, for that alone. */
interface ModelRest {
  model: string
  until: number
  /** After a limit of tokens: those of the request that it refused. A request of less than a tenth is sent all the same. Absent = it rests for all. */
  tokens?: number | undefined
  /** See {@link restsFor}. */
  only: Only
}

type Asked = Pick<Target, 'model' | 'need'>

/** A model and what it is asked for, as a key. */
const askedOf = ({ model, need }: Asked): string => `${need?.task ?? 'chat'} of ${model}`

/** The same by the account that asks for it: what fails rests for those whom it failed. */
const ownOf = (asked: Asked): string => `${askedOf(asked)} for ${asked.need?.caller?.[0] ?? ''}`

/** The tokens of a request's prompt and answer, as far as they are known. */
function tokensOf({ need }: Asked): number | undefined {
  const size = need?.size?.()
  return size && size.prompt + size.output
}

/** Until when a request has to wait for a rest; 0 where it has not. */
function endFor(asked: Asked, rest: ModelRest | undefined): number {
  if (rest === undefined || !restsFor(asked, rest.only)) return 0
  const tokens = rest.tokens === undefined ? undefined : tokensOf(asked)
  return tokens !== undefined && tokens < rest.tokens! / 10 ? 0 : rest.until
}

interface State {
  /** Its own, of whatever model. */
  failures: Failures
  /** Those of its models that say nothing about it, by what they were asked for. */
  ofModels: Map<string, Failures>
  /** For whom it rests until `nextTry`. */
  only: Only
  last: ProviderHealth['last_failure']
  /** When it last answered; -Infinity before that. */
  answered: number
  /** When its models have answered, by what they were asked for. */
  proven: Map<string, number>
  /** When one request may try it; undefined while it is healthy. */
  nextTry: number | undefined
  /**
   * The last trial request since nextTry, and until when others wait while it runs, as a stream may take as long as its reader wants; and whoever
   * sent it, who leaves the next trial to others.
   */
  trial: { target: Target; begun: number; until: number; ownUntil: number; isRunning: boolean } | undefined
}

/**
 * Milliseconds for which an answer of a model proves that the account may use it. What is refused then is what a caller asked of it, such as embeddings
 * of a chat model.
 */
const PROOF_MS = 3_600_000

/** Of how many models of a provider answers and failures are remembered: the latest. */
const MOST_MODELS = 1_000

/** Sets an entry of a map of models as its latest. */
function setLatest<T>(map: Map<string, T>, key: string, value: T): T {
  map.delete(key)
  map.set(key, value)
  if (map.size > MOST_MODELS) map.delete(map.keys().next().value!)
  return value
}

/** Milliseconds that a model rests at most for a Retry-After, which may be that of one of an upstream's users, and then is tried again. */
const LONGEST_REST_MS = 300_000

/**
 * A circuit breaker per provider, driven by real traffic: after several consecutive failures the provider rests, until one request
 * tries it. Not counted as failures: errors caused by the caller, answers that the model itself ended, time-outs and some statuses while others are
 * answered (callers could provoke all of them), errors of one model while others answer, and rate limits and models that are refused: only the model
 * rests then, for an account after as many of its own where it was neither limited nor refused. What only one caller has met rests for that caller, until another one meets it too.
 */
export class Health {
  readonly #states: WeakMap<Provider, State>
  readonly #limited: WeakMap<Provider, Map<string, ModelRest>>
  /** Those that were called while their model rested: an answer ends that. */
  readonly #tried = new WeakSet<Target>()
  readonly #most: number
  readonly #restMs: number
  readonly #now: () => number

  /** @param before what is known already, of the providers that it has as well: both go on with it together */
  constructor({ failures = 5, restMs = 30_000, now = Date.now }: HealthOptions, before?: Health) {
    this.#states = before ? before.#states : new WeakMap()
    this.#limited = before ? before.#limited : new WeakMap()
    this.#most = failures
    this.#restMs = restMs
    this.#now = now
  }

  #of(provider: Provider): State {
    let state = this.#states.get(provider)
    if (!state)
      this.#states.set(
        provider,
        (state = {
          failures: new Failures(),
          ofModels: new Map(),
          only: [],
          last: null,
          answered: -Infinity,
          proven: new Map(),
          nextTry: undefined,
          trial: undefined,
        }),
      )
    return state
  }

  /** Whether a provider is healthy for a caller or may be tried; otherwise it rests. */
  available(target: Pick<Target, 'provider' | 'need'>): boolean {
    const { nextTry, trial, only } = this.#of(target.provider)
    const now = this.#now()
    if (nextTry === undefined || !restsFor(target, only)) return true
    if (nextTry > now) return false
    if (!trial) return true
    // The next trial is first another one's, so that nobody keeps all others waiting by requests that fail, or that take long.
    if (isOfSame(trial.target, target, only)) return trial.ownUntil <= now
    return !trial.isRunning || trial.until <= now
  }

  /** Records the start of a call, which may be the trial request of its provider. Must be followed by `report` with the same target. */
  begin(target: Target): void {
    const state = this.#of(target.provider)
    if (this.rest(target)) this.#tried.add(target)
    if (state.nextTry !== undefined && restsFor(target, state.only) && this.available(target))
      state.trial = this.#trialOf(target)
  }

  #trialOf(target: Target): NonNullable<State['trial']> {
    const begun = this.#now()
    const until = begun + this.#restMs
    return { target, begun, until, ownUntil: until + this.#restMs, isRunning: true }
  }

  /** A trial has ended: others had to wait for it as long as its sender waits now, unless it has failed. */
  #endTrial(trial: NonNullable<State['trial']>): void {
    const now = this.#now()
    trial.isRunning = false
    trial.ownUntil = now + (now - trial.begun)
  }

  /** Whether a target rests; undefined where it may be called. */
  rest(target: Pick<Target, 'provider' | 'model' | 'need'>): Rest | undefined {
    const { provider, model } = target
    if (!this.available(target)) return { why: 'unhealthy', until: this.#of(provider).nextTry! }
    const limits = this.#limited.get(provider)
    if (!limits) return undefined
    const keys = [model, askedOf(target), ownOf(target)]
    const until = Math.max(...keys.map((key) => endFor(target, limits.get(key))))
    return until > this.#now() ? { why: 'limited', until } : undefined
  }

  report(target: Target, error?: unknown): void {
    const { provider, model } = target
    const state = this.#of(provider)
    // Other requests may use the provider at the same time, if it is the only one.
    const isTrial = state.trial?.target === target && state.trial.isRunning
    if (isTrial) this.#endTrial(state.trial!)
    // Other errors, such as a disconnected client, say nothing about the provider.
    if (error !== undefined && !UpstreamError.is(error)) return
    if (error === undefined) this.#prove(state, target)
    // What is refused may come from a server whose models do not answer, and costs nothing: it says nothing.
    if (error && (error.failure.caller || isOfRequest(error))) return
    if (error === undefined || ended(error.failure)) {
      state.answered = this.#now()
      state.failures.clear()
      state.ofModels.delete(askedOf(target))
      state.nextTry = undefined
      state.trial = undefined
      return
    }
    const { kind, retryAfter } = error.failure
    const isRefused = refusesModel(error, model)
    const isOfModel = isRefused || isRateLimit(error.failure)
    if (isOfModel || retryAfter !== undefined) {
      const isSmallerGood = isLarge(error)
      const most = isSmallerGood ? BURST_MS : LONGEST_REST_MS
      const ms = Math.min(retryAfter === undefined ? this.#restMs : retryAfter * 1000, most)
      if (!isRefused) this.#limit(target, model, ms, isSmallerGood ? { tokens: tokensOf(target) } : {})
      else if (this.#mayRefuse(state, target)) this.#limit(target, askedOf(target), ms)
    }
    if (isOfModel) return
    const doubtful = doubtfulMs(error.failure, this.#restMs)
    const isOfProvider = this.#now() - state.answered >= doubtful
    if (!isOfProvider || (kind !== 'unavailable' && this.#othersAnswer(state, target)))
      this.#failModel(state, target, doubtful)
    // Whoever calls it while it rests does not prolong that: somebody could do so again and again.
    else if (state.nextTry === undefined || isTrial || !restsFor(target, state.only)) this.#fail(state, kind, target)
  }

  /** Whether the provider answers requests for other models: then an error of one, such as an overloaded one, says nothing about the others. */
  #othersAnswer({ proven }: State, target: Target): boolean {
    const asked = askedOf(target)
    for (const [other, at] of proven) if (other !== asked && this.#now() - at < this.#restMs) return true
    return false
  }

  /** Notes an answer, which ends the rest of a model that was called all the same. */
  #prove({ proven }: State, target: Target): void {
    const asked = askedOf(target)
    if (this.#tried.has(target)) {
      const limits = this.#limited.get(target.provider)
      for (const key of [target.model, asked, ownOf(target)]) limits?.delete(key)
    }
    setLatest(proven, asked, this.#now())
  }

  /** Notes a failure that says nothing about the provider: its model rests for an account after several, unless it has answered somebody within `doubtful`. */
  #failModel({ proven, ofModels }: State, target: Target, doubtful: number): void {
    const asked = askedOf(target)
    if (this.#now() - (proven.get(asked) ?? -Infinity) < doubtful) return
    const failures = setLatest(ofModels, asked, ofModels.get(asked) ?? new Failures())
    const { count, only } = failures.add(target.need?.caller)
    if (count >= this.#most) this.#limit(target, ownOf(target), this.#restMs, { only })
  }

  /**
   * Whether a model that was refused rests. Not where it has answered, and not within five seconds of its last rest, so that others have a chance to
   * get an answer of it whatever somebody asks of it again and again.
   */
  #mayRefuse({ proven }: State, target: Target): boolean {
    const asked = askedOf(target)
    const { until = -Infinity } = this.#limited.get(target.provider)?.get(asked) ?? {}
    return this.#now() - (proven.get(asked) ?? -Infinity) >= PROOF_MS && this.#now() >= until + BURST_MS
  }

  #limit(
    target: Target,
    key: string,
    ms: number,
    { tokens, only = target.need?.caller ?? [] }: Partial<Pick<ModelRest, 'tokens' | 'only'>> = {},
  ): void {
    const { provider, model } = target
    const limits = this.#limited.get(provider) ?? new Map<string, ModelRest>()
    // Whoever calls it while it rests does not prolong that.
    if (endFor(target, limits.get(key)) > this.#now()) return
    // Old entries are removed, because model ids are chosen by callers and would accumulate.
    for (const [one, { until }] of limits) if (until + BURST_MS <= this.#now()) limits.delete(one)
    const before = limits.get(key)
    const now = this.#now()
    const isRunning = before !== undefined && before.until > now
    const whom = isRunning ? common(before.only, only) : only
    this.#limited.set(provider, limits.set(key, { model, until: now + ms, tokens, only: whom }))
  }

  /** @param by whose request failed; absent = that of the operator */
  #fail(state: State, kind: UpstreamFailure['kind'], by?: Target): void {
    state.last = kind
    const own = state.failures.add(by?.need?.caller)
    const isForAll = state.failures.areOfAll(this.#most)
    if (!isForAll && own.count < this.#most) return
    state.only = isForAll ? [] : own.only
    state.nextTry = this.#now() + this.#restMs
    if (state.trial) state.trial.ownUntil = state.nextTry + this.#restMs
  }

  /**
   * Takes the result of a check without a request: after a success, the next request may try the provider. A failure counts, unless the
   * check itself was its cause, or how often the provider was asked.
   */
  checked(provider: Provider, error?: UpstreamError): void {
    const state = this.#of(provider)
    if (!error) {
      if (state.nextTry !== undefined) state.nextTry = Math.min(state.nextTry, this.#now())
    } else if (!error.failure.caller && !isRateLimit(error.failure)) this.#fail(state, error.failure.kind)
  }

  /** The state of the circuit breaker. */
  breaker(provider: Provider): ProviderState['breaker'] {
    const { nextTry } = this.#of(provider)
    return nextTry === undefined ? 'closed' : nextTry > this.#now() ? 'open' : 'half-open'
  }

  /** The rate-limited models, each with its end. */
  limits(provider: Provider): ProviderState['limited'] {
    const limits = [...(this.#limited.get(provider)?.values() ?? [])]
    // One that rests longer comes later, and stays.
    const ends = new Map(limits.toSorted((a, b) => a.until - b.until).map(({ model, until }) => [model, until]))
    return [...ends]
      .filter(([, until]) => until > this.#now())
      .map(([model, until]) => ({ model, until: new Date(until).toISOString() }))
  }

  describe(provider: Provider): ProviderHealth {
    const { failures, last, nextTry } = this.#of(provider)
    return {
      id: provider.id,
      status: nextTry === undefined ? 'healthy' : 'unhealthy',
      failures: failures.count,
      last_failure: last,
      next_try: nextTry === undefined ? null : new Date(nextTry).toISOString(),
    }
  }
}
