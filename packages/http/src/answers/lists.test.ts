import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { fetchShell } from '../shells/fetch-shell.js'
import { createHandler } from '../handler.js'
import { jsonArray, Paging } from './lists.js'
import type { DefineOperation } from '../operation.js'
import { operation as define, route } from '../operation.js'

const operation: DefineOperation<null, string> = define

/** A surface with one list of so many numbers. */
function setUp(count: number, fail?: (after: string | undefined) => void) {
  const reads: { limit?: number | undefined; after?: string | undefined }[] = []
  const list = operation({
    id: 'list',
    summary: '',
    access: 'open',
    query: v.object({ ...Paging.entries, kind: v.optional(v.string()) }),
    run: (_, { query }, call) =>
      jsonArray({ ...query, region: undefined }, call, async (page) => {
        reads.push(page)
        fail?.(page.after)
        const { limit = 100, after = '0' } = page
        const end = Math.min(count, Number(after) + limit)
        const items = Array.from({ length: end - Number(after) }, (_, i) => ({ n: Number(after) + i + 1 }))
        return { items, next: end < count ? String(end) : undefined }
      }),
  })
  const { handle } = createHandler<null>({
    routes: [route('GET', '/list', list)],
    authenticate: () => null,
    errorBody: ({ message }) => ({ error: message }),
  })
  const shell = fetchShell(handle)
  return { reads, get: (query: string) => shell(new Request(`https://x.example/list${query}`)) }
}

const numbers = async (response: Response): Promise<number[]> =>
  ((await response.json()) as { n: number }[]).map(({ n }) => n)
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('a whole list', () => {
  it.each([0, 1, 400, 401, 1_000])('is one array, read page by page: %i entries', async (count) => {
    const { get, reads } = setUp(count)
    const response = await get('?kind=a')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('link')).toBeNull()
    expect(await numbers(response)).toEqual(from(1, count))
    expect(reads.map(({ limit }) => limit)).toEqual(Array(Math.max(1, Math.ceil(count / 400))).fill(400))
  })

  it('lets others have their turn after each page', async () => {
    const { get, reads } = setUp(4_000)
    const [first, second] = [await get(''), await get('')]
    let turns = 0
    const turn = (): void => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await Promise.all([first.text(), second.text()])
    clearImmediate(next)
    // Of two lists, one goes on in each turn.
    expect(reads).toHaveLength(20)
    expect(turns).toBeGreaterThanOrEqual(18)
  })

  it('is an error where its first page cannot be read, and breaks off where a later one cannot', async () => {
    const first = setUp(1_000, () => {
      throw new Error('No')
    })
    expect((await first.get('')).status).toBe(500)
    const later = setUp(1_000, (after) => {
      if (after !== undefined) throw new Error('No')
    })
    const response = await later.get('')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })
})

describe('a page of a list', () => {
  it('is an array, with a link to the next page that repeats the query', async () => {
    const { get } = setUp(250)
    const response = await get('?limit=100&kind=a%26b%20%3E')
    expect(await numbers(response)).toEqual(from(1, 100))
    expect(response.headers.get('link')).toBe('<?limit=100&kind=a%26b+%3E&after=100>; rel="next"')
  })

  it('leads to all others by the links', async () => {
    const { get } = setUp(250)
    const seen: number[][] = []
    for (let query: string | undefined = '?limit=100'; query !== undefined;) {
      const response: Response = await get(query)
      seen.push(await numbers(response))
      query = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual([from(1, 100), from(101, 200), from(201, 250)])
  })

  it('may begin anywhere, with the size that the list has by default', async () => {
    const { get, reads } = setUp(250)
    const response = await get('?after=20')
    expect(await numbers(response)).toEqual(from(21, 120))
    expect(response.headers.get('link')).toBe('<?after=120>; rel="next"')
    expect(reads).toEqual([{ limit: undefined, after: '20' }])
    expect((await get('?after=200')).headers.get('link')).toBeNull()
  })

  it.each(['?limit=0', '?limit=501', '?limit=x', '?after='])('is refused for %s', async (query) => {
    expect((await setUp(1).get(query)).status).toBe(400)
  })
})
