import { StorageError } from '@turnpike/core'

/**
 * The name of a log item: it holds the entries of groups `from` to `to`, as written by one attempt. Each attempt has its own name, so a
 * write that was reported as failed and takes effect later overwrites nothing.
 */
export interface Name {
  from: number
  to: number
  /** The epoch of the owner that wrote it. */
  epoch: number
  /** Increases with each write of that owner. */
  attempt: number
}

export const nameOf = ({ from, to, epoch, attempt }: Name): string => `${from}-${to}-${epoch}-${attempt}`

export function parseName(text: string): Name | undefined {
  const [, from, to, epoch, attempt] = /^(\d+)-(\d+)-(\d+)-(\d+)$/.exec(text)?.map(Number) ?? []
  return attempt === undefined ? undefined : { from: from!, to: to!, epoch: epoch!, attempt }
}

const latestFirst = (a: Name, b: Name): number => b.epoch - a.epoch || b.attempt - a.attempt

/**
 * Selects the latest attempt among items whose groups overlap, and sorts the result. So a merge supersedes the items written before it,
 * and a merge that was reported as failed but took effect is superseded by later writes of its groups.
 */
export function latest(names: Name[]): Name[] {
  const chosen: Name[] = []
  for (const name of names.toSorted(latestFirst)) {
    let low = 0
    let high = chosen.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (chosen[middle]!.to < name.from) low = middle + 1
      else high = middle
    }
    if (low === chosen.length || chosen[low]!.from > name.to) chosen.splice(low, 0, name)
  }
  return chosen
}

/** Number of items to read ahead while the store is opened. */
const AHEAD = 16

/**
 * Reads the items that make up the log, oldest first, and checks that none is missing or corrupt.
 * @param read returns the content of an item, or undefined if it is corrupt
 * @param torn whether a crash may leave a partial item, which was never acknowledged
 * @throws StorageError if an item is missing or corrupt
 */
export async function* chain<T>(
  names: Name[],
  read: (name: Name) => Promise<T | undefined>,
  torn: boolean,
): AsyncGenerator<{ name: Name; content: T }> {
  let next = 1
  let corrupt: Name | undefined
  for (let left = names; left.length > 0; left = left.filter((name) => name !== corrupt && name.from >= next)) {
    const chosen = latest(left)
    const reading: Promise<T | undefined>[] = []
    const before = corrupt
    for (const [i, name] of chosen.entries()) {
      for (let ahead = reading.length; ahead < Math.min(chosen.length, i + AHEAD); ahead++) {
        const content = read(chosen[ahead]!)
        content.catch(() => undefined) // Prevents an unhandled rejection; it is awaited below.
        reading.push(content)
      }
      const content = await reading[i]!
      delete reading[i]
      if (!content) {
        corrupt = name
        break
      }
      if (name.from !== next) throw openError(corrupt, next)
      yield { name, content }
      next = name.to + 1
    }
    if (corrupt === before) break
    if (!torn) throw openError(corrupt, next)
  }
  // The partial item may be the last group, or a merge whose sources still exist.
  const isWhole = names.every(({ to }) => to < next) || (corrupt?.from === next && names.every(({ to }) => to <= next))
  if (!isWhole) throw openError(corrupt, next)
}

const openError = (corrupt: Name | undefined, next: number): StorageError =>
  new StorageError(
    `The store cannot be opened: ${corrupt ? `item ${nameOf(corrupt)} is corrupt` : `the item with group ${next} is missing`}. Restore it from a backup`,
    'none',
  )
