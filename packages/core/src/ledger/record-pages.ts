import { MAX_PAGE_SIZE, PAGE_SIZE } from '../conventions.js'
import { noSuchPage } from '../invalid.js'
import type { Key, KV, Page } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import type { UsageRecord } from './usage-record.js'

/** The cursor of a page: a segment to start after, or a segment and the number of its records that are on previous pages. */
const CURSOR = /^([0-9a-f-]{36})(?:\.(\d+))?$/

/** Yields the segments of a user from the cursor on, newest first, each with its records newest first and the index to start from. */
async function* segments(
  kv: KV,
  userId: string,
  cursor: string | undefined,
  most: number,
): AsyncGenerator<{ id: string; records: UsageRecord[]; from: number }> {
  const prefix = ['usage', userId]
  const [, id, from] = (cursor !== undefined && CURSOR.exec(cursor)) || []
  if (cursor !== undefined && id === undefined) throw noSuchPage()
  let after: Key | undefined = id === undefined ? undefined : [...prefix, id]
  const begun = from && (await kv.get<UsageRecord[]>(after!))
  if (begun) yield { id: id!, records: begun.value.toReversed(), from: Number(from) }
  do {
    const page: Page<UsageRecord[]> = await kv.list(prefix, { reverse: true, limit: most + 1, ...(after && { after }) })
    for (const { key, value } of page.items) yield { id: key[2]!, records: value.toReversed(), from: 0 }
    after = page.next
  } while (after)
}

/** Reads a page of a user's records, newest first. A segment contains all records of one flush, so a page may end within a segment. */
export async function pageOfRecords(
  kv: KV,
  userId: string,
  { after, limit = PAGE_SIZE }: PageOptions = {},
): Promise<ListPage<UsageRecord>> {
  const most = Math.min(Math.max(limit, 1), MAX_PAGE_SIZE)
  const items: UsageRecord[] = []
  let last: string | undefined
  for await (const { id, records, from } of segments(kv, userId, after, most))
    for (let i = from; i < records.length; i++) {
      if (items.length >= most) return { items, next: i === 0 ? last! : `${id}.${i}` }
      items.push(records[i]!)
      last = id
    }
  return { items }
}
