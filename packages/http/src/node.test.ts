import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer as createHttpServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { ApiError } from '@turnpike/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Exchange, Reply } from './shells/exchange.js'
import { PIPELINED } from './conventions.js'
import { createListener, createServer } from './node.js'

const LIMIT = 10
const utf8 = new TextDecoder()
const replyOf = (status: number, body: string): Reply => ({ status, headers: {}, body })

/** Reads the body in the way that the path names, and sends it back. */
async function echo(exchange: Exchange): Promise<Reply> {
  if (exchange.path === '/refused') return replyOf(401, 'refused')
  if (exchange.path === '/whole') return replyOf(200, utf8.decode(await exchange.bytes(LIMIT)))
  let body = ''
  for await (const chunk of exchange.body()) body += utf8.decode(chunk)
  return replyOf(200, body)
}

describe('a client that asks before it sends its body (Expect: 100-continue)', () => {
  const server = createServer({
    handle: (exchange) => echo(exchange).catch((error: ApiError) => replyOf(error.status, error.message)),
    refuse: (error) => replyOf(error.status, error.message),
  })
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => once(server.close(), 'close'))

  /** Sends the body once it may. @returns whether it was asked for, the status and the answer */
  async function send(path: string, body: string): Promise<[isAskedFor: boolean, status: number, answer: string]> {
    const { port } = server.address() as AddressInfo
    const headers = { expect: '100-continue', 'content-length': body.length }
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent: false, headers })
    let isAskedFor = false
    sent.on('continue', () => {
      isAskedFor = true
      sent.end(body)
    })
    sent.flushHeaders()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const answer = await text(response)
    sent.destroy()
    return [isAskedFor, response.statusCode!, answer]
  }

  it.each(['/whole', '/stream'])('is asked for it where it is read (%s)', async (path) => {
    expect(await send(path, 'a body')).toEqual([true, 200, 'a body'])
  })

  it('is not asked for one that is refused by the head', async () => {
    expect(await send('/refused', 'a body')).toEqual([false, 401, 'refused'])
    expect(await send('/whole', 'x'.repeat(LIMIT + 1))).toEqual([false, 413, expect.stringContaining('larger than')])
  })
})

describe('pipelined requests', () => {
  let running = 0
  let most = 0
  let count = 0
  const server = createServer({
    async handle({ path }) {
      most = Math.max(most, ++running)
      count++
      await new Promise(setImmediate)
      running--
      return replyOf(200, `<${path}>`)
    },
    refuse: (error) => replyOf(error.status, error.message),
  })
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => once(server.close(), 'close'))

  /** Sends so many requests at once, of which the last closes the connection. @returns the bodies of the answers */
  async function send(requests: number): Promise<string[]> {
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const head = (i: number) =>
      `GET /${i} HTTP/1.1\r\nHost: x\r\n${i === requests - 1 ? 'Connection: close\r\n' : ''}\r\n`
    socket.write(Array.from({ length: requests }, (_, i) => head(i)).join(''))
    let seen = ''
    socket.on('data', (data) => void (seen += data.toString()))
    socket.on('error', () => undefined)
    await once(socket, 'close')
    return seen.match(/<.*?>/g) ?? []
  }

  it('run one after the other', async () => {
    const bodies = await send(PIPELINED + 1)
    expect(bodies).toEqual(Array.from({ length: PIPELINED + 1 }, (_, i) => `</${i}>`))
    expect(most).toBe(1)
  })

  it('close the connection where too many wait, and do not run', async () => {
    count = 0
    expect((await send(PIPELINED + 2)).length).toBeLessThanOrEqual(1)
    expect(count).toBe(1)
  })

  it('threat 169: do not run behind an answer that closes the connection', async () => {
    count = 0
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    // The first has no Host.
    socket.write('GET /0 HTTP/1.1\r\n\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 (?:(?!HTTP)[^])*$/)
    expect(count).toBe(0)
  })
})

describe('a request that Node runs beside an earlier one of its connection', () => {
  let ended: () => void
  const hasEnded = new Promise<void>((resolve) => (ended = resolve))
  let disconnects = 0
  const listener = createListener({
    handle: async (exchange) => {
      exchange.onDisconnect(() => void disconnects++)
      async function* body() {
        try {
          for (;;) yield 'x'.repeat(10_000)
        } finally {
          ended()
        }
      }
      return { status: 200, headers: {}, body: body() }
    },
    refuse: (error) => replyOf(error.status, error.message),
  })
  // Of an application, which closes the connection with its first answer.
  const server = createHttpServer((request, response) => {
    if (request.url === '/own') response.writeHead(200, { connection: 'close' }).end()
    else listener(request, response)
  })
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => once(server.close(), 'close'))

  it('threat 169: ends with the connection, also without a socket of its own', async () => {
    disconnects = 0
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /own HTTP/1.1\r\nHost: x\r\n\r\nGET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 OK(?:(?!HTTP)[^])*$/)
    await hasEnded
    await new Promise(setImmediate)
    expect(disconnects).toBe(1)
  })
})
