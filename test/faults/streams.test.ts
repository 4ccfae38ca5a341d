import { describe, expect, it } from 'vitest'
import type { Step } from '../support/raw-upstream.js'
import { end, rawUpstream, reset } from '../support/raw-upstream.js'
import type { Family } from './families.js'
import { ask, families, helloSeen, helloStream } from './families.js'
import { expectAnswer, expectStream } from './replies.js'
import { startServerFor, useServer } from './server.js'
import { answer, begun, bytewise, chunkedHead, closingHead, inCharacters, piece, stream } from './wire.js'

interface Framing {
  name: string
  upstream: Step[]
  /** What the client gets; default the same as of the plain stream. */
  seen?: string
}

const wide = 'Grüße 日本語 🙂'
const fourMegabytes = 'é"\\n'.repeat(1024 * 1024)

function framings(family: Family): Framing[] {
  const { start, finish, done, seenEnd } = family.hello
  const events = helloStream(family)
  const text = events.join('')
  const ofText = (content: string): Omit<Framing, 'name'> => ({
    upstream: stream(...family.opening(content), ...finish, ...done),
    seen: family.openingSeen(content) + seenEnd,
  })
  return [
    { name: 'plain', upstream: stream(...events) },
    { name: 'in one write', upstream: [`${chunkedHead}${piece(text)}${piece()}`] },
    { name: 'ended by the end of the connection', upstream: [closingHead, text, end] },
    { name: 'byte by byte', upstream: [closingHead, ...bytewise(text), end] },
    { name: 'byte by byte in chunks of one', upstream: begun(text.split(''), piece()) },
    { name: 'CRLF', upstream: stream(...events.map((line) => line.replaceAll('\n', '\r\n'))) },
    { name: 'CRLF, byte by byte', upstream: [closingHead, ...bytewise(text.replaceAll('\n', '\r\n')), end] },
    { name: 'CR', upstream: stream(...events.map((line) => line.replaceAll('\n', '\r'))) },
    { name: 'no space after data:', upstream: stream(...events.map((line) => line.replace('data: ', 'data:'))) },
    { name: 'a byte order mark', upstream: stream('\uFEFF', ...events) },
    {
      name: 'comments, pings and other fields between',
      upstream: stream(
        ': ping\n\n',
        ...events.map(
          (line, i) => `id: ${i}\nretry: 100\nevent: message\n${line}:\n\nevent: ping\ndata: {"type":"ping"}\n\n`,
        ),
      ),
    },
    {
      name: 'an event over several data lines',
      upstream: stream(...events.map((line) => line.replace(',"', ',\ndata: "'))),
    },
    { name: 'a finish without its blank line', upstream: stream([...start, ...finish].join('').trimEnd()) },
    { name: 'a last event without its blank line', upstream: stream(text.trimEnd()) },
    {
      name: 'half an event after the finish',
      upstream: stream(...start, ...finish, family.text('!').slice(0, -9)),
    },
    {
      name: 'characters cut in two',
      ...ofText(wide),
      upstream: [closingHead, ...inCharacters([...family.opening(wide), ...finish, ...done].join('')), end],
    },
    { name: 'an event of 4 MB', ...ofText(fourMegabytes) },
  ]
}

const at = useServer()

describe.each(families)('a complete stream of $name', (family) => {
  it.each(framings(family))('$name', async ({ upstream, seen = helloSeen(family) }) => {
    at.upstream.script = upstream
    expectStream(await ask(at.server, family, { stream: true }), seen)
    expect(at.upstream.requests).toBe(1)
  })

  it('leaves its connection reusable', async () => {
    const upstream = await rawUpstream()
    const server = await startServerFor(upstream.url)
    for (const requests of [1, 2, 3]) {
      // The client may have the whole stream before the upstream has ended it.
      const ended = new Promise<void>((resolve) => {
        function* script(): Generator<Step> {
          yield* [chunkedHead, piece(helloStream(family).join('')), 20, piece()]
          resolve()
        }
        upstream.script = script()
      })
      expectStream(await ask(server, family, { stream: true }), helloSeen(family))
      await ended
      expect([upstream.requests, upstream.connections]).toEqual([requests, 1])
    }
    await server.stop()
    await upstream.close()
  })
})

// Gemini's streams are over when they end.
describe.each(families.filter(({ hello }) => hello.done.length > 0))(
  'a stream of $name with an end event',
  (family) => {
    const { start, finish } = family.hello
    const events = helloStream(family)
    it.each<[string, Step[]]>([
      ['or does not say so', stream(...start, ...finish)],
      ['or does not say so, ended by the end of the connection', [closingHead, ...start, ...finish, end]],
      ['and is then reset', begun(events, 20, reset)],
      ['and then goes on', stream(...events, family.text('!'), 'data: {"half')],
      ['and then fails', stream(...events, family.error(500, 'Secret'))],
    ])('%s', async (_, script) => {
      at.upstream.script = script
      expectStream(await ask(at.server, family, { stream: true }), helloSeen(family))
      expect(at.upstream.requests).toBe(1)
    })
  },
)

describe.each(families)('an answer of $name in one piece', (family) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  const body = family.answer(wide)
  it.each<[string, Step[]]>([
    ['of declared length', [answer(200, body)]],
    ['byte by byte', bytewise(answer(200, body))],
    ['in chunks', [`${head}transfer-encoding: chunked\r\n\r\n`, ...body.split(/(?=")/).map(piece), piece()]],
    ['ended by the end of the connection', [`${head}connection: close\r\n\r\n`, ...bytewise(body), end]],
  ])('%s', async (_, script) => {
    at.upstream.script = script
    expectAnswer(await ask(at.server, family), family.answerSeen(wide))
    expect(at.upstream.requests).toBe(1)
  })
})
