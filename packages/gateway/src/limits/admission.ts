import { ApiError } from '@turnpike/core'
import { Shares } from '@turnpike/core/helpers'
import type { Caller, UserCaller } from '../caller.js'
import {
  COMMON_PART,
  KEY_RETRY_AFTER_S,
  KEYS_PART,
  LONGEST_RETRY_AFTER_S,
  MAX_IN_FLIGHT,
  RETRIES_PER_S,
} from '../conventions.js'
import type { Access } from '../operation.js'

export interface AdmissionOptions {
  /**
   * Concurrent requests of this process. The last fifth is reserved for keys below their fair share, and the last tenth for users below theirs,
   * so that nobody gets more by more keys. Default {@link MAX_IN_FLIGHT}.
   */
  maxInFlight?: number
  /** Concurrent requests of one key, or of one user without a key; default only what `maxInFlight` reserves for others. */
  maxConcurrentPerKey?: number
  /**
   * Delay of the event loop, in milliseconds, above which new requests are refused. It limits response times where the CPU, not the
   * number of requests, is the bottleneck. Default no limit, because in a host's process other code may block the loop.
   */
  maxLoopDelayMs?: number
}

/** Milliseconds between two measurements of the event loop's delay. */
const TICK_MS = 20

/**
 * Measures the delay of the event loop, while `isUsed` returns true.
 * @returns a function that returns the delay in milliseconds: that of the last tick, or the present one if it is longer
 */
function loopDelay(isUsed: () => boolean): () => number {
  let timer: ReturnType<typeof setTimeout> | undefined
  let due = 0
  let last = 0
  const late = (): number => Math.max(0, performance.now() - due)
  const arm = (): void => {
    due = performance.now() + TICK_MS
    timer = setTimeout(tick, TICK_MS)
  }
  const tick = (): void => {
    timer = undefined
    last = isUsed() ? late() : 0
    if (isUsed()) arm()
  }
  return () => {
    if (timer === undefined) arm()
    return Math.max(last, late())
  }
}

/** The errors by seconds of Retry-After. They are made once, because an error with its stack costs as much as the rest of a refusal. */
const overloaded = Array.from(
  { length: LONGEST_RETRY_AFTER_S + 1 },
  (_, retryAfter) =>
    new ApiError(503, 'server_error', 'The gateway is overloaded; try again later', { code: 'overloaded', retryAfter }),
)

/**
 * Spreads Retry-After over time (docs/decisions/017): refused clients that all return at once would be refused again, at the expense of
 * the requests that are running.
 * @returns a function that returns the seconds for the next refusal
 */
function retryAfterSpread(): () => number {
  let last = 0
  return () => {
    const now = performance.now()
    last = Math.min(Math.max(last, now) + 1_000 / RETRIES_PER_S, now + LONGEST_RETRY_AFTER_S * 1_000)
    return Math.ceil((last - now) / 1_000)
  }
}

/**
 * Limits concurrent requests, in total, by key and by user (docs/decisions/019 and 037). Running requests are never ended for it.
 * @returns a function that admits a request, or throws ApiError 429 or 503; the function that it returns must be called when the request ends
 */
export function admission(options: AdmissionOptions): (caller: Caller, access: Access) => (() => void) | undefined {
  const { maxInFlight = MAX_IN_FLIGHT, maxConcurrentPerKey = Infinity, maxLoopDelayMs = Infinity } = options
  /** Running requests by key, or by user where there is none. */
  const byKey = new Shares(maxInFlight)
  const byUser = new Shares(maxInFlight)
  const isFull = (id: string, userId: string): boolean =>
    byUser.taken >= maxInFlight ||
    (byUser.taken >= maxInFlight * COMMON_PART && !byKey.isBelow(id)) ||
    (byUser.taken >= maxInFlight * KEYS_PART && !byUser.isBelow(userId))
  const delay = maxLoopDelayMs === Infinity ? () => 0 : loopDelay(() => byUser.taken > 0)
  const retryAfter = retryAfterSpread()

  return (caller, access) => {
    // Only requests with a key or of users count, so that administrators can inspect a full gateway.
    if (access !== 'key') return undefined
    const { key, user } = caller as UserCaller
    const id = key ? key.id : `user/${user.id}`
    if (byKey.of(id) >= maxConcurrentPerKey)
      throw new ApiError(
        429,
        'rate_limit_error',
        `This ${id === key?.id ? 'key' : 'user'} is limited to ${maxConcurrentPerKey} requests at a time`,
        {
          code: 'rate_limit_exceeded',
          retryAfter: KEY_RETRY_AFTER_S,
        },
      )
    if (isFull(id, user.id) || delay() > maxLoopDelayMs) throw overloaded[retryAfter()]
    byKey.take(id, 1)
    byUser.take(user.id, 1)
    return () => {
      byKey.take(id, -1)
      byUser.take(user.id, -1)
    }
  }
}
