import type { Signal, Target, UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import type { Health } from './health.js'
import { atLimits } from './quotas.js'

export interface AttemptOptions {
  /** How often busy targets are retried after all have been tried; default 0, because clients retry themselves. */
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

/** Whether the call certainly was not accepted, so that the same target may be tried again (ruling 16). */
function isRetryable({ failure }: UpstreamError): boolean {
  const { kind, status, credential, accepted } = failure
  return (
    !accepted && (kind === 'unavailable' || credential === true || status === 429 || status === 503 || status === 529)
  )
}

/**
 * What a target refused that another one may take (ruling 52), by its answer, or by its adapter before anything was sent; after a content filter,
 * only a fallback of the group may. Undefined for a fault in the messages, and for everything that may have been accepted.
 */
function refusedBy(error: unknown): UpstreamFailure['refused'] {
  if (ApiError.is(error)) return error.code === 'unsupported_parameter' ? 'parameter' : undefined
  return UpstreamError.is(error) && !error.failure.accepted ? error.failure.refused : undefined
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

/**
 * Runs a call with each target in turn until one accepts it; those that rest are left out. Throws the first failure, or, where that is a refusal,
 * the first one that passes. Targets with a `fallback` are only called, once, where that was refused, and then in place of all that are left.
 * @param admit returns 0 for a target that may be called, else the seconds until it may: it is left out
 * @throws ApiError 429 where no target was admitted
 */
export async function attempt<T>(
  targets: Target[],
  signal: Signal,
  run: (target: Target) => Promise<T>,
  health: Health,
  { retries = 0, maxWaitMs = 2_000, failoverStatuses = [] }: AttemptOptions,
  admit?: (target: Target) => Promise<number>,
): Promise<{ value: T; target: Target; attempts: number }> {
  let attempts = 0
  let first: unknown
  let passing: unknown
  let soonest = Infinity
  let left = targets.filter(({ fallback }) => fallback === undefined)
  let hasFallenBack = left.length === 0
  if (hasFallenBack) left = [...targets]
  // Where all rest, one is called, and the caller gets its answer: only the upstream knows what holds now (docs/decisions/052).
  let mayRest = true
  for (let round = 0; ; round++) {
    const busy: Target[] = []
    let wait = Math.min(maxWaitMs, WAIT_MS * 2 ** round * (1 + Math.random() / 2))
    while (left.length > 0) {
      const target = takeNext(left, health, mayRest)
      if (!target) break
      const seconds = admit ? await admit(target) : 0
      if (seconds > 0) {
        soonest = Math.min(soonest, seconds)
        continue
      }
      health.begin(target)
      attempts++
      // Retries are of all that allow them.
      mayRest = round > 0
      try {
        return { value: await run(target), target, attempts }
      } catch (error) {
        health.report(target, error)
        const refused = refusedBy(error)
        if (refused) {
          const fallbacks = hasFallenBack ? [] : targets.filter(({ fallback }) => fallback === refused)
          if (refused === 'content' && fallbacks.length === 0) throw error
          first ??= error
          if (fallbacks.length > 0) {
            hasFallenBack = mayRest = true
            left = fallbacks
            busy.length = 0
            continue
          }
          // The same model with another key refuses the same.
          if (refused !== 'model')
            left = left.filter(({ provider, model }) => provider.id !== target.provider.id || model !== target.model)
          continue
        }
        if (!UpstreamError.is(error)) throw error
        const { credential, retryAfter = 0, accepted, status = 0 } = error.failure
        if (isRetryable(error)) {
          first ??= error
          if (credential || retryAfter * 1000 > maxWaitMs) continue
          passing ??= error
          busy.push(target)
          wait = Math.max(wait, retryAfter * 1000)
        } else if (!accepted && failoverStatuses.includes(status)) first ??= error
        else throw error
      }
    }
    if (busy.length === 0 || round >= retries) throw (refusedBy(first) && passing) ?? first ?? atLimits(soonest)
    await pause(wait, signal)
    mayRest = true
    left = busy
  }
}
