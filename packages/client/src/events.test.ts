import { describe, expect, it } from 'vitest'
import { failure } from '../../../test/support/client.js'
import type { ServerSentEvent } from './index.js'
import { readEvents } from './index.js'

const utf8 = new TextEncoder()

/** A body that comes in these pieces, and whether it was cancelled. */
function bodyOf(pieces: (Uint8Array | Error)[]) {
  const rest = [...pieces]
  const state = { cancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = rest.shift()
        if (piece === undefined) controller.close()
        else if (piece instanceof Error) controller.error(piece)
        else controller.enqueue(piece)
      },
      cancel: () => void (state.cancelled = true),
    },
    { highWaterMark: 0 },
  )
  return { body, state }
}

async function collect(pieces: Uint8Array[]): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = []
  for await (const event of readEvents(bodyOf(pieces).body)) events.push(event)
  return events
}

const messages = (...data: string[]) => data.map((each) => ({ event: 'message', data: each, id: '' }))

// After "Server-sent events" in the HTML standard, section 9.2.6.
const cases: [name: string, text: string, events: ServerSentEvent[]][] = [
  ['LF', 'data: a\n\ndata: b\n\n', messages('a', 'b')],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', messages('a', 'b')],
  ['CR', 'data: a\r\rdata: b\r\r', messages('a', 'b')],
  ['CRLF within an event', 'event: x\r\ndata: a\r\ndata: b\r\n\r\n', [{ event: 'x', data: 'a\nb', id: '' }]],
  ['all three', 'data: a\r\n\ndata: b\r\rdata: c\n\r\n\ndata: d\r\n\r', messages('a', 'b', 'c', 'd')],
  ['a byte order mark', '\uFEFFdata: a\n\n', messages('a')],
  ['one byte order mark only', '\uFEFF\uFEFFdata: a\n\ndata: b\uFEFF\n\n', messages('b\uFEFF')],
  ['several lines', 'data: a\ndata:b\ndata:  c\ndata\n\n', messages('a\nb\n c\n')],
  ['characters of several bytes', 'data: grüß 你好 🚀\n\n', messages('grüß 你好 🚀')],
  ['comments', ': hello\n\n:\ndata: a\n: ping\n\n', messages('a')],
  ['no data', 'event: x\n\ndata\n\ndata:\n\n', messages('', '')],
  ['other fields', 'retry: 5\nfoo: bar\n data: x\ndata : y\ndata: a:b\n\n', messages('a:b')],
  [
    'types, which end with their event',
    'event: add\ndata: a\n\nevent:\ndata: b\n\ndata: c\n\n',
    [{ event: 'add', data: 'a', id: '' }, ...messages('b', 'c')],
  ],
  [
    'ids, which stay',
    'id: 1\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\nid\ndata: d\n\n',
    [
      { event: 'message', data: 'a', id: '1' },
      { event: 'message', data: 'b', id: '1' },
      { event: 'message', data: 'c', id: '1' },
      { event: 'message', data: 'd', id: '' },
    ],
  ],
  ['an end within an event', 'data: a\n\ndata: b\n', messages('a')],
  ['nothing', '', []],
]

describe('the parser of events', () => {
  it.each(cases)('reads %s, however it is cut', async (_, text, events) => {
    const bytes = utf8.encode(text)
    expect(await collect([bytes])).toEqual(events)
    expect(await collect(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(events)
    for (let at = 0; at <= bytes.length; at++)
      expect(await collect([bytes.slice(0, at), new Uint8Array(0), bytes.slice(at)]), `cut at ${at}`).toEqual(events)
  })

  it('yields an event as soon as its blank line is there', async () => {
    const { body } = bodyOf([utf8.encode('data: a\r\n\r'), utf8.encode('\ndata: b\n\n')])
    const events = readEvents(body)
    expect((await events.next()).value).toMatchObject({ data: 'a' })
    expect((await events.next()).value).toMatchObject({ data: 'b' })
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it.each([
    ['in one line', 'data: ', 'x'],
    ['in many lines', '', 'data: x\n'],
    ['in one field name', '', 'x'],
  ])('refuses an event that is too large, %s', async (_, start, part) => {
    const piece = utf8.encode(part.repeat(2 ** 17))
    const { body, state } = bodyOf([utf8.encode(start), ...Array.from({ length: 64 }, () => piece)])
    const events = readEvents(body)
    expect(await failure(events.next())).toEqual(
      new RangeError('An event of the stream has more than 4194304 characters'),
    )
    expect(state.cancelled).toBe(true)
  })

  it('reads any number of smaller ones', async () => {
    const piece = utf8.encode(`data: ${'x'.repeat(2 ** 17)}\n\n`)
    const events = await collect(Array.from({ length: 64 }, () => piece))
    expect(events).toHaveLength(64)
  })

  it('cancels the body when the loop is left', async () => {
    const { body, state } = bodyOf([utf8.encode('data: a\n\n'), utf8.encode('data: b\n\n')])
    for await (const { data } of readEvents(body)) if (data === 'a') break
    expect(state.cancelled).toBe(true)
  })

  it('throws what the body throws', async () => {
    const broken = new TypeError('terminated')
    const events = readEvents(bodyOf([utf8.encode('data: a\n\n'), broken]).body)
    await events.next()
    expect(await failure(events.next())).toBe(broken)
  })
})
