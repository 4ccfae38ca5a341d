// A store on an unstorage driver that keeps account of the keys that it is called with, and can be broken. It caches no values, so that
// whatever is read is read from the driver.
import { openKV } from '@turnpike/storage'

export async function watchedStore() {
  const items = new Map()
  const keys = new Set()
  /** What fails (`getItem` or `setItem`), and after how many calls that do not; undefined if nothing does. */
  let fault
  const called = (method, key) => {
    keys.add(key)
    if (fault?.method === method && fault.after-- <= 0) throw new Error('disk sda1 at /var/lib/secret is on fire')
  }
  const driver = {
    name: 'watched',
    getItem(key) {
      called('getItem', key)
      return items.get(key) ?? null
    },
    setItem(key, value) {
      called('setItem', key)
      items.set(key, value)
    },
    removeItem: (key) => void items.delete(key),
    getKeys: () => [...items.keys()],
  }
  return {
    kv: await openKV(driver, { cache: 0 }),
    methods: {
      driverKeys: () => [...keys],
      /** Breaks a method of the driver, or mends it. */
      breakDriver: (method, after) => void (fault = method ? { method, after } : undefined),
    },
  }
}
