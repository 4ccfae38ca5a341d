/**
 * The one storage port: ordered keys, versioned values, one atomic primitive.
 * Every write of one action is one `commit`; ids are UUIDv7, so newest-first is a reverse `list`.
 */

/** Segments of a key, such as `['user', id]`; the engine encodes them. */
export type Key = readonly string[]

/** A JSON value, as stores keep it; fields that are `undefined` are left out. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue | undefined }

/** A value with the version that {@link Commit} checks. */
export interface Entry<T> {
  key: Key
  /** The value that was set, or the field map of a counter. */
  value: T
  /** Opaque; changes with every write and is never used again, not even after a delete. */
  version: string
  /** True where the value is the field map of a counter. */
  counter?: true
  /** Milliseconds since the epoch at which it ends; absent = never. */
  expiresAt?: number
}

/** The changes of one atomic {@link KV.commit}, and the versions that it depends on. */
export interface Commit {
  /** Conditions: the version that a key must have; `null` = it must not exist. */
  check?: { key: Key; version: string | null }[]
  /** Values to write; `expiresAt` is in milliseconds since the epoch, absent = never. */
  set?: { key: Key; value: JsonValue; expiresAt?: number }[]
  /** Keys to delete; a key that is absent is no error. */
  del?: Key[]
  /** Safe integers to add to the fields of a counter. A counter key is never a `set` key. */
  sum?: { key: Key; add: Record<string, number> }[]
}

/** A part of a list, and where the next part begins. */
export interface Page<T> {
  items: Entry<T>[]
  /** The `after` of the next page; absent on the last one. */
  next?: Key
}

/** Which part of a prefix to list, and in which direction. */
export interface ListOptions {
  /** The key after which to begin, `next` of the page before; default at the beginning. */
  after?: Key
  /** Most entries to return, up to 500; default 100. */
  limit?: number
  /** From the last key to the first; default false. */
  reverse?: boolean
}

/** Who may write to a store, and what its commits survive. */
export interface KVCapabilities {
  /** How many processes may write: `one-process`, `one-host` or `many-hosts`. */
  writers: 'one-process' | 'one-host' | 'many-hosts'
  /** What an acknowledged commit survives. */
  durability: 'none' | 'process-crash' | 'power-loss' | 'engine-configured'
  /** Name of the driver, for messages. */
  driver: string
}

/** Whether a store can be reached. */
export interface Health {
  ok: boolean
  /** Why not; absent where `ok`. */
  reason?: string
}

/** The port of all stores: ordered keys, versioned values and one atomic {@link KV.commit}. */
export interface KV {
  readonly capabilities: KVCapabilities
  get<T>(key: Key): Promise<Entry<T> | null>
  getMany<T>(keys: Key[]): Promise<(Entry<T> | null)[]>
  /** Entries below `prefix`, in the order of their keys; all there are below `[]`. */
  list<T>(prefix: Key, options?: ListOptions): Promise<Page<T>>
  /**
   * All or nothing. Resolves once durable as `capabilities` says: `true` = applied, `false` = a check failed and nothing was written.
   * @throws StorageError with `outcome: 'unknown'` where it may have been applied.
   */
  commit(commit: Commit): Promise<boolean>
  health(): Promise<Health>
  close(): Promise<void>
}

/** Most entries that one `list` returns. */
const MAX_PAGE = 500

const plain = /^[a-z0-9_-]+$/

const utf8 = new TextEncoder()
/** Segments that were encoded lately; the same ones come again and again. */
const encoded = new Map<string, string>()
const ENCODED = 1_000

const encodeSegment = (segment: string): string => {
  if (plain.test(segment)) return segment
  let hex = encoded.get(segment)
  if (hex !== undefined) return hex
  hex = '~'
  for (const byte of utf8.encode(segment)) hex += byte.toString(16).padStart(2, '0')
  // A key with a longer one is hardly ever asked for again, or too long.
  if (segment.length > 300) return hex
  if (encoded.size >= ENCODED) encoded.clear()
  encoded.set(segment, hex)
  return hex
}

const decodeSegment = (text: string): string =>
  text[0] === '~'
    ? new TextDecoder().decode(Uint8Array.from(text.slice(1).match(/../g) ?? [], (hex) => parseInt(hex, 16)))
    : text

/** Longest encoded key, in characters: what the index of every engine can hold. */
const MAX_KEY = 2_000

/**
 * The text that every engine orders and stores keys by: plain segments as they are, others as `~` and hexadecimal UTF-8, joined by `/`.
 * @throws TypeError where it has no segment, or over 2,000 characters
 */
export function encodeKey(key: Key): string {
  if (key.length === 0) throw new TypeError('A key needs at least one segment')
  // Without arrays: of what a flush of one usage record costs, a tenth went into them.
  let text = encodeSegment(key[0]!)
  for (let i = 1; i < key.length; i++) text += `/${encodeSegment(key[i]!)}`
  if (text.length > MAX_KEY) throw new TypeError(`A key is at most ${MAX_KEY} characters long when encoded`)
  return text
}

/** Encoded keys between two others, both left out. */
export interface KeyRange {
  low: string
  high: string
  /** From the last to the first. */
  reverse: boolean
  /** Most entries to return. */
  limit: number
}

/** What `list` is asked for, as every engine reads it: never beyond `prefix`, whatever `after` is. */
export function rangeOf(prefix: Key, { after, limit = 100, reverse = false }: ListOptions = {}): KeyRange {
  const below = prefix.length > 0 ? encodeKey(prefix) : undefined
  // '0' is the character after '/', and none of a key is after '~'.
  const [low, high] = below === undefined ? ['', '\x7f'] : [`${below}/`, `${below}0`]
  const range = { low, high, reverse, limit: Math.min(Math.max(limit, 1), MAX_PAGE) }
  const last = after && encodeKey(after)
  if (last && last > range.low && last < range.high) range[reverse ? 'high' : 'low'] = last
  else if (last && (reverse ? last <= range.low : last >= range.high)) range.high = range.low
  return range
}

/** The key that {@link encodeKey} made `text` of. */
export const decodeKey = (text: string): Key => text.split('/').map(decodeSegment)

/**
 * Changes one value by compare-and-set, trying again as often as another writer was faster.
 * `change` gets the present value (`null` if absent) and returns the new one, or `undefined` to leave it.
 * @returns the value that is stored afterwards.
 */
export async function update<T extends JsonValue>(
  kv: KV,
  key: Key,
  change: (value: T | null) => T | undefined,
): Promise<T | null> {
  for (;;) {
    const entry = await kv.get<T>(key)
    const value = change(entry?.value ?? null)
    if (value === undefined) return entry?.value ?? null
    if (await kv.commit({ check: [{ key, version: entry?.version ?? null }], set: [{ key, value }] })) return value
  }
}

/**
 * All entries below `prefix`, in the order of their keys, or those after a key; default all there are.
 * What is written meanwhile may or may not be among them.
 */
export async function* entriesOf<T>(kv: KV, prefix: Key = [], after?: Key): AsyncGenerator<Entry<T>> {
  for (;;) {
    const { items, next } = await kv.list<T>(prefix, { limit: MAX_PAGE, ...(after && { after }) })
    yield* items
    if (!next) return
    after = next
  }
}
