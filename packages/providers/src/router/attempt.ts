import type { Signal, Target } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import type { Health } from './health.js'

export interface AttemptOptions {
  /** How often busy targets are retried after all have been tried; default 0, because clients retry themselves. */
  retries?: number
  /** Maximum wait before such a retry in milliseconds; targets with a longer Retry-After are not retried. Default 2,000. */
  maxWaitMs?: number
}

/** Milliseconds before the first retry, doubled for each further one, plus up to 50 % at random. */
const WAIT_MS = 250

/** Whether the call certainly was not accepted, so that another target may be tried (ruling 16). */
function isRetryable(error: unknown): error is UpstreamError {
  if (!UpstreamError.is(error) || error.failure.accepted) return false
  const { kind, status, credential } = error.failure
  return kind === 'unavailable' || credential === true || status === 429 || status === 503 || status === 529
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

/** Removes the next target to try: the first whose provider is available, else the first. */
function takeNext(left: Target[], health: Health): Target {
  const first = left.findIndex(({ provider }) => health.available(provider))
  return left.splice(Math.max(first, 0), 1)[0]!
}

/** Runs a call with each target in turn until one accepts it. */
export async function attempt<T>(
  targets: Target[],
  signal: Signal,
  run: (target: Target) => Promise<T>,
  health: Health,
  { retries = 0, maxWaitMs = 2_000 }: AttemptOptions,
): Promise<{ value: T; target: Target; attempts: number }> {
  let attempts = 0
  let first: UpstreamError | undefined
  for (let round = 0; ; round++) {
    const busy: Target[] = []
    let wait = Math.min(maxWaitMs, WAIT_MS * 2 ** round * (1 + Math.random() / 2))
    for (const left = [...targets]; left.length > 0;) {
      const target = takeNext(left, health)
      health.begin(target)
      attempts++
      try {
        return { value: await run(target), target, attempts }
      } catch (error) {
        health.report(target, error)
        if (!isRetryable(error)) throw error
        first ??= error
        const { credential, retryAfter = 0 } = error.failure
        if (credential || retryAfter * 1000 > maxWaitMs) continue
        busy.push(target)
        wait = Math.max(wait, retryAfter * 1000)
      }
    }
    if (busy.length === 0 || round >= retries) throw first
    await pause(wait, signal)
    targets = busy
  }
}
