import type { LogEntry } from '@turnpike/core'
import { sha256, StorageError } from '@turnpike/core'

/** The form of what is stored. */
export const FORMAT = 'turnpike 2'

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

const checksum = async (text: string): Promise<string> => (await sha256(text)).slice(0, 16)

/** An envelope that shows whether its content is whole, and that no reader takes for JSON. */
export async function seal(name: string, content: object): Promise<string> {
  const json = JSON.stringify(content)
  return `${FORMAT} ${await checksum(name + json)} ${json}`
}

/** What {@link seal} made `text` of, or nothing if that is not it. @throws StorageError where a later Turnpike wrote it */
export async function unseal<T>(name: string, text: string): Promise<T | undefined> {
  const [, form, sum, json] = /^(turnpike \d+) (\w{16}) (.*)$/s.exec(text) ?? []
  if (json === undefined || (await checksum(name + json)) !== sum) return undefined
  if (form !== FORMAT)
    throw new StorageError(
      `The store has the form "${form}", and this version reads "${FORMAT}"; use a newer one`,
      'none',
    )
  return JSON.parse(json) as T
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

/** About how many characters an entry takes in its item. */
export const sizeOf = (entry: LogEntry): number =>
  entry.k.length + (entry.j?.length ?? 0) + (entry.c ? 24 * Object.keys(entry.c).length : 0) + 24

/** Items that are read ahead while the store is opened. */
const AHEAD = 16

/**
 * The items that make up the log, oldest first: they follow each other without a gap, and each is whole.
 * @param read gives what an item holds, or nothing where it is not whole
 * @param torn whether a last item that is not whole was never acknowledged, and is left out
 * @throws StorageError where something is missing or not whole
 */
export async function* chain(
  names: Name[],
  read: (name: Name) => Promise<Content | undefined>,
  torn: boolean,
): AsyncGenerator<{ name: Name; content: Content }> {
  const sorted = names.toSorted((a, b) => a.from - b.from || b.epoch - a.epoch || b.attempt - a.attempt)
  const reading: Promise<Content | undefined>[] = []
  const contentOf = (i: number): Promise<Content | undefined> => {
    while (reading.length < Math.min(sorted.length, i + AHEAD)) {
      const content = read(sorted[reading.length]!)
      content.catch(() => undefined) // It is awaited when its turn comes.
      reading.push(content)
    }
    return reading[i]!
  }
  let next = 1
  for (let i = 0; i < sorted.length;) {
    const { from } = sorted[i]!
    if (from > next) throw broken(`the item that begins with group ${next} is missing`)
    // Of those that begin at one group, the latest attempt that is whole counts.
    const first = i
    let content: Content | undefined
    for (; i < sorted.length && sorted[i]!.from === from; i++) {
      if (from < next) continue
      content = await contentOf(i)
      delete reading[i]
      if (!content) continue
      yield { name: sorted[i]!, content }
      next = sorted[i]!.to + 1
    }
    const isLast = i === sorted.length && sorted.slice(first).every(({ to }) => to === from)
    if (from === next && !(torn && isLast)) throw broken(`item ${nameOf(sorted[first]!)} is corrupt`)
  }
}

const broken = (what: string): StorageError =>
  new StorageError(`The store cannot be opened: ${what}. Restore it from a backup`, 'none')
