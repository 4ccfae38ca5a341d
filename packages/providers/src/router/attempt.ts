import type { Signal, Target, UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import type { Health } from './health.js'
import { atLimits } from './quotas.js'

export interface AttemptOptions {
  /** How often busy targets are retried after all have been tried, but for those whose provider says how often itself; default 0, because clients retry themselves. */
  retries?: number
  /** Maximum wait before such a retry in milliseconds; targets with a longer Retry-After are not retried. Default 2,000. */
  maxWaitMs?: number
  /**
   * Further statuses of an upstream after which the next target is tried, such as `[500, 502, 504, 520]`; default none, because an upstream that
   * answers with one may have begun to generate, and bill that.
   */
  failoverStatuses?: number[]
}

/** Milliseconds before the first retry, doubled for each further one, plus up to 50 % at random. */
const WAIT_MS = 250

/** Whether the call certainly was not accepted, so that the same target may be tried again. */
function isRetryable({ failure }: UpstreamError): boolean {
  const { kind, status, credential, accepted } = failure
  return (
    !accepted && (kind === 'unavailable' || credential === true || status === 429 || status === 503 || status === 529)
  )
}

/**
 * What a target refused that another one may take, by its answer, or by its adapter before anything was sent; after a content filter,
 * only a fallback of the group may. Undefined for a fault in the messages, and for everything that may have been accepted, but for an answer that is charged
 * and says nothing.
 */
function refusedBy(error: unknown): UpstreamFailure['refused'] {
  if (ApiError.is(error)) return error.code === 'unsupported_parameter' ? 'parameter' : undefined
  if (!UpstreamError.is(error)) return undefined
  const { accepted, withheld, refused } = error.failure
  return accepted && !withheld ? undefined : refused
}

/** Resolves after `ms`; rejects when the signal is aborted. */
const pause = (ms: number, signal: Signal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })

/**
 * Removes the next target to try: the first that does not rest, else the one that rests least long, if one that rests may be called.
 */
function takeNext(left: Target[], health: Health, mayRest: boolean): Target | undefined {
  let next = left.findIndex((target) => !health.rest(target))
  if (next < 0 && mayRest) {
    const ends = left.map((target) => health.rest(target)!.until)
    next = ends.indexOf(Math.min(...ends))
  }
  return next < 0 ? undefined : left.splice(next, 1)[0]
}

/** The failures of a request so far, and what may be called after them. */
class Failures {
  readonly #targets: Target[]
  readonly #options: Required<AttemptOptions>
  /** The first one, and the first that passes. */
  #first: unknown
  #passing: unknown
  #hasFallenBack: boolean
  #round = 0
  /** Who may be retried, and in how many milliseconds. */
  #busy: Target[] = []
  #wait = 0
  /** Whether one that rests may be called. */
  mayRest = false

  constructor(targets: Target[], { retries = 0, maxWaitMs = 2_000, failoverStatuses = [] }: AttemptOptions) {
    this.#targets = targets
    this.#options = { retries, maxWaitMs, failoverStatuses }
    this.#hasFallenBack = isFallback(targets[0]!)
  }

  /** Adds one. @returns which of the targets that are left may be called. @throws the failure after which none may */
  add(error: unknown, target: Target, left: Target[]): Target[] {
    // Retries are of all that allow them.
    this.mayRest = this.#round > 0
    const refused = refusedBy(error)
    if (refused) return this.#refused(error, refused, target, left)
    if (!UpstreamError.is(error)) throw error
    const { maxWaitMs, failoverStatuses } = this.#options
    const { credential, retryAfter = 0, accepted, status = 0, overdue } = error.failure
    const waits = isRetryable(error)
    if (!waits && !overdue && (accepted || !failoverStatuses.includes(status))) throw error
    this.#first ??= error
    if (!waits || credential || retryAfter * 1000 > maxWaitMs) return left
    this.#passing ??= error
    this.#busy.push(target)
    this.#wait = Math.max(this.#wait, retryAfter * 1000)
    return left
  }

  #refused(error: unknown, what: string, { provider: { id }, model }: Target, left: Target[]): Target[] {
    const fallbacks = this.#hasFallenBack ? [] : this.#targets.filter(({ fallback }) => fallback === what)
    if (what === 'content' && fallbacks.length === 0) throw error
    this.#first ??= error
    if (fallbacks.length > 0) {
      this.#hasFallenBack = this.mayRest = true
      this.#busy = []
      return fallbacks
    }
    // The same model with another key refuses the same.
    return what === 'model' ? left : left.filter((one) => one.provider.id !== id || one.model !== model)
  }

  /** Waits until those that allow it may be retried, and returns them. @throws what the caller gets where there are none */
  async retry(signal: Signal): Promise<Target[]> {
    const { retries, maxWaitMs } = this.#options
    const busy = this.#busy.filter(({ options }) => this.#round < (options?.retries ?? retries))
    if (busy.length === 0) throw (refusedBy(this.#first) && this.#passing) ?? this.#first
    const wait = Math.min(maxWaitMs, WAIT_MS * 2 ** this.#round * (1 + Math.random() / 2))
    await pause(Math.max(wait, this.#wait), signal)
    this.#round++
    this.#busy = []
    this.#wait = 0
    this.mayRest = true
    return busy
  }
}

const isFallback = ({ fallback }: Target): boolean => fallback !== undefined

/** The targets that are called first. Mostly all are, and `filter` would allocate more than the rest of a call. */
const mainOf = (targets: Target[]): Target[] =>
  isFallback(targets[0]!) || !targets.some(isFallback) ? [...targets] : targets.filter((one) => !isFallback(one))

/**
 * Runs a call with each target in turn until one accepts it; those that rest are left out. Throws the first failure, or, where that is a refusal,
 * the first one that passes. Targets with a `fallback` are only called, once, where that was refused, and then in place of all that are left; or at once
 * where there are no others.
 * @param admit returns 0 for a target that may be called, else the seconds until it may: it is left out
 * @throws ApiError 429 where no target was admitted
 */
export async function attempt<T>(
  targets: Target[],
  signal: Signal,
  run: (target: Target) => Promise<T>,
  health: Health,
  options: AttemptOptions,
  admit?: (target: Target) => Promise<number>,
): Promise<{ value: T; target: Target; attempts: number }> {
  let attempts = 0
  let failures: Failures | undefined
  let soonest = Infinity
  for (let left = mainOf(targets); ; left = await failures.retry(signal)) {
    while (left.length > 0) {
      // Where all rest, one is called, and the caller gets its answer: only the upstream knows what holds now (docs/decisions/052).
      const target = takeNext(left, health, failures === undefined || failures.mayRest)
      if (!target) break
      const seconds = admit ? await admit(target) : 0
      if (seconds > 0) {
        soonest = Math.min(soonest, seconds)
        continue
      }
      health.begin(target)
      attempts++
      try {
        return { value: await run(target), target, attempts }
      } catch (error) {
        health.report(target, error)
        failures ??= new Failures(targets, options)
        left = failures.add(error, target, left)
      }
    }
    if (!failures) throw atLimits(soonest)
  }
}
