import { isUuid } from '../helpers/ids.js'
import { noSuchPage } from '../invalid.js'
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

/**
 * A page of the entries directly below a key, by the last segments of their own: in key order, or in `reverse`.
 * @param options.ids what these segments are; default UUIDs
 * @throws ApiError 400 where `after` cannot be one, which would be taken for another page
 */
export async function pageBelow<T>(
  kv: KV,
  prefix: Key,
  { after, limit, reverse = false, ids = 'uuid' }: PageOptions & { reverse?: boolean; ids?: 'uuid' | 'any' } = {},
): Promise<ListPage<Entry<T>>> {
  if (after !== undefined && ids === 'uuid' && !isUuid(after)) throw noSuchPage()
  const { items, next } = await kv.list<T>(prefix, {
    reverse,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { after: [...prefix, ids === 'uuid' ? after.toLowerCase() : after] }),
  })
  return { items, next: next?.at(-1) }
}

/**
 * A page of the values that the entries directly below a key lead to. Those that are not there are left out.
 * @param keyOf the key of a value
 */
export async function pageOfIndex<T>(
  kv: KV,
  prefix: Key,
  keyOf: (entry: Entry<string>) => Key,
  options?: PageOptions & { reverse?: boolean },
): Promise<ListPage<T>> {
  const { items, next } = await pageBelow<string>(kv, prefix, options)
  const found = await kv.getMany<T>(items.map(keyOf), { page: true })
  return {
    items: found.flatMap((entry) => (entry ? [entry.value] : [])),
    next: found.length < items.length ? items[found.length - 1]!.key.at(-1) : next,
  }
}
