import type { ListPage, PageOptions } from '@turnpike/core'
import { nextTurn } from '@turnpike/core/helpers'
import { ID_LENGTH, MAX_PAGE_SIZE } from '@turnpike/core/internal'
import * as v from 'valibot'
import { ENTRIES_PER_READ } from '../conventions.js'
import type { Answer, Call } from '../operation.js'
import { bytes } from '../operation.js'

/**
 * A whole number in a query.
 * @example const query = v.object({ days: v.optional(whole(1, 90)) })
 */
export const whole = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d+$/, 'expected a whole number'),
    v.transform(Number),
    v.number(),
    v.integer(),
    v.minValue(least),
    v.maxValue(most),
  )

/** Which part of a list: so many entries, default 100, after the `next` of the part before. */
export const Paging = v.object({
  limit: v.optional(whole(1, MAX_PAGE_SIZE)),
  after: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(ID_LENGTH))),
})

const encoder = new TextEncoder()

type ReadPage<T> = (page: PageOptions) => Promise<ListPage<T>>

/**
 * A list as JSON, sent page by page as the client reads, between two texts. The first page is read before the answer begins; other requests
 * have their turn after each.
 */
async function listed<T>(begin: string, read: ReadPage<T>, end: () => string): Promise<Answer> {
  let separator = ''
  /** The entries of the next page as text. They are not kept while that is sent: a client may take its time. */
  const readText = async (after?: string): Promise<{ text: string; next: string | undefined }> => {
    const { items, next } = await read({ limit: ENTRIES_PER_READ, ...(after !== undefined && { after }) })
    let text = ''
    for (const item of items) {
      text += separator + JSON.stringify(item)
      separator = ','
    }
    return { text, next }
  }
  let { text, next } = await readText()
  text = `${begin}[${text}`

  async function* chunks(): AsyncGenerator<Uint8Array> {
    while (next !== undefined) {
      const piece = encoder.encode(text)
      text = ''
      yield piece
      await nextTurn()
      ;({ text, next } = await readText(next))
    }
    yield encoder.encode(`${text}]${end()}`)
  }
  return bytes(chunks(), 'application/json; charset=utf-8')
}

/**
 * A whole list as one JSON object, sent page by page as the client reads: its other fields, before the list or after it, and the list.
 * An error while a page is read closes the connection, so that a part is not taken for the whole; the first page is read before the answer begins.
 * @param name the field that has the list
 * @param after made when the list has been sent
 * @example const answer = await jsonList({ object: 'list' }, 'data', (page) => listOf(caller, page))
 */
export const jsonList = <T>(
  before: object,
  name: string,
  read: ReadPage<T>,
  after: () => object = () => ({}),
): Promise<Answer> =>
  listed(
    `${JSON.stringify(before).slice(0, -1)}${Object.keys(before).length > 0 ? ',' : ''}${JSON.stringify(name)}:`,
    read,
    () => {
      const rest = JSON.stringify(after()).slice(1)
      return `${rest === '}' ? '' : ','}${rest}`
    },
  )

/** The query of an operation whose answer is a list: the fields of `Paging`, and further ones. */
type ListQuery = PageOptions & { [filter: string]: string | number | undefined }

/**
 * Whether a query asks for a page of a list, and not for the whole.
 * @example if (asksForPage(query)) linkNext(query, call, next)
 */
export const asksForPage = ({ limit, after }: ListQuery): boolean => limit !== undefined || after !== undefined

/**
 * Sets the header `Link: <?…>; rel="next"` with the query of the next page, if there is one.
 * @example linkNext(query, call, page.next)
 */
export function linkNext(query: ListQuery, call: Call, next: string | undefined): void {
  if (next === undefined) return
  const link = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, after: next }))
    if (value !== undefined) link.set(name, String(value))
  call.setHeader('link', `<?${link.toString()}>; rel="next"`)
}

/**
 * A list as a JSON array: whole, sent page by page as by {@link jsonList}, or the page that the query asks for, with the link to the next.
 * @param query the operation's query; further fields than those of `Paging` are repeated in the link
 * @param read reads a page
 * @example const answer = await jsonArray(query, call, (page) => listOf(caller, page))
 */
export async function jsonArray<T>(query: ListQuery, call: Call, read: ReadPage<T>): Promise<Answer | T[]> {
  if (!asksForPage(query)) return listed('', read, () => '')
  const { items, next } = await read({ limit: query.limit, after: query.after })
  linkNext(query, call, next)
  return items
}
