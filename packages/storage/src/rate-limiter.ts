/** Requests and tokens per minute, counted in a store that several processes share. @module */
import type { RateLimit, RateLimiter } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { encodeKey } from '@turnpike/core/internal'

/** A `RateLimiter` that is exact over all processes that share its store. */
export interface SharedRateLimiter extends RateLimiter {
  /**
   * Counts one request, or `count` tokens, against `perMinute`. Rejects if the store fails; they may have been counted then.
   * @throws TypeError if `key` is too long for a store
   */
  consume(key: string, perMinute: number, count?: number): RateLimit | Promise<RateLimit>
  /** Resolves once the window is corrected, with how much was counted. Rejects if the store fails. */
  adjust(key: string, perMinute: number, difference: number): Promise<number>
  /** Waits for pending requests and releases the store. The client or pool that was passed in stays open. */
  close(): Promise<void>
}

/** Options of the rate limiters that processes share. */
export interface RateLimiterOptions {
  /** Length of a window in milliseconds; default 60,000. It starts with the first request of a key. Must be the same in all processes. */
  window?: number
}

/** Default length of a window in milliseconds. */
export const WINDOW = 60_000

/** The requests or tokens of one key in one round trip. */
export interface Want {
  /** Encoded by `encodeKey`, so that every store can hold it. */
  key: string
  perMinute: number
  /** Less than 0 is given back. */
  count: number
}

/** The result of a {@link Want}. */
export interface Taken {
  /** How much was within the limit, and has been counted: `granted` of `@turnpike/core`. */
  granted: number
  /** How many more the window has room for. */
  left: number
  /** Milliseconds until the window ends. */
  endsInMs: number
}

/** The part of a rate limiter that is specific to a store. */
export interface RateStore {
  /** Counts the requests of distinct keys in one round trip, atomically for each key. */
  take(wants: Want[]): Promise<Taken[]>
  /** Removes expired windows; called at most once a minute. Absent if the store expires them itself. */
  sweep?(): Promise<unknown>
  close(): Promise<void>
}

interface Caller {
  key: string
  perMinute: number
  count: number
  /** Whether a part of `count` is taken where there is no room for all. */
  part: boolean
  resolve(limit: RateLimit & { counted: number }): void
  reject(error: unknown): void
}

const SWEEP_EVERY = 60_000

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

/**
 * A rate limiter on `store`, with one round trip in flight: requests that arrive meanwhile share the next one, so many cost as much as one.
 * A key without a request left is refused without a round trip until its window ends.
 */
export function sharedRateLimiter(store: RateStore): SharedRateLimiter {
  let callers: Caller[] = []
  let flushing: Promise<void> | undefined
  let closed: Promise<void> | undefined
  let sweepAt = performance.now() + SWEEP_EVERY
  /** Keys without a request left at `perMinute`. Their windows end between two times: how long the reply took to arrive is unknown. */
  const exhausted = new Map<string, { perMinute: number; earliest: number; latest: number }>()

  const send = async (group: Map<string, Caller[]>): Promise<void> => {
    const sentAt = performance.now()
    const wants = Array.from(group, ([key, all]) => ({
      key,
      perMinute: all[0]!.perMinute,
      count: all.reduce((sum, { count }) => sum + count, 0),
    }))
    let taken: Taken[]
    try {
      taken = await store.take(wants)
    } catch (error) {
      for (const { reject } of [...group.values()].flat()) reject(error)
      return
    }
    const receivedAt = performance.now()
    for (const [i, { key, perMinute, count }] of wants.entries()) {
      const { granted, left, endsInMs } = taken[i]!
      const retryAfter = seconds(endsInMs)
      const all = group.get(key)!
      // Tokens may be given back before the window ends, also by another process.
      if (granted < count && all.every((one) => one.count === 1))
        exhausted.set(key, { perMinute, earliest: sentAt + endsInMs, latest: receivedAt + endsInMs })
      // What is given back is not distributed.
      let rest = Math.max(0, granted)
      for (const { count: wanted, part, resolve } of all) {
        const ok = wanted <= rest
        const counted = ok ? wanted : part ? rest : 0
        rest -= Math.max(0, counted)
        resolve({ ok, retryAfter, remaining: left + rest, counted })
      }
      if (rest > 0) void ask(key, perMinute, -rest, true).catch(() => undefined)
    }
  }

  /** Takes the requests of the next round trip, by key. Those of a key with a different limit, or that give back, wait for the one after. */
  const nextGroup = (): Map<string, Caller[]> => {
    const group = new Map<string, Caller[]>()
    const rest: Caller[] = []
    for (const caller of callers) {
      const same = group.get(caller.key)
      if (!same) group.set(caller.key, [caller])
      else {
        const [first] = same as [Caller]
        const isAlike = first.perMinute === caller.perMinute && first.count < 0 === caller.count < 0
        ;(isAlike ? same : rest).push(caller)
      }
    }
    callers = rest
    return group
  }

  const sweep = async (time: number): Promise<void> => {
    sweepAt = time + SWEEP_EVERY
    for (const [key, { earliest }] of exhausted) if (earliest <= time) exhausted.delete(key)
    // Errors are ignored: a later sweep removes the rest.
    await store.sweep?.().catch(() => undefined)
  }

  const flush = async (): Promise<void> => {
    while (callers.length > 0) {
      // Collects all requests of this iteration of the event loop.
      await new Promise(setImmediate)
      await send(nextGroup())
      const time = performance.now()
      if (time >= sweepAt) await sweep(time)
    }
    // In the same tick as the last check of `callers`, so that a later request starts the next flush.
    flushing = undefined
  }

  const ask = (
    key: string,
    perMinute: number,
    count: number,
    part: boolean,
  ): Promise<RateLimit & { counted: number }> =>
    new Promise((resolve, reject) => {
      if (closed) throw new StorageError('The store is closed', 'none')
      callers.push({ key, perMinute, count, part, resolve, reject })
      flushing ??= flush()
    })

  return {
    consume(name, perMinute, count = 1) {
      const key = encodeKey([name])
      const over = exhausted.get(key)
      const time = performance.now()
      if (over && count === 1 && perMinute <= over.perMinute && time < over.earliest)
        return { ok: false, retryAfter: seconds(over.latest - time), remaining: 0 }
      return ask(key, perMinute, count, false)
    },
    adjust(name, perMinute, difference) {
      const key = encodeKey([name])
      if (difference < 0) exhausted.delete(key)
      return ask(key, perMinute, difference, true).then(({ counted }) => counted)
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
