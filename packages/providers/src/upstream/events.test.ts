import { UpstreamError } from '@turnpike/core'
import { describe, expect, it, vi } from 'vitest'
import type { UpstreamEvent } from '../adapter.js'
import { decodeStream } from './events.js'

/** Reads the events with a decoder that returns them unchanged. */
const readEvents = (body: AsyncIterable<Uint8Array>, provider: string, limit: number) =>
  decodeStream(
    body,
    { push: (events: UpstreamEvent[]) => [...events], done: () => false, end: () => [], rest: () => [] },
    provider,
    limit,
  ).events

const utf8 = new TextEncoder()

/** A body with the given pieces, and how it was read. */
function body(pieces: (string | Uint8Array | Error)[]) {
  const state = { taken: 0, ended: false, returned: false }
  const iterable: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const piece = pieces[state.taken]
        if (piece === undefined) {
          state.ended = true
          return { done: true, value: undefined }
        }
        state.taken++
        if (piece instanceof Error) throw piece
        return { done: false, value: typeof piece === 'string' ? utf8.encode(piece) : piece }
      },
      async return() {
        state.returned = true
        return { done: true, value: undefined }
      },
    }),
  }
  return { state, iterable }
}

/** The data of the events per read, and the final error. */
async function read(pieces: (string | Uint8Array | Error)[], limit = 1_000) {
  const batches: string[][] = []
  try {
    for await (const events of readEvents(body(pieces).iterable, 'openai', limit))
      batches.push(events.map(({ data }) => data))
  } catch (error) {
    return { batches, error }
  }
  return { batches }
}
const datas = async (...pieces: (string | Uint8Array)[]) => (await read(pieces)).batches.flat()

describe('decodeStream', () => {
  it('returns the events of one read together', async () => {
    expect((await read(['data: 1\n\ndata: 2\n\n', 'data: 3\n\n'])).batches).toEqual([['1', '2'], ['3'], []])
  })

  it('joins an event that is split across reads', async () => {
    expect((await read(['da', 'ta: {"a"', ':1}\n', '\ndata: 2\n\n'])).batches).toEqual([['{"a":1}', '2'], []])
  })

  it.each(['\n', '\r\n', '\r'])('accepts %j as a line end', async (end) => {
    const text = `data: 1${end}${end}data: 2${end}${end}`
    expect(await datas(text)).toEqual(['1', '2'])
    expect(await datas(...text)).toEqual(['1', '2'])
  })

  it('ignores comments and other fields', async () => {
    expect(await datas(': ping\n\n:\n\nevent: message\nid: 7\nretry: 10\ndata: 1\n\nfoo: bar\n\n')).toEqual(['1'])
  })

  it('joins the lines of one event', async () => {
    expect(await datas('data: {"a":\ndata: 1}\n\n')).toEqual(['{"a":\n1}'])
  })

  it('accepts a line break that is split across reads', async () => {
    expect(await datas('data: 1\r', '\ndata: 2\r', '', '\n\r', '\n')).toEqual(['1\n2'])
    expect(await datas('data: 1\r', 'data: 2\r', '\r')).toEqual(['1\n2'])
  })

  it.each([
    ['data:1', '1'],
    ['data:  1 ', '1'],
    ['data: [DONE] ', '[DONE]'],
    ['data:\t[DONE]', '[DONE]'],
    ['data: a\ndata\ndata: b', 'a\n\nb'],
    ['event\nid\nretry\ndata: 1', '1'],
  ])('reads %j', async (text, data) => expect(await datas(`${text}\n\n`)).toEqual([data]))

  // NousResearch/hermes-agent#112183, and other keep-alives that proxies make
  it.each([
    'data:',
    'data',
    'data: ',
    'data:   \t',
    'data:\ndata:',
    'event: ping\ndata:',
    'id: 1\ndata',
    'event: ping',
    'retry: 3',
  ])('has no event of %j', async (empty) => {
    const batches = (await read([`${empty}\n\n`, `data: 1\n\n${empty}\r\n\r\ndata: 2\n\n`, `${empty}\n\n`])).batches
    expect(batches).toEqual([['1', '2'], []])
  })

  describe('bare JSON', () => {
    const error = { error: { code: 503, message: 'a\nb' } }
    const pretty = JSON.stringify(error, null, 2)
    const parsed = async (...pieces: string[]) => (await datas(...pieces)).map((data) => JSON.parse(data) as unknown)

    it.each([
      ['in one line', JSON.stringify(error)],
      ['in one line that ends', `${JSON.stringify(error)}\n`],
      ['in several', pretty],
      ['with CRLF', pretty.replaceAll('\n', '\r\n')],
      ['in a list', `[${pretty}]`],
      ['after a line that is none', `HTTP/1.1 503\n${pretty}`],
    ])('%s is an event, wherever it is cut', async (_, text) => {
      expect(await parsed(text)).toEqual([error])
      expect(await parsed(...text)).toEqual([error])
      expect(await parsed('data: 1\n\n', ...text)).toEqual([1, error])
    })

    it('is an event for each value of a list', async () => {
      expect(await parsed('[{"a":1}\n,\r\n{"a":2}', ']')).toEqual([{ a: 1 }, { a: 2 }])
    })

    it('is known before the body ends', async () => {
      const { batches } = await read([`data: 1\n\n${pretty}\n`, 'data: 2\n\n'])
      expect(batches.map((batch) => batch.length)).toEqual([2, 1, 0])
    })

    it.each(['{', '{"error":', ` [{"error"`, '[{}\n'])('is truncated where it is cut: %j', async (text) => {
      const { batches, error } = await read(['data: 1\n\n', text])
      expect(batches).toEqual([['1']])
      expect(error).toMatchObject({ failure: { kind: 'truncated', accepted: true } })
    })

    it.each(['x', 'foo: bar\n', 'null', '7'])('is not %j', async (text) => {
      expect((await read(['data: 1\n\n', text])).batches.flat()).toEqual(['1'])
    })
  })

  it('takes lines for what they cost', async () => {
    for (const line of ['data:\n', 'data\r', ': x\n', 'foo: bar\n', '{\n']) {
      const { iterable, state } = body(Array<string>(1_000).fill(line))
      await expect(readEvents(iterable, 'openai', 1_000).next()).rejects.toThrow('larger than 1000 characters')
      expect(state.taken).toBeLessThan(20)
    }
    // Lines outside of events are counted, whatever events are between them.
    const { error } = await read(Array<string>(1_000).fill('foo\ndata: 1\n\n'))
    expect(error).toMatchObject({ message: 'An event is larger than 1000 characters' })
  })

  it('threat 217: keeps no stack of the errors of lines, and of others as many calls as before', async () => {
    const { stackTraceLimit } = Error
    const set = vi.spyOn(Reflect, 'set')
    await read(['foo\n', 'data: 1\n\n'])
    const limits = set.mock.calls.map(([, , limit]) => limit as number)
    set.mockRestore()
    expect(limits).toEqual(Array.from({ length: 3 }, () => [0, stackTraceLimit]).flat())
    expect(Error.stackTraceLimit).toBe(stackTraceLimit)
  })

  it('does not count comments with a blank line, by which some servers keep the connection open', async () => {
    expect(await datas(...Array<string>(1_000).fill(': ping\n\n'), 'data: 1\n\n')).toEqual(['1'])
  })

  it.each([': ping\n\n', 'data: 1\n\n', 'data: 1\n'])(
    'lets others have their turn while %j come without end',
    async (text) => {
      const { iterable, state } = body(Array<string>(1_000).fill(text.repeat(500)))
      let takenThen = Infinity
      setImmediate(() => (takenThen = state.taken))
      for await (const _ of readEvents(iterable, 'openai', Infinity));
      expect(takenThen).toBeLessThan(20)
    },
  )

  it('joins characters that are split across reads', async () => {
    const bytes = utf8.encode('data: "ü€😀"\n\n')
    expect(await datas(...Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))).toEqual(['"ü€😀"'])
  })

  it('ignores a byte order mark', async () => {
    expect(await datas(Uint8Array.of(0xef, 0xbb, 0xbf), 'data: 1\n\n')).toEqual(['1'])
  })

  it.each([
    ['data: {"a":1}', ['{"a":1}']],
    ['data: {"a":1}\n', ['{"a":1}']],
    ['data: [DONE]', ['[DONE]']],
    ['data: {"a":', []],
    ['data: [DO', []],
    ['da', []],
  ])('accepts the last event %j without its blank line only if it is complete', async (text, expected) => {
    expect((await read(['data: 0\n\n', text])).batches).toEqual([['0'], expected])
  })

  it('accepts an event of the limit and refuses a larger one', async () => {
    const event = (size: number): string => `data: "${'x'.repeat(size)}"\n\n`
    expect(await datas(event(900))).toHaveLength(1)
    const half = event(3_000)
    const { batches, error } = await read([
      'data: 1\n\n',
      half.slice(0, 800),
      half.slice(800, 1_600),
      half.slice(1_600),
    ])
    expect(batches).toEqual([['1']])
    expect(UpstreamError.is(error)).toBe(true)
    expect(error).toMatchObject({
      message: 'An event is larger than 1000 characters',
      failure: { provider: 'openai', kind: 'malformed', accepted: true },
    })
  })

  it('is left at once where an event is too large, whatever would come', async () => {
    const { iterable, state } = body(Array<string>(5).fill('x'.repeat(600)))
    await expect(readEvents(iterable, 'openai', 1_000).next()).rejects.toThrow('larger than 1000 characters')
    await new Promise(setImmediate)
    expect(state).toEqual({ taken: 2, ended: false, returned: true })
  })

  it('is truncated where the connection breaks', async () => {
    const cause = new Error('ECONNRESET')
    const { batches, error } = await read(['data: 1\n\ndata: {"a"', cause])
    expect(batches).toEqual([['1']])
    expect(error).toMatchObject({ failure: { provider: 'openai', kind: 'truncated', accepted: true, cause } })
  })

  it('accepts a complete last event also where the connection breaks', async () => {
    const { batches, error } = await read(['data: 1\n\n', 'data: {"a":1}', new Error('ECONNRESET')])
    expect(batches).toEqual([['1'], ['{"a":1}']])
    expect(error).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('returns a result that was put back, and then the failure after it', async () => {
    const push = (): string[] => {
      throw new Error('what is this?')
    }
    const decoder = { push, done: () => false, end: () => [], rest: () => ['kept'] }
    const { events, putBack } = decodeStream(body(['data: 1\n\n']).iterable, decoder, 'openai', 100)
    const first = await events.next()
    expect(first).toEqual({ done: false, value: ['kept'] })
    putBack(first)
    expect(await events.next()).toBe(first)
    await expect(events.next()).rejects.toMatchObject({ failure: { kind: 'malformed' } })
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('reads the rest after the last event, so that the connection is reused', async () => {
    const { iterable, state } = body(['data: 1\n\n', 'data: [DONE]\n\n', ': bye\n\n'])
    for await (const events of readEvents(iterable, 'openai', 100)) if (events[0]!.data === '[DONE]') break
    await new Promise(setImmediate)
    expect(state).toEqual({ taken: 3, ended: true, returned: false })
  })

  it('reads no more than 64 KiB of the rest', async () => {
    const { iterable, state } = body(['data: [DONE]\n\n', ...Array<string>(10).fill('x'.repeat(20_000))])
    for await (const _ of readEvents(iterable, 'openai', 100)) break
    await new Promise(setImmediate)
    expect(state).toEqual({ taken: 5, ended: false, returned: true })
  })
})
