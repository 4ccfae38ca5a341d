import { StorageError } from '@turnpike/core'
import { seal, unseal } from './item.js'
import type { Name } from './segments.js'
import { nameOf, parseName } from './segments.js'
import type { Items } from './storage-like.js'

/** The item that names the owner, who alone may write. */
interface Claim {
  epoch: number
  id: string
}

/** The items that an owner found when it opened the store. Any other item of an earlier owner was never acknowledged, and is ignored. */
interface Fence {
  epoch: number
  /** The names of the items that made up the log. */
  items: string[]
}

const fenceOf = (epoch: number): string => `fence-${epoch}`

export function parseFence(text: string): number | undefined {
  const epoch = /^fence-(\d+)$/.exec(text)?.[1]
  return epoch === undefined ? undefined : Number(epoch)
}

/** The ownership of a store, which lasts until somebody opens it again. */
export interface Owner {
  /** Increases with each opening of the store. */
  readonly epoch: number
  /** Set once {@link verify} has found another owner: the store can no longer be read or written. */
  readonly lost: StorageError | undefined
  /** Checks that this is still the owner. @throws StorageError `lost` if somebody has opened the store since */
  verify(): Promise<void>
  /** Records the items that make up the log, so that later writes of earlier owners are ignored. @returns the name of the fence item */
  fence(items: Name[]): Promise<string>
}

/** Takes over the ownership of the store. */
export async function claim(items: Items): Promise<Owner> {
  const text = await items.get('owner')
  const before = text === null ? undefined : await unseal<Claim>('owner', text)
  const epochs = (await items.keys()).map((key) => parseName(key)?.epoch ?? parseFence(key) ?? 0)
  const epoch = Math.max(before?.epoch ?? 0, ...epochs) + 1
  const own = await seal('owner', { epoch, id: crypto.randomUUID() } satisfies Claim)
  await items.set('owner', own)
  let lost: StorageError | undefined
  return {
    epoch,
    get lost() {
      return lost
    },
    async verify() {
      if (!lost && (await items.get('owner')) !== own)
        lost = new StorageError(
          'Another process has opened this store, which serves one at a time; several need Redis, PostgreSQL or SQLite',
          'unknown',
        )
      if (lost) throw lost
    },
    async fence(names) {
      const key = fenceOf(epoch)
      await items.set(key, await seal(key, { epoch, items: names.map(nameOf) } satisfies Fence))
      return key
    },
  }
}

/** The last fence that is not corrupt. */
async function lastFence(items: Items, keys: string[]): Promise<Fence | undefined> {
  const epochs = keys.map(parseFence).filter((found) => found !== undefined)
  for (const found of epochs.toSorted((a, b) => b - a)) {
    const text = await items.get(fenceOf(found))
    const fence = text === null ? undefined : await unseal<Fence>(fenceOf(found), text)
    if (fence) return fence
  }
  return undefined
}

/** The names of log items among `keys`, without those that the last fence excludes. */
export async function validNames(items: Items, keys: string[]): Promise<Name[]> {
  const fence = await lastFence(items, keys)
  const found = new Set(fence?.items)
  const names = keys.map(parseName).filter((name) => name !== undefined)
  return names.filter((name) => !fence || name.epoch >= fence.epoch || found.has(nameOf(name)))
}
