import type { StorageLike } from '@turnpike/storage'

/** What may befall a call of the driver. */
const faults = [
  'fails',
  'applies then fails',
  'hangs',
  'applies then hangs',
  'applies late',
  'fails then applies late',
] as const
export type Fault = (typeof faults)[number]

export interface Disk {
  items: Map<string, string>
  /** Writes of processes that are dead or have given up, which may come through at any time. */
  late: (() => void)[]
  met: Set<Fault>
}

/** How one process sees the disk. */
export interface FaultyDriver extends StorageLike {
  name: string
  atomic: boolean
  /** From here on no call of this process does or answers anything. A write under way may leave a part of itself. */
  crash(): void
  /** Share of calls that meet a fault. */
  rate: number
}

/** A driver over `disk` whose every call takes a while and may fail, hang, or be applied and then fail or hang. */
export function faultyDriver(
  disk: Disk,
  random: () => number,
  { rate, torn, inParts }: { rate: number; torn: boolean; inParts: boolean },
): FaultyDriver {
  let crashed = false
  const underWay = new Map<string, string>()
  const never = new Promise<never>(() => undefined)
  const pause = async (): Promise<void> => {
    for (let turns = Math.floor(random() * 3); turns > 0; turns--) await new Promise(setImmediate)
    if (crashed) await never
  }
  const call = async <T>(run: () => T): Promise<T> => {
    await pause()
    const fault = random() < driver.rate ? faults[Math.floor(random() * faults.length)]! : undefined
    if (fault) disk.met.add(fault)
    const error = new Error('injected')
    switch (fault) {
      case undefined: {
        const result = run()
        await pause()
        return result
      }
      case 'fails':
        throw error
      case 'applies then fails':
        run()
        throw error
      case 'hangs':
        return never
      case 'applies then hangs':
        run()
        return never
      case 'applies late':
        disk.late.push(run)
        return never
      case 'fails then applies late':
        disk.late.push(run)
        throw error
    }
  }
  const driver: FaultyDriver = {
    name: 'faulty',
    atomic: !torn,
    rate,
    crash() {
      crashed = true
      if (!torn) return
      for (const [key, value] of underWay)
        if (!disk.items.has(key) && random() < 0.5)
          disk.items.set(key, value.slice(0, Math.floor(random() * value.length)))
    },
    getItem: (key) => call(() => disk.items.get(key) ?? null),
    ...(inParts && {
      getItemPart: (key, start, end) =>
        call(() => {
          const text = disk.items.get(key)
          return text === undefined ? null : new TextEncoder().encode(text).subarray(start, end)
        }),
      setItemRaw: (key, bytes) => driver.setItem!(key, new TextDecoder().decode(bytes), {}),
    }),
    async setItem(key, value) {
      underWay.set(key, value)
      await call(() => void disk.items.set(key, value))
      underWay.delete(key)
    },
    removeItem: (key) => call(() => void disk.items.delete(key)),
    getKeys: () => call(() => [...disk.items.keys()]),
  }
  return driver
}
