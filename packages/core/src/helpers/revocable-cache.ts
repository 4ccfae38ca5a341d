import { VERIFIED_MS } from '../conventions.js'

/** A short cache of what was looked up, from which what is revoked in this process disappears at once. */
export interface RevocableCache<T> {
  /** The cached value; undefined where there is none or it is too old. */
  get(name: string): T | undefined
  /** Looks a value up and caches it; null is not cached, and nothing that was revoked while it was being read. */
  load(name: string, read: () => Promise<T | null>): Promise<T | null>
  /** Removes the values that `which` is true of. */
  revoke(which: (value: T) => boolean): void
}

/** A {@link RevocableCache}, by default of 10,000 values, for {@link VERIFIED_MS} each. */
export function revocableCache<T>(now: () => number, { size = 10_000 } = {}): RevocableCache<T> {
  const cache = new Map<string, { value: T; until: number }>()
  let revocations = 0
  return {
    get(name) {
      const found = cache.get(name)
      return found && found.until > now() ? found.value : undefined
    },
    async load(name, read) {
      const before = revocations
      const value = await read()
      // It may have been revoked while it was being read: do not cache a stale value.
      if (value === null || before !== revocations) return value
      if (cache.size >= size) cache.clear()
      cache.set(name, { value, until: now() + VERIFIED_MS })
      return value
    },
    revoke(which) {
      revocations++
      for (const [name, { value }] of cache) if (which(value)) cache.delete(name)
    },
  }
}
