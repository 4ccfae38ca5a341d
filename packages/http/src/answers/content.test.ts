import type { ApiError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Content } from './content.js'
import { contentReply } from './content.js'

const text = '0123456789'
const lastModified = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const date = 'Fri, 02 Jan 2026 03:04:05 GMT'
const before = 'Fri, 02 Jan 2026 03:04:04 GMT'

/** The reply for a text of ten characters, and which ranges were opened. */
async function get(headers: Record<string, string>, fields: Partial<Content> = {}, method = 'GET') {
  const opened: unknown[] = []
  const reply = await contentReply(method, (name) => headers[name], {
    type: 'text/plain',
    size: text.length,
    etag: '"v1"',
    lastModified,
    read(range) {
      opened.push(range)
      return range ? text.slice(range.start, range.end + 1) : text
    },
    ...fields,
  })
  return { ...reply, opened }
}

describe('stored bytes', () => {
  it('are sent whole with their length, tag and date', async () => {
    expect(await get({}, { headers: { 'cache-control': 'no-cache' } })).toEqual({
      status: 200,
      headers: {
        'cache-control': 'no-cache',
        'content-type': 'text/plain',
        'content-length': '10',
        'accept-ranges': 'bytes',
        etag: '"v1"',
        'last-modified': date,
      },
      body: text,
      opened: [undefined],
    })
  })

  it('may take time to open, and then fail', async () => {
    expect((await get({}, { read: async () => text })).body).toBe(text)
    await expect(get({}, { read: () => Promise.reject(new Error('offline')) })).rejects.toThrow('offline')
  })

  it('threat 158: that are more or fewer than announced break off, and none of the others goes out', async () => {
    const sent = async (...sizes: number[]) => {
      const read = async function* () {
        for (const size of sizes) yield new Uint8Array(size)
      }
      const { body } = await get({ range: 'bytes=0-4' }, { read })
      let bytes = 0
      try {
        for await (const piece of body as AsyncIterable<Uint8Array>) bytes += piece.length
      } catch (error) {
        return [bytes, (error as Error).message]
      }
      return [bytes]
    }
    expect(await sent(2, 0, 3)).toEqual([5])
    for (const [sizes, before] of [
      [[10], 0],
      [[3, 7], 3],
      [[5, 1], 5],
      [[4], 4],
    ] as [number[], number][])
      expect(await sent(...sizes)).toEqual([before, 'The stored bytes are not the 5 that they should be'])
  })

  it('are not opened for HEAD, which has the headers of GET', async () => {
    const reply = await get({ range: 'bytes=0-1' }, {}, 'HEAD')
    expect([reply.status, reply.headers['content-length'], reply.body, reply.opened]).toEqual([
      200,
      '10',
      undefined,
      [],
    ])
  })
})

describe('a range', () => {
  it.each([
    ['bytes=0-0', '0', '0-0'],
    ['bytes=2-5', '2345', '2-5'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=7-100', '789', '7-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=-100', text, '0-9'],
    ['bytes= 1-2 ', '12', '1-2'],
    ['BYTES=0-1', '01', '0-1'],
  ])('%s is a 206', async (range, body, place) => {
    const reply = await get({ range })
    expect([reply.status, reply.body, reply.headers['content-range'], reply.headers['content-length']]).toEqual([
      206,
      body,
      `bytes ${place}/10`,
      String(body.length),
    ])
  })

  it.each(['bytes=0-1,3-4', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=1', '', 'bytes=1.5-2'])(
    '%j is ignored, as it is malformed or several',
    async (range) => {
      const reply = await get({ range })
      expect([reply.status, reply.body]).toEqual([200, text])
    },
  )

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-0', 0],
  ])('%s of %i bytes is a 416 with the size', async (range, size) => {
    const error = await get({ range }, { size }).catch((thrown: unknown) => thrown as ApiError)
    expect([error.status, error.headers]).toEqual([416, { 'content-range': `bytes */${size}` }])
  })
})

it('the last bytes of none are all', async () => {
  const reply = await get({ range: 'bytes=-1' }, { size: 0, read: () => '' as never })
  expect([reply.status, reply.body, reply.headers['content-length']]).toEqual([200, '', '0'])
})

describe('If-Range', () => {
  it.each([
    ['"v1"', {}, 206],
    ['"v2"', {}, 200],
    ['W/"v1"', { etag: 'W/"v1"' }, 200],
    [date, {}, 206],
    [before, {}, 200],
    [date, { lastModified: undefined as never }, 200],
    ['nonsense', {}, 200],
  ])('%s: %j is a %i', async (ifRange, fields, status) => {
    expect((await get({ range: 'bytes=0-1', 'if-range': ifRange }, fields)).status).toBe(status)
  })
})

describe('what the client demands', () => {
  const dateless = { lastModified: undefined as never }

  it.each<[headers: Record<string, string>, fields: Partial<Content>]>([
    [{ 'if-match': '"v1"' }, {}],
    [{ 'if-match': '"v0", "v1"' }, {}],
    [{ 'if-match': '*' }, {}],
    [{ 'if-match': '"v1"', 'if-unmodified-since': before }, {}],
    [{ 'if-unmodified-since': date }, {}],
    [{ 'if-unmodified-since': 'nonsense' }, {}],
    [{ 'if-unmodified-since': before }, dateless],
  ])('%j is met by %j', async (headers, fields) => {
    expect((await get(headers, fields)).status).toBe(200)
  })

  it.each<[headers: Record<string, string>, fields: Partial<Content>]>([
    [{ 'if-match': '"v2"' }, {}],
    [{ 'if-match': 'W/"v1"' }, {}],
    [{ 'if-match': 'W/"v1"' }, { etag: 'W/"v1"' }],
    [{ 'if-match': '"v1"' }, { etag: undefined as never }],
    [{ 'if-match': '"v2"', 'if-none-match': '"v1"' }, {}],
    [{ 'if-match': '"v2"', range: 'bytes=99-' }, {}],
    [{ 'if-match': '"v2"', 'if-unmodified-since': date }, {}],
    [{ 'if-unmodified-since': before }, {}],
    [{ 'if-unmodified-since': before, 'if-modified-since': date }, {}],
  ])('%j is refused with 412 for %j', async (headers, fields) => {
    await expect(get(headers, fields)).rejects.toMatchObject({ status: 412 })
  })
})

describe('what the client has already', () => {
  it.each([
    [{ 'if-none-match': '"v1"' }, {}, 304],
    [{ 'if-none-match': 'W/"v1"' }, {}, 304],
    [{ 'if-none-match': '"v0", "v1"' }, {}, 304],
    [{ 'if-none-match': '*' }, {}, 304],
    [{ 'if-none-match': '"v2"' }, {}, 200],
    [{ 'if-none-match': '"v2"', 'if-modified-since': date }, {}, 200],
    [{ 'if-none-match': '"v1"' }, { etag: undefined as never }, 200],
    [{ 'if-modified-since': date }, {}, 304],
    [{ 'if-modified-since': before }, {}, 200],
    [{ 'if-modified-since': 'nonsense' }, {}, 200],
  ])('%j %j is a %i', async (headers, fields, status) => {
    const reply = await get(headers, fields)
    expect([reply.status, reply.opened.length]).toEqual([status, status === 304 ? 0 : 1])
    if (status === 304) expect(reply.headers).toMatchObject({ 'last-modified': date })
  })

  it('is not sent for a range either, nor refused with 416', async () => {
    expect((await get({ 'if-none-match': '"v1"', range: 'bytes=99-' })).status).toBe(304)
  })
})
