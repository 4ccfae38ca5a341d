import { once } from 'node:events'
import { connect } from 'node:net'
import { createServer } from '@turnpike/http/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import type { Host, Setup } from './setup.js'
import { listen, setUp } from './setup.js'

let setup: Setup
let host: Host
beforeAll(async () => {
  setup = await setUp()
  host = await listen(createServer(setup.gateway))
})
afterAll(() => host.close())

/** All that comes back for `bytes`, until the server ends the connection. */
async function send(bytes: string) {
  const { port, hostname } = new URL(host.url)
  const socket = connect(Number(port), hostname)
  const pieces: Buffer[] = []
  socket.on('data', (piece) => pieces.push(piece))
  socket.write(bytes)
  await once(socket, 'close')
  const text = Buffer.concat(pieces).toString()
  const [head, body] = text.split('\r\n\r\n') as [string, string]
  const header = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]
  return { status: head.split('\r\n')[0], header, body }
}

const get = (lines: string, version = '1.1'): string => `GET / HTTP/${version}\r\n${lines}\r\n`

const noHost = 'The Host header is missing, malformed or repeated'
const notHttp = 'The request is not valid HTTP'

describe('malformed HTTP', () => {
  it.each<[what: string, bytes: string, status: string, message: string]>([
    ['noise', 'hello\r\n\r\n', '400 Bad Request', notHttp],
    ['a request of TLS', '\x16\x03\x01\x00\xf8\x01\x00', '400 Bad Request', notHttp],
    ['an unknown method', 'BREW / HTTP/1.1\r\nhost: x\r\n\r\n', '400 Bad Request', notHttp],
    ['a header without a name', get('host: x\r\n: y\r\n'), '400 Bad Request', notHttp],
    ['a space before a colon', get('host : x\r\n'), '400 Bad Request', notHttp],
    ['no host', get(''), '400 Bad Request', noHost],
    ['a host with a path', get('host: x/y\r\n'), '400 Bad Request', noHost],
    ['an empty host', get('host:\r\n'), '400 Bad Request', noHost],
    ['two hosts', get('host: x\r\nHost: y\r\n'), '400 Bad Request', noHost],
    ['the same host twice', get('host: x\r\nhost: x\r\n'), '400 Bad Request', noHost],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      '400 Bad Request',
      notHttp,
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      '400 Bad Request',
      notHttp,
    ],
    [
      'a head that is too large',
      get(`host: x\r\nx-large: ${'x'.repeat(20_000)}\r\n`),
      '431 Request Header Fields Too Large',
      'The request headers are too large',
    ],
  ])('is refused with the error body of the gateway: %s', async (_, bytes, status, message) => {
    const reply = await send(bytes)
    expect(reply.status).toBe(`HTTP/1.1 ${status}`)
    expect(reply.header('x-request-id')).toMatch(uuidv7Pattern)
    expect(reply.header('content-type')).toBe('application/json; charset=utf-8')
    const code = status.startsWith('431') ? 'request_too_large' : 'invalid_body'
    expect(JSON.parse(reply.body)).toEqual({ error: { type: 'invalid_request_error', message, code } })
  })

  it('with the method CONNECT is refused', async () => {
    const reply = await send('CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n')
    expect(reply.status).toBe('HTTP/1.1 405 Method Not Allowed')
    expect(reply.header('x-request-id')).toMatch(uuidv7Pattern)
    const error = { type: 'method_not_allowed', message: 'This server is not a proxy', code: 'method_not_allowed' }
    expect(JSON.parse(reply.body)).toEqual({ error })
  })
})

describe('threat 60: a connection that is reset, or not closed, after its last answer', () => {
  const requests = ['CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n', 'hello\r\n\r\n', get('')]
  const open = (allowHalfOpen: boolean) => {
    const { port, hostname } = new URL(host.url)
    return connect({ port: Number(port), host: hostname, allowHalfOpen }).on('error', () => undefined)
  }

  it.each(requests)('does not end the process: %j', async (bytes) => {
    for (let i = 0; i < 10; i++) {
      const socket = open(false)
      socket.write(bytes)
      await once(socket, 'data')
      socket.resetAndDestroy()
    }
    expect((await fetch(host.url)).status).toBe(200)
  })

  it.each(requests)('is ended by the server: %j', async (bytes) => {
    const socket = open(true)
    socket.write(bytes)
    socket.resume()
    // The server has ended its side; without more of it, this side would stay open.
    await once(socket, 'end')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const writing = setInterval(() => socket.write('x'), 500)
    await closed
    clearInterval(writing)
  })
})

describe('unusual but valid HTTP', () => {
  it.each<[what: string, bytes: string]>([
    ['HTTP/1.0 without a host', get('', '1.0')],
    ['a host with a port', get('host: x:80\r\nconnection: close\r\n')],
    ['a host in brackets', get('HOST: [::1]:80\r\nconnection: close\r\n')],
    ['a target in absolute form', 'GET http://x/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    ['an expectation', get('host: x\r\nexpect: something\r\nconnection: close\r\n')],
  ])('is answered: %s', async (_, bytes) => {
    const reply = await send(bytes)
    expect(reply.status).toBe('HTTP/1.1 200 OK')
    expect(reply.header('x-request-id')).toMatch(uuidv7Pattern)
    expect(JSON.parse(reply.body)).toMatchObject({ name: 'turnpike' })
  })
})
