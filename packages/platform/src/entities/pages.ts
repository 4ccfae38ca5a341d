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

/** A part of the values below a key whose ids are UUIDv7, newest first. */
export async function newestFirst<T>(kv: KV, prefix: Key, { after, limit = 100 }: Paging): Promise<Page<T>> {
  const { items, next } = await kv.list<T>(prefix, {
    reverse: true,
    limit,
    ...(after !== undefined && { after: [...prefix, after] }),
  })
  return { items: items.map(({ value }) => value), next: next?.at(-1) }
}
