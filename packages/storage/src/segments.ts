import type { LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { envelope } from './envelope.js'

/** The format of all items. */
export const { seal, jsonOf, unseal } = envelope('turnpike', 2)

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

/** The content of an item. */
export interface Content {
  /** The highest version that had been assigned. */
  v: number
  e: LogEntry[]
}

/** An entry as it is stored: without `at`. */
export function storedForm({ k, v, j, c, x }: LogEntry): LogEntry {
  const entry: LogEntry = { k, v }
  if (j !== undefined) entry.j = j
  if (c !== undefined) entry.c = c
  if (x !== undefined) entry.x = x
  return entry
}

/**
 * Finds the value of an entry in the JSON of its item, as {@link storedForm} wrote it; undefined if it is not there. It searches the text,
 * because parsing an item takes milliseconds, and the entries of a page may be in many items.
 */
export function valueIn(json: string, { k, v }: LogEntry): string | undefined {
  const head = `{"k":${JSON.stringify(k)},"v":${v},"j":`
  const at = json.indexOf(head)
  if (at === -1) return undefined
  const start = at + head.length
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes++
    // A quote after an even number of backslashes ends the string.
    if (slashes % 2 === 0) return JSON.parse(json.slice(start, end + 1)) as string
  }
  return undefined
}

/** The approximate size of an entry in its item, in characters. */
export const sizeOf = (entry: LogEntry): number =>
  entry.k.length + (entry.j?.length ?? 0) + (entry.c ? 24 * Object.keys(entry.c).length : 0) + 24

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
export async function* chain(
  names: Name[],
  read: (name: Name) => Promise<Content | undefined>,
  torn: boolean,
): AsyncGenerator<{ name: Name; content: Content }> {
  let next = 1
  let corrupt: Name | undefined
  for (let left = names; left.length > 0; left = left.filter((name) => name !== corrupt && name.from >= next)) {
    const chosen = latest(left)
    const reading: Promise<Content | undefined>[] = []
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
