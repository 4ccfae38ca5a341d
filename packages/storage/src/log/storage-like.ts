import { StorageError } from '@turnpike/core'

/** The part of an unstorage `Storage` or driver that is used. */
export interface StorageLike {
  getItem(key: string): unknown
  setItem?(key: string, value: string, options: object): unknown
  /** `flush: false`, an extension of ours: the item may come back after a power failure. */
  removeItem?(key: string, options: { flush?: boolean }): unknown
  getItemRaw?(key: string, options: object): unknown
  /**
   * An extension of ours, of drivers whose `setItem` and `setItemRaw` write the same kind of item: a copy of the bytes of an item from `start` to `end`,
   * exclusive, or to its end; null if there is no item. Default: items are read whole.
   */
  getItemPart?(key: string, start: number, end: number): Promise<Uint8Array | null>
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
}

/** A storage of text items, with time-outs, whose errors are always rejections. */
export interface Items {
  get(key: string): Promise<string | null>
  /** The bytes of an item from `start` to `end`, exclusive, or to its end; null if there is no item. */
  part(key: string, start: number, end: number): Promise<Uint8Array | null>
  /** Whether `part` reads only what it returns, and `setBytes` takes any bytes. */
  readsParts: boolean
  set(key: string, text: string): Promise<void>
  /** Sets the text that has these bytes in UTF-8. */
  setBytes(key: string, bytes: Uint8Array): Promise<void>
  /** @param options.flush whether the item must not come back after a power failure; default true */
  remove(key: string, options?: { flush?: boolean }): Promise<void>
  keys(): Promise<string[]>
}

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })

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
  const get = async (key: string): Promise<string | null> => {
    const value = await call('a read', () => storage.getItem(prefix + key))
    // The file driver of unstorage returns errors as values.
    if (value instanceof Error) throw value
    return typeof value === 'string' ? value : null
  }
  const set = async (key: string, text: string): Promise<void> => {
    await call('a write', () => storage.setItem!(prefix + key, text, {}))
  }
  const readsParts = storage.getItemPart !== undefined && storage.setItemRaw !== undefined
  return {
    get,
    readsParts,
    async part(key, start, end) {
      if (readsParts) return call('a read', () => storage.getItemPart!(prefix + key, start, end))
      const text = await get(key)
      return text === null ? null : utf8.encode(text).subarray(start, end)
    },
    set,
    async setBytes(key, bytes) {
      if (readsParts) await call('a write', () => storage.setItemRaw!(prefix + key, bytes, {}))
      else await set(key, fromUtf8.decode(bytes))
    },
    async remove(key, options = {}) {
      await call('a removal', () => storage.removeItem!(prefix + key, options))
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
