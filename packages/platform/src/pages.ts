import type { Key, KV, ListPage as Page, PageOptions as Paging } from '@turnpike/core'
import { pageBelow, pageOfIndex } from '@turnpike/core/internal'

export type { Page, Paging }

/** A part of the values below a key whose ids are UUIDv7, newest first. */
export async function newestFirst<T>(kv: KV, prefix: Key, paging: Paging): Promise<Page<T>> {
  const { items, next } = await pageBelow<T>(kv, prefix, { ...paging, reverse: true })
  return { items: items.map(({ value }) => value), next }
}

/** A part of the values that an index leads to, newest first. @param keyOf the key of a value by its id, with which the keys of the index end */
export const newestOfIndex = <T>(kv: KV, prefix: Key, keyOf: (id: string) => Key, paging: Paging): Promise<Page<T>> =>
  pageOfIndex<T>(kv, prefix, ({ key }) => keyOf(key.at(-1)!), { ...paging, reverse: true })
