import type { Entry, Key, KV } from './kv.js'

/** Which page of a list: `limit` is 100 by default, at most 500; `after` is the `next` of the page before. */
export interface PageOptions {
  after?: string | undefined
  limit?: number | undefined
}

/** A page of a list. */
export interface ListPage<T> {
  items: T[]
  /** The `after` of the next page; undefined on the last one. */
  next?: string | undefined
}

/** A page of the entries directly below a key, by the last segments of their own: in key order, or in `reverse`. */
export async function pageBelow<T>(
  kv: KV,
  prefix: Key,
  { after, limit, reverse = false }: PageOptions & { reverse?: boolean } = {},
): Promise<ListPage<Entry<T>>> {
  const { items, next } = await kv.list<T>(prefix, {
    reverse,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { after: [...prefix, after] }),
  })
  return { items, next: next?.at(-1) }
}
