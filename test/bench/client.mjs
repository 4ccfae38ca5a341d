/** A lean HTTP/1.1 client: one keep-alive connection, one request at a time, latin-1 throughout (the bench is ASCII). */
import { connect as connectSocket } from 'node:net'

/** The longest silence before a request counts as failed, in milliseconds. */
const SILENCE_MS = 20_000

/** The bytes of a POST to a chat endpoint. */
export function chatBytes({ port, headers }, body) {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': body.length,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`, 'latin1')
}

/** Takes an HTTP/1.1 response apart as it arrives. `feed` returns true when it is whole. */
function responseReader() {
  let rest = ''
  let length
  let last = false
  const response = { status: 0, body: '', reads: 0, firstAt: 0, retryAfter: 0 }

  const readHead = () => {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return false
    response.status = Number(rest.slice(9, 12))
    const head = rest.slice(0, end + 2)
    rest = rest.slice(end + 4)
    length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? -1)
    response.retryAfter = Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 0)
    // Without a body (RFC 9110, section 15.4.5).
    if (response.status === 304) length = 0
    if (length === -1 && !/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('the answer has no length')
    return true
  }

  const readChunks = () => {
    for (;;) {
      if (last) return rest.startsWith('\r\n')
      const start = rest.indexOf('\r\n') + 2
      if (start === 1) return false
      const size = parseInt(rest, 16)
      if (size === 0) last = true
      else if (rest.length < start + size + 2) return false
      response.body += rest.slice(start, start + size)
      rest = rest.slice(size === 0 ? start : start + size + 2)
    }
  }

  const readBody = () => {
    if (length === -1) return readChunks()
    response.body += rest
    rest = ''
    return response.body.length >= length
  }

  return {
    response,
    feed(text) {
      rest += text
      if (length === undefined && !readHead()) return false
      const whole = readBody()
      if (response.body !== '') {
        response.reads++
        if (response.firstAt === 0) response.firstAt = performance.now()
      }
      return whole
    },
  }
}

/**
 * Opens a connection. `send` resolves with { status, body, reads, retryAfter (seconds; 0 where none is told), ms, firstMs } and rejects when the
 * connection fails.
 */
export function connect(port) {
  let reader
  let settle
  const socket = connectSocket({ port, host: '127.0.0.1', noDelay: true })
  const fail = (error) => {
    settle?.reject(error)
    settle = undefined
    socket.destroy()
  }
  socket.setTimeout(SILENCE_MS, () => settle && fail(new Error(`silent for ${SILENCE_MS} ms`)))
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.on('data', (piece) => {
    try {
      if (!settle || !reader.feed(piece.latin1Slice())) return
    } catch (error) {
      fail(error)
      return
    }
    const { resolve, startedAt } = settle
    const { firstAt, ...response } = reader.response
    settle = undefined
    resolve({ ...response, ms: performance.now() - startedAt, firstMs: firstAt - startedAt })
  })
  return {
    ready: new Promise((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    }),
    send: (bytes) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(new Error('the connection was closed'))
          return
        }
        reader = responseReader()
        settle = { resolve, reject, startedAt: performance.now() }
        socket.write(bytes)
      }),
    close: () => socket.destroy(),
  }
}
