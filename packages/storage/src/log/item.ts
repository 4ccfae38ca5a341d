import type { LogEntry } from '@turnpike/core'
import { concat } from '@turnpike/core/helpers'
import { isDelete, logEntry } from '@turnpike/core/internal'
import { checksum, envelope } from './envelope.js'

/** The format of all items. */
export const { seal, jsonOf, unseal } = envelope('turnpike', 3)

/** An entry in the first line of an item: `n` is the length of its value in characters, absent for a delete and for a counter. */
type Stored = Pick<LogEntry, 'k' | 'v' | 'n' | 'c' | 'x'>

/**
 * The first line of a log item: the highest version that had been assigned, and the blocks, each with the checksum and the length in bytes of its values,
 * and its entries. The values follow the line, one after the other.
 */
interface Head {
  v: number
  b: [sum: string, bytes: number, entries: Stored[]][]
}

/** The content of an item of form 2, in which the values are among the entries. */
interface Form2 {
  v: number
  e: Pick<LogEntry, 'k' | 'v' | 'j' | 'c' | 'x'>[]
}

/** A block of an item: entries, the lengths of their values in characters (0 = none), and where the values are. */
export interface Part {
  entries: LogEntry[]
  lengths: number[]
  /** The first byte of the values in the item. */
  at: number
  bytes: number
  /** The checksum of the values; undefined in form 2, whose only block is the item as a whole. */
  sum: string | undefined
}

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A copy of a text that does not keep the larger one in memory of which it is a part. */
export const copyOf = (text: string): string => fromUtf8.decode(utf8.encode(text))

/**
 * Encodes a log item. Values are outside of the line with the entries, so that a store can be opened without reading them, and in blocks, so that one can be read
 * without reading the others.
 * @param valueOf the JSON text of the value of an entry; undefined for a delete and for a counter
 * @param blockSize number of characters of values after which a block ends
 */
export async function encodeItem(
  name: string,
  version: number,
  list: LogEntry[],
  valueOf: (entry: LogEntry) => string | null | undefined,
  blockSize: number,
): Promise<{ bytes: Uint8Array; parts: Part[] }> {
  const blocks: { stored: Stored[]; entries: LogEntry[]; lengths: number[]; values: string[]; size: number }[] = []
  // In one turn, in which no entry can become obsolete.
  for (const entry of list) {
    let block = blocks.at(-1)
    if (!block || block.size >= blockSize)
      blocks.push((block = { stored: [], entries: [], lengths: [], values: [], size: 0 }))
    const { k, v, c, x } = entry
    const value = isDelete(entry) ? undefined : (valueOf(entry) ?? undefined)
    block.stored.push({ k, v, n: value?.length, c, x })
    block.entries.push(entry)
    block.lengths.push(value?.length ?? 0)
    if (value === undefined) continue
    block.values.push(value)
    block.size += value.length
  }
  const pieces = [new Uint8Array()]
  const b: Head['b'] = []
  for (const { values, stored } of blocks) {
    const bytes = utf8.encode(values.join(''))
    pieces.push(bytes)
    b.push([await checksum(bytes), bytes.length, stored])
  }
  pieces[0] = utf8.encode(`${await seal(name, { v: version, b } satisfies Head)}\n`)
  let at = pieces[0].length
  const parts = blocks.map(({ entries, lengths }, i): Part => {
    const [sum, bytes] = b[i]!
    const part = { entries, lengths, at, bytes, sum }
    at += bytes
    return part
  })
  return { bytes: concat(pieces, at), parts }
}

/**
 * Decodes a log item of form 2 or 3.
 * @param bytes the item, or its beginning with the whole first line
 * @param whole whether it is the whole item: then the values are checked, and become those of the entries
 * @returns undefined if it is corrupt
 */
export async function decodeItem(
  name: string,
  bytes: Uint8Array,
  whole: boolean,
): Promise<{ version: number; parts: Part[] } | undefined> {
  const end = bytes.indexOf(10)
  const head = await unseal<Head | Form2>(name, fromUtf8.decode(end === -1 ? bytes : bytes.subarray(0, end)))
  if (!head) return undefined
  if ('e' in head) {
    const entries = head.e.map(({ k, v, j, c, x }) => logEntry(k, v, j, c, x))
    const lengths = entries.map(({ j }) => j?.length ?? 0)
    return { version: head.v, parts: [{ entries, lengths, at: 0, bytes: bytes.length, sum: undefined }] }
  }
  const parts: Part[] = []
  let at = end + 1
  for (const [sum, size, stored] of head.b) {
    const values = whole ? await checked(bytes.subarray(at, at + size), sum) : undefined
    if (whole && values === undefined) return undefined
    const entries: LogEntry[] = []
    const lengths: number[] = []
    let begin = 0
    for (const { k, v, n, c, x } of stored) {
      const j = n === undefined ? undefined : (values?.slice(begin, begin + n) ?? null)
      entries.push(logEntry(k, v, j, c, x))
      lengths.push(n ?? 0)
      begin += n ?? 0
    }
    parts.push({ entries, lengths, at, bytes: size, sum })
    at += size
  }
  return { version: head.v, parts }
}

/** The values of a block as text; undefined if they are corrupt. */
export const checked = async (values: Uint8Array, sum: string): Promise<string | undefined> =>
  (await checksum(values)) === sum ? fromUtf8.decode(values) : undefined

/**
 * Finds the value of an entry in the JSON of an item of form 2; undefined if it is not there. It searches the text, because parsing an item
 * takes milliseconds, and the entries of a page may be in many items.
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
