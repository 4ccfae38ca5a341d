/** Export and import of a store as lines of text, to move it into another store. @module */
import type { Commit, Entry, JsonValue, Key, KV } from '@turnpike/core'
import { entriesOf, StorageError } from '@turnpike/core'

/** The first line of an export. */
const HEAD = '{"turnpike":"store","form":1}'

/** Limits of one commit of an import: entries, and characters after which no further entry is added. */
const GROUP = 500
const GROUP_SIZE = 1_000_000

type Line = { key: Key; counter: Record<string, number> } | { key: Key; value: JsonValue; expiresAt?: number }

/** What ends a line for some readers of lines, such as `readline` of Node 24 and Bun; JSON may contain it unescaped. */
const lineEnds = /[\u2028\u2029]/g

const lineOf = ({ key, value, counter, expiresAt }: Entry<JsonValue>): string =>
  JSON.stringify(counter ? { key, counter: value } : { key, value, expiresAt }).replace(lineEnds, (end) =>
    end === '\u2028' ? '\\u2028' : '\\u2029',
  )

/**
 * Exports a store as lines of JSON, without line breaks: a header, a line per entry, and the number of entries. No commit may happen meanwhile.
 * @example for await (const line of exportStore(kv)) out.write(line)
 */
export async function* exportStore(kv: KV): AsyncGenerator<string> {
  yield HEAD
  let entries = 0
  for await (const entry of entriesOf<JsonValue>(kv)) {
    entries++
    yield lineOf(entry)
  }
  yield JSON.stringify({ entries })
}

/**
 * Imports the lines of {@link exportStore} into an empty store. Values, counters and expiry times are kept; versions are new.
 * @param onProgress called after each commit with the number of entries so far
 * @returns the number of entries
 * @throws StorageError if the store is not empty, or the lines are not a complete export; entries that were imported before remain
 * @example const entries = await importStore(kv, createInterface({ input: createReadStream('backup.jsonl') }))
 */
export async function importStore(
  kv: KV,
  lines: Iterable<string> | AsyncIterable<string>,
  onProgress: (entries: number) => void = () => undefined,
): Promise<number> {
  const refuse = (message: string): never => {
    throw new StorageError(message, 'none')
  }
  if ((await kv.list([], { limit: 1 })).items.length > 0) refuse('The store has entries; an import needs an empty one')
  let number = 0
  let entries = 0
  let end: number | undefined
  let set: NonNullable<Commit['set']> = []
  let sum: NonNullable<Commit['sum']> = []
  let size = 0
  const flush = async (): Promise<void> => {
    await kv.commit({ set, sum })
    entries += set.length + sum.length
    set = []
    sum = []
    size = 0
    onProgress(entries)
  }
  for await (const line of lines) {
    number++
    if (number === 1 && line !== HEAD) refuse('This is no export of a store')
    if (number === 1 || line === '') continue
    if (end !== undefined) refuse(`Line ${number} comes after the end`)
    const read = JSON.parse(line) as Line | { entries: number }
    if ('entries' in read) {
      end = read.entries
      continue
    }
    if ('counter' in read) sum.push({ key: read.key, add: read.counter })
    else set.push(read)
    size += line.length
    if (set.length + sum.length === GROUP || size > GROUP_SIZE) await flush()
  }
  await flush()
  if (end !== entries) refuse(`The export has ${end === undefined ? 'no end' : `${end} entries`}; ${entries} were read`)
  return entries
}
