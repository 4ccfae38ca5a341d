import type { LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { envelope } from './envelope.js'

/** The form of all items. */
export const { seal, jsonOf, unseal } = envelope('turnpike', 2)

/**
 * An item of the log: the entries of groups `from` to `to`, as written by one attempt. Every attempt has a name of its own, so that
 * a write which failed and comes through after all harms nothing.
 */
export interface Name {
  from: number
  to: number
  /** The opening of the store that wrote it, counted. */
  epoch: number
  /** Writes of that opening, counted. */
  attempt: number
}

export const nameOf = ({ from, to, epoch, attempt }: Name): string => `${from}-${to}-${epoch}-${attempt}`

export function parseName(text: string): Name | undefined {
  const [, from, to, epoch, attempt] = /^(\d+)-(\d+)-(\d+)-(\d+)$/.exec(text)?.map(Number) ?? []
  return attempt === undefined ? undefined : { from: from!, to: to!, epoch: epoch!, attempt }
}

/** What an item holds. */
export interface Content {
  /** The highest version that had been given out. */
  v: number
  e: LogEntry[]
}

/** An entry as it is kept: without the note of where that is. */
export function kept({ k, v, j, c, x }: LogEntry): LogEntry {
  const entry: LogEntry = { k, v }
  if (j !== undefined) entry.j = j
  if (c !== undefined) entry.c = c
  if (x !== undefined) entry.x = x
  return entry
}

/**
 * The value of an entry in the JSON of its item, as {@link kept} put it there; nothing where it is not there. It is looked for as text,
 * because to parse an item takes milliseconds, and a page of a list may be of many.
 */
export function valueIn(json: string, { k, v }: LogEntry): string | undefined {
  const head = `{"k":${JSON.stringify(k)},"v":${v},"j":`
  const at = json.indexOf(head)
  if (at === -1) return undefined
  const start = at + head.length
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes++
    // A quote after a whole number of escaped backslashes is the end.
    if (slashes % 2 === 0) return JSON.parse(json.slice(start, end + 1)) as string
  }
  return undefined
}

/** About how many characters an entry takes in its item. */
export const sizeOf = (entry: LogEntry): number =>
  entry.k.length + (entry.j?.length ?? 0) + (entry.c ? 24 * Object.keys(entry.c).length : 0) + 24

const isLater = (a: Name, b: Name): number => b.epoch - a.epoch || b.attempt - a.attempt

/**
 * Of items whose groups overlap, the latest attempt; in order. A merge replaces what was written before it, and one that failed and
 * came through after all gives way to whatever was written of its groups since.
 */
export function latest(names: Name[]): Name[] {
  const chosen: Name[] = []
  for (const name of names.toSorted(isLater)) {
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

/** Items that are read ahead while the store is opened. */
const AHEAD = 16

/**
 * The items that make up the log, oldest first: they follow each other without a gap, and each is whole.
 * @param read gives what an item holds, or nothing where it is not whole
 * @param torn whether an item that a crash cut off may be there in part; it was never acknowledged
 * @throws StorageError where something is missing or not whole
 */
export async function* chain(
  names: Name[],
  read: (name: Name) => Promise<Content | undefined>,
  torn: boolean,
): AsyncGenerator<{ name: Name; content: Content }> {
  let next = 1
  let bad: Name | undefined
  for (let left = names; left.length > 0; left = left.filter((name) => name !== bad && name.from >= next)) {
    const chosen = latest(left)
    const reading: Promise<Content | undefined>[] = []
    const before = bad
    for (const [i, name] of chosen.entries()) {
      for (let ahead = reading.length; ahead < Math.min(chosen.length, i + AHEAD); ahead++) {
        const content = read(chosen[ahead]!)
        content.catch(() => undefined) // It is awaited when its turn comes.
        reading.push(content)
      }
      const content = await reading[i]!
      delete reading[i]
      if (!content) {
        bad = name
        break
      }
      if (name.from !== next) throw broken(bad, next)
      yield { name, content }
      next = name.to + 1
    }
    if (bad === before) break
    if (!torn) throw broken(bad, next)
  }
  // What was cut off may be the last group, or a merge of what is there all the same.
  const isWhole = names.every(({ to }) => to < next) || (bad?.from === next && names.every(({ to }) => to <= next))
  if (!isWhole) throw broken(bad, next)
}

const broken = (bad: Name | undefined, next: number): StorageError =>
  new StorageError(
    `The store cannot be opened: ${bad ? `item ${nameOf(bad)} is corrupt` : `the item with group ${next} is missing`}. Restore it from a backup`,
    'none',
  )
