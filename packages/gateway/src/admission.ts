import type { KeyHolder } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import type { Caller } from './caller.js'
import { COMMON_PART, FULL_RETRY_AFTER_S, LONGEST_RETRY_AFTER_S, MAX_IN_FLIGHT, RETRIES_PER_S } from './conventions.js'
import type { Access } from './operation.js'

export interface AdmissionOptions {
  /** Requests that this process serves at a time; the last fifth is for keys below their fair share. Default {@link MAX_IN_FLIGHT}. */
  maxInFlight?: number
  /** Requests of one key that this process serves at a time; default as many as there is room for. */
  maxConcurrentPerKey?: number
  /**
   * Milliseconds by which the event loop may be late before new requests are refused: what holds response times where the processor,
   * not the number of requests, is the limit. Default any, because in a host's process others may block the loop.
   */
  maxLoopDelayMs?: number
}

/** How often is looked how late the event loop is, in milliseconds. */
const TICK_MS = 20

/**
 * Measures how late the event loop is, while `isUsed`.
 * @returns what tells it in milliseconds: as it was at the last tick, or as it is by now if that is more
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

/** By the seconds of their Retry-After, because making an error with its stack costs as much as the rest of a refusal. */
const overloaded = Array.from(
  { length: LONGEST_RETRY_AFTER_S + 1 },
  (_, retryAfter) =>
    new ApiError(503, 'server_error', 'The gateway is overloaded; try again later', { code: 'overloaded', retryAfter }),
)

/**
 * Gives each that is refused a turn of its own to come back in: a crowd that comes back together would be refused together,
 * and refusing it would take the time of those that run.
 * @returns what tells the seconds until the next turn
 */
function turns(): () => number {
  let last = 0
  return () => {
    const now = performance.now()
    last = Math.min(Math.max(last, now) + 1_000 / RETRIES_PER_S, now + LONGEST_RETRY_AFTER_S * 1_000)
    return Math.max(FULL_RETRY_AFTER_S, Math.ceil((last - now) / 1_000))
  }
}

/**
 * Counts the requests that run, by key, and refuses what is too much: nothing that runs is ever ended for it.
 * @returns what lets a request in, or throws ApiError 429 or 503; what that returns is to be called when the request is over
 */
export function admission(options: AdmissionOptions): (caller: Caller, access: Access) => (() => void) | undefined {
  const { maxInFlight = MAX_IN_FLIGHT, maxConcurrentPerKey = Infinity, maxLoopDelayMs = Infinity } = options
  const common = maxInFlight * COMMON_PART
  /** By key; a key without requests is not in it. */
  const running = new Map<string, number>()
  let inFlight = 0
  const delay = maxLoopDelayMs === Infinity ? () => 0 : loopDelay(() => inFlight > 0)
  const secondsToTurn = turns()

  return (caller, access) => {
    // Administrators can look at a gateway that is full.
    if (access !== 'key') return undefined
    const { id } = (caller as KeyHolder).key
    const own = running.get(id) ?? 0
    if (own >= maxConcurrentPerKey)
      throw new ApiError(429, 'rate_limit_error', `This key is limited to ${maxConcurrentPerKey} requests at a time`, {
        code: 'rate_limit_exceeded',
        retryAfter: FULL_RETRY_AFTER_S,
      })
    // Shared with a key that may come next: it would find no room otherwise.
    const share = maxInFlight / (running.size + 1)
    if (inFlight >= maxInFlight || (inFlight >= common && own >= share) || delay() > maxLoopDelayMs)
      throw overloaded[secondsToTurn()]
    inFlight++
    running.set(id, own + 1)
    return () => {
      inFlight--
      const left = running.get(id)! - 1
      if (left === 0) running.delete(id)
      else running.set(id, left)
    }
  }
}
