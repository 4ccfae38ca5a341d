import type { Answer } from './operation.js'
import { bytes } from './operation.js'

const encoder = new TextEncoder()

/** A page of a list. */
export interface ListPage<T> {
  items: T[]
  /** The `after` of the next page; absent on the last one. */
  next?: string | undefined
}

/**
 * A whole list as one JSON object, sent page by page as the client reads: its other fields, before the list or after it, and the list.
 * An error while a page is read closes the connection, so that a part is not taken for the whole; the first page is read before the answer begins.
 * @param name the field that has the list
 * @param after made when the list has been sent
 */
export async function jsonList<T>(
  before: object,
  name: string,
  read: (after?: string) => Promise<ListPage<T>>,
  after: () => object = () => ({}),
): Promise<Answer> {
  const first = await read()

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let text = `${JSON.stringify(before).slice(0, -1)}${Object.keys(before).length > 0 ? ',' : ''}${JSON.stringify(name)}:[`
    let separator = ''
    for (let page = first; ; page = await read(page.next)) {
      for (const item of page.items) {
        text += separator + JSON.stringify(item)
        separator = ','
      }
      if (page.next === undefined) break
      yield encoder.encode(text)
      text = ''
    }
    const rest = JSON.stringify(after()).slice(1)
    yield encoder.encode(`${text}]${rest === '}' ? '' : ','}${rest}`)
  }
  return bytes(pieces(), 'application/json; charset=utf-8')
}
