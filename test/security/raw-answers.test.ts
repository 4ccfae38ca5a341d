import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RawUpstream } from '../support/raw-upstream.js'
import { end, rawUpstream } from '../support/raw-upstream.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const CHUNK = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_770_933_892,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, delta: { content: 'first' }, finish_reason: null }],
})}\n\n`

/** What is refused before it is a request. */
const malformed: [what: string, bytes: string][] = [
  ['garbage', 'hello\r\n\r\n'],
  ['a head of 20 kB', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`],
]
const intruders: [what: string, bytes: string][] = [
  // Bun answers these itself, whatever it is sending.
  ...(runtime === 'bun' ? [] : malformed),
  ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n'],
  ['a body that is none', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a size\r\n'],
]

describe('threat 38: a raw answer inside another', () => {
  let upstream: RawUpstream
  let server: Server
  /** Lets the upstream go on. */
  let release = (): void => undefined
  beforeAll(async () => {
    upstream = await rawUpstream()
    server = await startServer({ OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-upstream' })
  })
  afterEach(() => release())
  afterAll(async () => {
    await server.stop()
    await upstream.close()
  })

  const requestOf = (body: object): string => {
    const json = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], ...body })
    return (
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
    )
  }

  /** An open connection, and all that came back on it. */
  function open(): { socket: Socket; seen(): string; closed: Promise<unknown> } {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    let seen = ''
    socket.on('data', (data) => void (seen += data.toString()))
    socket.on('error', () => undefined)
    return { socket, seen: () => seen, closed: once(socket, 'close') }
  }

  it.each(intruders)('a running stream is cut off, with nothing written into it: %s', async (_, bytes) => {
    const held = new Promise<void>((resolve) => (release = resolve))
    upstream.script = [
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n',
      CHUNK,
      held,
      end,
    ]
    const { socket, seen, closed } = open()
    socket.write(requestOf({ stream: true }))
    await expect.poll(seen).toContain('first')
    socket.write(bytes)
    // Bun reads on only after the answer.
    if (runtime === 'bun') release()
    await closed
    expect(seen().match(/HTTP\/1\.1 /g)).toHaveLength(1)
  })

  it.each(intruders)('a request that waits for its answer gets no other: %s', async (_, bytes) => {
    const requests = upstream.requests
    const held = new Promise<void>((resolve) => (release = resolve))
    upstream.script = [held, end]
    const { socket, seen, closed } = open()
    socket.write(requestOf({}))
    await expect.poll(() => upstream.requests).toBe(requests + 1)
    socket.write(bytes)
    await closed
    expect(seen()).toBe('')
  })
})
