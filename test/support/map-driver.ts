import type { Driver, StorageLike } from '@turnpike/storage'

export type Faults = Partial<Record<'getItem' | 'setItem' | 'removeItem' | 'getKeys', (key: string) => unknown>>

/** A driver over a map, of texts unless `T` says more. A fault that returns something answers in place of the map. */
export function mapDriver<T extends string | Uint8Array = string>(faults: Faults = {}) {
  const items = new Map<string, T>()
  const get = (key: string) => faults.getItem?.(key) ?? items.get(key) ?? null
  const set = (key: string, value: string | Uint8Array) => faults.setItem?.(key) ?? void items.set(key, value as T)
  const driver: StorageLike & Driver = {
    name: 'map',
    getItem: get,
    getItemRaw: get,
    setItem: set,
    setItemRaw: set,
    removeItem: (key) => faults.removeItem?.(key) ?? void items.delete(key),
    getKeys: () => (faults.getKeys?.('') as string[] | undefined) ?? [...items.keys()],
  }
  return { items, faults, driver }
}

/** A driver whose writes are atomic and which can read parts of items, as that of a folder. */
export const likeFiles = (driver: StorageLike): StorageLike & Driver => ({
  ...driver,
  atomic: true,
  async getItemPart(key, start, end) {
    const text = (await driver.getItem(key)) as string | null
    return text === null ? null : new TextEncoder().encode(text).subarray(start, end)
  },
  setItemRaw: (key, bytes, options) => driver.setItem!(key, new TextDecoder().decode(bytes), options),
})

/** A commit that sets the key of this name. */
export const set = (name: string, value: unknown = name) => ({ set: [{ key: [name], value: value as string }] })

/** Names of the groups of commits that a store of `openKV` has among its items. */
export const groups = (items: Map<string, string>) => [...items.keys()].filter((key) => /^kv:\d/.test(key))
