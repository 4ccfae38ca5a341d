import { StorageError } from '@turnpike/core'
import type { Name } from './segments.js'
import { nameOf, parseName, seal, unseal } from './segments.js'
import type { Items } from './storage-like.js'

/** Who may write. */
interface Claim {
  epoch: number
  id: string
}

/** What an owner found when it opened the store. Whatever else earlier ones wrote was never acknowledged, and does not count. */
interface Fence {
  epoch: number
  /** The items that made up the log. */
  items: string[]
}

const fenceOf = (epoch: number): string => `fence-${epoch}`

export function parseFence(text: string): number | undefined {
  const epoch = /^fence-(\d+)$/.exec(text)?.[1]
  return epoch === undefined ? undefined : Number(epoch)
}

/** One opening of a store, which is its until the next. */
export interface Owner {
  /** The opening, counted. */
  readonly epoch: number
  /** Why nothing can be read or written any more; absent until {@link verify} has found it out. */
  readonly lost: StorageError | undefined
  /** Makes sure that nobody has opened the store since. @throws StorageError, `lost`, where somebody has */
  verify(): Promise<void>
  /** Writes down which items make up the log; of what earlier owners wrote, nothing else counts any more. @returns the name of the note */
  fence(items: Name[]): Promise<string>
}

/** Takes the store over from whoever has it. */
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

/** The last fence that is whole. */
async function lastFence(items: Items, keys: string[]): Promise<Fence | undefined> {
  const epochs = keys.map(parseFence).filter((found) => found !== undefined)
  for (const found of epochs.toSorted((a, b) => b - a)) {
    const text = await items.get(fenceOf(found))
    const fence = text === null ? undefined : await unseal<Fence>(fenceOf(found), text)
    if (fence) return fence
  }
  return undefined
}

/** Those of `keys` that name items of the log, without what the last fence shuts out. */
export async function countingNames(items: Items, keys: string[]): Promise<Name[]> {
  const fence = await lastFence(items, keys)
  const found = new Set(fence?.items)
  const names = keys.map(parseName).filter((name) => name !== undefined)
  return names.filter((name) => !fence || name.epoch >= fence.epoch || found.has(nameOf(name)))
}
