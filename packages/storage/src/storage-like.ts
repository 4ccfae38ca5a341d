import { StorageError } from '@turnpike/core'

/** An unstorage `Storage` or driver, as far as it is used; also what `durableFs` is. */
export interface StorageLike {
  getItem(key: string): unknown
  setItem?(key: string, value: string, options: object): unknown
  removeItem?(key: string, options: object): unknown
  getItemRaw?(key: string, options: object): unknown
  setItemRaw?(key: string, value: Uint8Array, options: object): unknown
  getKeys(base: string, options: object): string[] | Promise<string[]>
  /** unstorage's way to the driver behind a `Storage`. */
  getMount?(key: string): { driver: Driver }
  dispose?(): unknown
}

/** What an unstorage driver says of itself. */
export interface Driver {
  name?: string | undefined
  options?: unknown
  /** What it keeps survives this; absent = the driver's own affair. */
  durability?: 'none' | 'process-crash' | 'power-loss'
  /** Whether an item is there whole or not at all, also after a crash. */
  atomic?: boolean
}

/** A storage whose calls end, and fail as failures. */
export interface Items {
  get(key: string): Promise<string | null>
  set(key: string, text: string): Promise<void>
  remove(key: string): Promise<void>
  keys(): Promise<string[]>
}

/** Runs calls of a storage, each of which fails once `timeout` milliseconds are over. */
export const boundedCalls =
  (timeout: number) =>
  async <T>(what: string, run: () => T | Promise<T>): Promise<T> => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StorageError(`The storage has not answered ${what} for ${timeout} ms`, 'unknown')),
        timeout,
      )
    })
    try {
      return await Promise.race([run(), late])
    } finally {
      clearTimeout(timer)
    }
  }

/**
 * The items of a storage below `base`.
 * @param timeout milliseconds after which a call that has not ended counts as failed; what it did is then unknown
 */
export function itemsOf(storage: StorageLike, base: string, timeout: number): Items {
  const prefix = `${base}:`
  const call = boundedCalls(timeout)
  return {
    async get(key) {
      const value = await call('a read', () => storage.getItem(prefix + key))
      // unstorage's own file driver hands an error out as if it were the value.
      if (value instanceof Error) throw value
      return typeof value === 'string' ? value : null
    },
    async set(key, text) {
      await call('a write', () => storage.setItem!(prefix + key, text, {}))
    },
    async remove(key) {
      await call('a removal', () => storage.removeItem!(prefix + key, {}))
    },
    async keys() {
      const keys = await call('a listing', () => storage.getKeys(base, {}))
      // Some drivers list everything that they have, and some separate by a slash.
      return keys
        .map((key) => key.replaceAll('/', ':'))
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length))
    },
  }
}
