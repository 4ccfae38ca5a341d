import { describe, expect, it } from 'vitest'
import { chat, openChat } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import { end, rawUpstream, reset } from '../support/raw-upstream.js'
import { startServer } from '../support/server.js'
import { expectAnswer, expectStream } from './replies.js'
import { useServer } from './server.js'
import {
  answer,
  begun,
  bytewise,
  chunkedHead,
  closingHead,
  completion,
  done,
  errorEvent,
  errors,
  event,
  given,
  hello,
  helloSeen,
  helloStream,
  piece,
  seen,
  stream,
  usage,
  usageGiven,
} from './wire.js'

const at = useServer()

interface Framing {
  name: string
  upstream: Step[]
  /** What the client gets; default the same as of the plain stream. */
  seen?: string
}

const text = helloStream.join('')
const wide = 'Grüße 日本語 🙂'
const wideStream = [given({ role: 'assistant', content: wide }), hello.finish, done]
const wideSeen = seen({ role: 'assistant', content: wide }) + hello.seenEnd
const megabytes = (n: number): string => 'é"\\n'.repeat((n * 1024 * 1024) / 4)
const longStream = [given({ role: 'assistant', content: megabytes(4) }), hello.finish, done]
const preamble = event({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [] })

const whole: Framing[] = [
  { name: 'plain', upstream: stream(...helloStream) },
  { name: 'in one write', upstream: [`${chunkedHead}${piece(text)}${piece()}`] },
  { name: 'ended by the end of the connection', upstream: [closingHead, text, end] },
  { name: 'without [DONE]', upstream: stream(...hello.start, hello.finish) },
  {
    name: 'without [DONE], ended by the end of the connection',
    upstream: [closingHead, ...helloStream.slice(0, -1), end],
  },
  { name: 'reset after [DONE]', upstream: begun(helloStream, 20, reset) },
  { name: 'something after [DONE]', upstream: stream(...helloStream, given({ content: '!' }), 'data: {"half') },
  { name: 'byte by byte', upstream: [closingHead, ...bytewise(text), end] },
  { name: 'byte by byte in chunks of one', upstream: begun(text.split(''), piece()) },
  { name: 'CRLF', upstream: stream(...helloStream.map((line) => line.replaceAll('\n', '\r\n'))) },
  { name: 'CRLF, byte by byte', upstream: [closingHead, ...bytewise(text.replaceAll('\n', '\r\n')), end] },
  { name: 'CR', upstream: stream(...helloStream.map((line) => line.replaceAll('\n', '\r'))) },
  { name: 'no space after data:', upstream: stream(...helloStream.map((line) => line.replace('data: ', 'data:'))) },
  { name: 'a byte order mark', upstream: stream('\uFEFF', ...helloStream) },
  {
    name: 'comments, pings and other fields between',
    upstream: stream(
      ': ping\n\n',
      ...helloStream.map(
        (line, i) => `id: ${i}\nretry: 100\nevent: message\n${line}:\n\nevent: ping\ndata: {"type":"ping"}\n\n`,
      ),
    ),
  },
  {
    name: 'an event over several data lines',
    upstream: stream(...helloStream.map((line) => line.replace(',"', ',\ndata: "'))),
  },
  { name: 'a finish without its blank line', upstream: stream(...hello.start, hello.finish.trimEnd()) },
  { name: '[DONE] without its blank line', upstream: stream(...hello.start, hello.finish, done.trimEnd()) },
  { name: 'half an event after the finish', upstream: stream(...hello.start, hello.finish, usageGiven.slice(0, -30)) },
  { name: 'characters cut in two', upstream: [closingHead, ...bytewise(wideStream.join('')), end], seen: wideSeen },
  {
    name: 'an event of 4 MB',
    upstream: stream(...longStream),
    seen: seen({ role: 'assistant', content: megabytes(4) }) + hello.seenEnd,
  },
  { name: 'a preamble without choices', upstream: stream(preamble, ...helloStream) },
  { name: 'usage that was not asked for', upstream: stream(...hello.start, hello.finish, usageGiven, done) },
  {
    name: 'usage on every chunk',
    upstream: stream(...helloStream.map((line) => line.replace('}\n', ',"usage":null}\n'))),
  },
  { name: 'padding', upstream: stream(...helloStream.map((line) => line.replace('}\n', ',"obfuscation":"x9"}\n'))) },
  {
    name: 'the role in every chunk',
    upstream: stream(
      ...helloStream.map((line) => line.replace('"delta":{"content"', '"delta":{"role":"assistant","content"')),
    ),
  },
  { name: 'two finishes', upstream: stream(...hello.start, hello.finish, hello.finish, done) },
  {
    name: 'a delta after the finish',
    upstream: stream(...hello.start, hello.finish, given({ content: '!' }), done),
    seen: hello.seen + seen({ content: '!' }) + hello.seenEnd,
  },
]

describe('a stream that is whole', () => {
  it.each(whole)('$name', async ({ upstream, seen: wanted = helloSeen }) => {
    at.upstream.script = upstream
    expectStream(await chat(at.server, { stream: true }), wanted)
    expect(at.upstream.requests).toBe(1)
  })

  it.each([
    ['alone', [...hello.start, hello.finish, usageGiven]],
    ['with the finish and again alone', [...hello.start, given({}, 'stop', { usage }), usageGiven]],
    ['with the finish only', [...hello.start, given({}, 'stop', { usage })]],
    [
      'on every chunk, growing',
      [
        ...hello.start.map((line, i) =>
          line.replace('}\n', `,"usage":{"prompt_tokens":9,"completion_tokens":${i}}}\n`),
        ),
        hello.finish,
        usageGiven,
      ],
    ],
  ])('tells usage once, last: %s', async (_, events) => {
    at.upstream.script = stream(...events, done)
    const reply = await chat(at.server, { stream: true, stream_options: { include_usage: true } })
    const chunks = helloSeen.replaceAll('}]}\n', '}],"usage":null}\n')
    const last = hello.seenEnd
      .slice(0, -done.length)
      .replace(/"choices".*\n/, `"choices":[],"usage":${JSON.stringify(usage)}}\n`)
    expectStream(reply, chunks.slice(0, -done.length) + last + done)
  })

  it('leaves its connection to the next', async () => {
    const upstream = await rawUpstream()
    upstream.script = [chunkedHead, piece(text), 20, piece()]
    const server = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${upstream.url}/v1` })
    for (const requests of [1, 2, 3]) {
      expectStream(await chat(server, { stream: true }), helloSeen)
      // The client has the whole stream before the upstream has ended it.
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect([upstream.requests, upstream.connections]).toEqual([requests, 1])
    }
    await server.stop()
    await upstream.close()
  })

  it('keeps two choices apart, and ends both', async () => {
    const second = (line: string): string => line.replace('"index":0', '"index":1')
    const [start, first, last] = hello.start as [string, string, string]
    const bye = second(given({ content: 'Bye' }))
    at.upstream.script = stream(start, bye, first, second(given({}, 'length')), last, hello.finish, done)
    const other = [seen({ role: 'assistant', content: 'Bye' }), seen({}, 'length')].map(second)
    const [begins, ...goes] = hello.seen.split(/(?<=\n\n)/)
    const wanted = [begins, other[0], ...goes, seen({}, 'stop'), other[1], done].join('')
    expectStream(await chat(at.server, { stream: true, n: 2 }), wanted)
  })
})

interface Break {
  name: string
  /** What the upstream does once the client has its three chunks. */
  next: Step[]
  /** What the client gets after them, before the error; default nothing. */
  seen?: string
  error: string
}

const breaks: Break[] = [
  { name: 'a reset', next: [reset], error: errors.truncated },
  { name: 'an end without the last chunk', next: [end], error: errors.truncated },
  { name: 'a reset within a chunk', next: [piece(hello.finish).slice(0, -20), 20, reset], error: errors.truncated },
  { name: 'a chunk whose size is no number', next: ['what?\r\n'], error: errors.truncated },
  { name: 'a clean end without a finish', next: [piece()], error: errors.truncated },
  { name: '[DONE] without a finish', next: [piece(done), piece()], error: errors.truncated },
  { name: 'half a finish', next: [piece(hello.finish.slice(0, -9)), piece()], error: errors.truncated },
  { name: 'a finish and then a reset', next: [piece(hello.finish), 20, reset], error: errors.truncated },
  {
    name: 'a finish and then an end without the last chunk',
    next: [piece(hello.finish), end],
    error: errors.truncated,
  },
  {
    name: 'an error event',
    next: [piece(event({ error: { message: 'Secret stack trace', type: 'server_error', code: null } })), piece()],
    error: errors.failed,
  },
  {
    name: 'a chunk and an error event',
    next: [piece(given({ content: '!' })), 20, piece(event({ error: 'Secret' })), piece()],
    seen: seen({ content: '!' }),
    error: errors.failed,
  },
  {
    name: 'a chunk and an error event in one write',
    next: [piece(given({ content: '!' }) + event({ error: 'Secret' })), piece()],
    seen: seen({ content: '!' }),
    error: errors.failed,
  },
  {
    name: 'a chunk and an end without a finish in one write',
    next: [piece(given({ content: '!' }) + done) + piece()],
    seen: seen({ content: '!' }),
    error: errors.truncated,
  },
  {
    name: 'an error event after the finish',
    next: [piece(hello.finish), 20, piece(event({ error: { message: 'Secret' } })), piece(done), piece()],
    error: errors.failed,
  },
  {
    name: 'an error event in the form of a chunk',
    next: [piece(event({ choices: [], error: { code: 429, message: 'Slow down' } })), piece()],
    error: errors.limited,
  },
  { name: 'an event that is not JSON', next: [piece('data: {"choices":[{\n\n'), piece()], error: errors.senseless },
  { name: 'an event of HTML', next: [piece('data: <html>\n\n'), piece()], error: errors.senseless },
  {
    name: 'an event of 20 MB',
    next: [piece(given({ content: megabytes(20) })), piece(hello.finish)],
    error: errors.senseless,
  },
]

describe('a stream that breaks', () => {
  it.each(breaks)('$name', async ({ next, seen: more = '', error }) => {
    let go = (): void => undefined
    at.upstream.script = begun(hello.start, new Promise<void>((resolve) => (go = resolve)), ...next)
    const call = await openChat(at.server, { stream: true })
    await call.seen(hello.seen)
    go()
    expectStream(await call.reply, hello.seen + more + errorEvent(error))
    expect(at.upstream.requests).toBe(1)
  })

  it('in the read that begins it', async () => {
    at.upstream.script = stream([...hello.start, event({ error: 'Secret' })].join(''))
    expectStream(await chat(at.server, { stream: true }), hello.seen + errorEvent(errors.failed))
  })

  it('without chunks, ended by the end of the connection', async () => {
    at.upstream.script = [closingHead, ...hello.start, end]
    expectStream(await chat(at.server, { stream: true }), hello.seen + errorEvent(errors.truncated))
  })
})

describe('an answer at once', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  const body = completion({ content: wide })
  it.each<[string, Step[]]>([
    ['of declared length', [answer(200, body)]],
    ['byte by byte', bytewise(answer(200, body))],
    ['in chunks', [`${head}transfer-encoding: chunked\r\n\r\n`, ...body.split(/(?=")/).map(piece), piece()]],
    ['ended by the end of the connection', [`${head}connection: close\r\n\r\n`, ...bytewise(body), end]],
  ])('%s', async (_, script) => {
    at.upstream.script = script
    expectAnswer(await chat(at.server), body)
    expect(at.upstream.requests).toBe(1)
  })
})
