import { StorageError } from '@turnpike/core'

/** A part of an item: `length` bytes from `offset` on, counted from 0. */
export interface ItemRange {
  offset: number
  length: number
}

/** The part of an unstorage `Storage` or driver that is used. */
export interface StorageLike {
  getItem(key: string): unknown
  setItem?(key: string, value: string, options: object): unknown
  removeItem?(key: string, options: object): unknown
  /** `range` is given to drivers with {@link Driver.readsRanges} alone. */
  getItemRaw?(key: string, options: { range?: ItemRange }): unknown
  setItemRaw?(key: string, value: Uint8Array, options: object): unknown
  getKeys(base: string, options: object): string[] | Promise<string[]>
  /** On a `Storage`: returns the driver that is mounted at a key. */
  getMount?(key: string): { driver: Driver }
  dispose?(): unknown
}

/** The properties of an unstorage driver. All but `name` and `options` are extensions of ours. */
export interface Driver {
  name?: string | undefined
  options?: unknown
  /** What a completed write survives; absent = depends on the driver's configuration. */
  durability?: 'none' | 'process-crash' | 'power-loss'
  /** Whether writes are atomic, even in a crash. */
  atomic?: boolean
  /** Whether bytes that were set may be changed afterwards, because the driver does not refer to them any longer. */
  copiesBytes?: boolean
  /**
   * Whether `getItemRaw(key, { range })` reads that part of an item alone. It returns a copy of it, shorter where the item ends before, or null if there is
   * no such item. Default: items are read whole.
   */
  readsRanges?: boolean
}

/** A storage of text items, with time-outs, whose errors are always rejections. */
export interface Items {
  get(key: string): Promise<string | null>
  set(key: string, text: string): Promise<void>
  remove(key: string): Promise<void>
  keys(): Promise<string[]>
}

/** Runs storage calls with a time-out in milliseconds. */
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
 * @param timeout time-out of a call in milliseconds; whether the call took effect is then unknown
 */
export function itemsOf(storage: StorageLike, base: string, timeout: number): Items {
  const prefix = `${base}:`
  const call = boundedCalls(timeout)
  return {
    async get(key) {
      const value = await call('a read', () => storage.getItem(prefix + key))
      // The file driver of unstorage returns errors as values.
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
      // Some drivers list all their keys, and some separate segments by slashes.
      return keys
        .map((key) => key.replaceAll('/', ':'))
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length))
    },
  }
}
