import type { Key, KV } from '@turnpike/core'

/** Which part of a list: so many entries, default 100, after the `next` of the part before. */
export interface Paging {
  after?: string | undefined
  limit?: number | undefined
}

/** A part of a list, and the `after` of the next; undefined on the last one. */
export interface Page<T> {
  items: T[]
  next?: string | undefined
}

/** A part of the entries below a key whose ids are UUIDv7, newest first. */
const newestEntries = <T>(kv: KV, prefix: Key, { after, limit = 100 }: Paging) =>
  kv.list<T>(prefix, { reverse: true, limit, ...(after !== undefined && { after: [...prefix, after] }) })

/** A part of the values below a key whose ids are UUIDv7, newest first. */
export async function newestFirst<T>(kv: KV, prefix: Key, paging: Paging): Promise<Page<T>> {
  const { items, next } = await newestEntries<T>(kv, prefix, paging)
  return { items: items.map(({ value }) => value), next: next?.at(-1) }
}

/** A part of the values that an index leads to, newest first. @param keyOf the key of a value by its id, with which the keys of the index end */
export async function newestOfIndex<T>(
  kv: KV,
  prefix: Key,
  keyOf: (id: string) => Key,
  paging: Paging,
): Promise<Page<T>> {
  const { items, next } = await newestEntries(kv, prefix, paging)
  const found = await kv.getMany<T>(items.map(({ key }) => keyOf(key.at(-1)!)))
  return { items: found.flatMap((entry) => (entry ? [entry.value] : [])), next: next?.at(-1) }
}
