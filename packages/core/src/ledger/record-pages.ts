import { invalid } from '../invalid.js'
import type { Key, KV, Page } from '../kv/kv.js'
import type { UsageRecord } from './usage-record.js'

/** Options of a page: `limit` default 100, at most 500; `after` is the `next` of the previous page. */
export interface PageOptions {
  after?: string | undefined
  limit?: number | undefined
}

/** A page of usage records, newest first. */
export interface RecordPage {
  items: UsageRecord[]
  /** The `after` of the next page; absent on the last one. */
  next?: string
}

/** Maximum number of records on a page. */
const MAX_PAGE = 500

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
  if (cursor !== undefined && id === undefined) throw invalid('There is no such page')
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
export async function pageOfRecords(kv: KV, userId: string, options: PageOptions = {}): Promise<RecordPage> {
  const { after, limit = 100 } = options
  const most = Math.min(Math.max(limit, 1), MAX_PAGE)
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
