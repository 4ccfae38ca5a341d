/** Requests a minute, counted in a store that several processes share. @module */
import type { RateLimit, RateLimiter } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { encodeKey } from '@turnpike/core/internal'

/** A `RateLimiter` that is exact over all processes that share its store. */
export interface SharedRateLimiter extends RateLimiter {
  /**
   * Counts one request against `perMinute`. Rejects where the store fails; what was on its way then may have been counted.
   * @throws TypeError where `key` is longer than a store takes
   */
  consume(key: string, perMinute: number): RateLimit | Promise<RateLimit>
  /** Waits for what is under way and lets go of the store; a client or a pool stays open. */
  close(): Promise<void>
}

/** Options of the rate limiters over processes. */
export interface RateLimiterOptions {
  /** Milliseconds of a window, which begins with the first request of its key; the same in all processes. Default 60,000. */
  window?: number
}

/** The length of a window where nothing else is said, in milliseconds. */
export const WINDOW = 60_000

/** Requests of one key that arrived together. */
export interface Want {
  /** As `encodeKey` makes it: no character that a store could not take. */
  key: string
  perMinute: number
  count: number
}

/** What became of a {@link Want}. */
export interface Taken {
  /** How many of its requests were within the limit, and are counted. */
  granted: number
  /** Milliseconds until the window ends. */
  endsInMs: number
}

/** What differs from one store to the next. */
export interface RateStore {
  /** Counts in one round trip what each key wants, each key once, and alone as far as others may ask for the same keys. */
  take(wants: Want[]): Promise<Taken[]>
  /** Removes the counts of windows that are over; called at most once a minute. Absent where the store does so by itself. */
  sweep?(): Promise<unknown>
  close(): Promise<void>
}

interface Caller {
  key: string
  perMinute: number
  resolve(limit: RateLimit): void
  reject(error: unknown): void
}

const SWEEP_EVERY = 60_000

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

/**
 * Counts in `store`, one round trip at a time: requests that arrive while one is under way are the next, so that many cost as much as one.
 * A key that is used up is refused without asking until its window ends.
 */
export function sharedRateLimiter(store: RateStore): SharedRateLimiter {
  let callers: Caller[] = []
  let flushing: Promise<void> | undefined
  let closed: Promise<void> | undefined
  let sweepAt = performance.now() + SWEEP_EVERY
  /** Keys that had no request left at `perMinute`. Their windows end between two times, of which the clocks of store and process leave none certain. */
  const usedUp = new Map<string, { perMinute: number; earliest: number; latest: number }>()

  const ask = async (group: Map<string, Caller[]>): Promise<void> => {
    const asked = performance.now()
    const wants = Array.from(group, ([key, all]) => ({ key, perMinute: all[0]!.perMinute, count: all.length }))
    let taken: Taken[]
    try {
      taken = await store.take(wants)
    } catch (error) {
      for (const { reject } of [...group.values()].flat()) reject(error)
      return
    }
    const answered = performance.now()
    for (const [i, { key, perMinute, count }] of wants.entries()) {
      const { granted, endsInMs } = taken[i]!
      const retryAfter = seconds(endsInMs)
      if (granted < count) usedUp.set(key, { perMinute, earliest: asked + endsInMs, latest: answered + endsInMs })
      for (const [n, { resolve }] of group.get(key)!.entries()) resolve({ ok: n < granted, retryAfter })
    }
  }

  /** The requests of the next round trip, by key. A key has one limit in it: requests at another one wait for the next. */
  const nextGroup = (): Map<string, Caller[]> => {
    const group = new Map<string, Caller[]>()
    const rest: Caller[] = []
    for (const caller of callers) {
      const same = group.get(caller.key)
      if (!same) group.set(caller.key, [caller])
      else (same[0]!.perMinute === caller.perMinute ? same : rest).push(caller)
    }
    callers = rest
    return group
  }

  const sweep = async (time: number): Promise<void> => {
    sweepAt = time + SWEEP_EVERY
    for (const [key, { earliest }] of usedUp) if (earliest <= time) usedUp.delete(key)
    // A sweep that fails is for a later one to make good.
    await store.sweep?.().catch(() => undefined)
  }

  const flush = async (): Promise<void> => {
    while (callers.length > 0) {
      // Whatever else this turn of the event loop brings goes along.
      await new Promise(setImmediate)
      await ask(nextGroup())
      const time = performance.now()
      if (time >= sweepAt) await sweep(time)
    }
    // In the same turn as the last look: a request that comes later starts the next flush.
    flushing = undefined
  }

  return {
    consume(name, perMinute) {
      const key = encodeKey([name])
      const over = usedUp.get(key)
      const time = performance.now()
      if (over && perMinute <= over.perMinute && time < over.earliest)
        return { ok: false, retryAfter: seconds(over.latest - time) }
      return new Promise((resolve, reject) => {
        if (closed) throw new StorageError('The store is closed', 'none')
        callers.push({ key, perMinute, resolve, reject })
        flushing ??= flush()
      })
    },
    close() {
      closed ??= (async () => {
        await flushing
        await store.close()
      })()
      return closed
    },
  }
}
