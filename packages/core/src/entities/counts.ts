import { ApiError } from '../errors.js'
import type { Commit, Entry, Key, KV } from '../kv/kv.js'
import { encodeKey, entriesOf } from '../kv/kv.js'

/** How many of each kind are counted under one key. */
export type Counts = Record<string, number>

/** Where as much fits this many times, the commit does not depend on the counter: there are not as many at a time, and they need not wait for each other. */
const FAR = 1_000

/** The counter of what a user has: gateway keys that are not revoked, sessions, tasks, and the bytes of all that is stored of the user's making. */
export const ownedKey = (userId: string): Key => ['owned', userId]

/** Bytes that an entry is counted with besides its key and its value: about what Redis, which has it in memory, needs. */
const ENTRY_BYTES = 200

const utf8 = new TextEncoder()
/** The length of a text in UTF-8: where there is Node's Buffer, without a copy. */
const utf8Length: (text: string) => number = globalThis.Buffer?.byteLength ?? ((text) => utf8.encode(text).length)

/** The bytes that entries are counted with. */
const bytesOf = (entries: readonly { key: Key; value: unknown }[]): number =>
  entries.reduce((sum, { key, value }) => {
    return sum + ENTRY_BYTES + encodeKey(key).length + utf8Length(JSON.stringify(value))
  }, 0)

/** By how many bytes a user's records grow where some are written, and others are replaced or deleted: what is counted of a commit as `bytes`. */
export const growth = (
  set: NonNullable<Commit['set']>,
  gone: readonly { key: Key; value: unknown }[] = [],
): { bytes: number } => ({ bytes: bytesOf(set) - bytesOf(gone) })

/** What a kind is called in the error of its limit. */
const nameOf = (kind: string): string => (kind === 'bytes' ? 'bytes of data' : kind)

/**
 * The check and the addition of a commit that makes or removes something that is counted, so that parallel ones exceed no limit. A count never
 * falls below 0, where what was made before it was counted is removed.
 * @param amounts what is made of each kind, or less than 0 for what is removed
 * @param options.limits the highest number of each kind; null or absent = any number
 * @param options.uncounted how many there are of a kind that was not counted yet, as in a store of an earlier version; default 0
 * @param options.entry the counter, where it was read already
 * @throws ApiError 403 where a limit is exceeded
 */
export async function counting(
  kv: KV,
  key: Key,
  amounts: Counts,
  {
    limits = {},
    uncounted = {},
    entry,
  }: {
    limits?: Record<string, number | null | undefined> | undefined
    uncounted?: Record<string, () => Promise<number>>
    entry?: Entry<Counts> | null | undefined
  } = {},
): Promise<Required<Pick<Commit, 'check' | 'sum'>>> {
  const read = entry === undefined ? await kv.get<Counts>(key) : entry
  const add = { ...amounts }
  let depends = false
  for (const [kind, amount] of Object.entries(amounts)) {
    const counted = read?.value[kind]
    const before = counted ?? (await uncounted[kind]?.()) ?? 0
    const limit = limits[kind] ?? Infinity
    if (amount > 0 && before + amount > limit)
      throw new ApiError(403, 'permission_error', `Your plan has ${limit} ${nameOf(kind)}, and this would be more`, {
        code: 'forbidden',
      })
    add[kind] = Math.max(before + amount, 0) - (counted ?? 0)
    const left = amount > 0 ? limit - before - amount : before + amount
    depends ||= counted === undefined || left < FAR * Math.abs(amount)
  }
  return { check: depends ? [{ key, version: read?.version ?? null }] : [], sum: [{ key, add }] }
}

/** How many entries are below a prefix, or how many of them count. */
export async function countEntries<T>(
  kv: KV,
  prefix: Key,
  counts: (entry: { key: Key; value: T }) => boolean | Promise<boolean> = () => true,
): Promise<number> {
  let count = 0
  for await (const entry of entriesOf<T>(kv, prefix)) if (await counts(entry)) count++
  return count
}
