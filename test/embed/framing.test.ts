import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Reply } from '@turnpike/http'
import { nodeShell } from '@turnpike/http'
import { afterEach, describe, expect, it } from 'vitest'
import type { Host } from './setup.js'
import { serve } from './setup.js'

let host: Host
afterEach(() => host.close())

/** All bytes that come back for `requests`, of which each is answered by the pieces of its path. */
async function bytesOf(requests: string, bodies: Record<string, () => AsyncIterable<string | Uint8Array>>) {
  const reply = (path: string): Reply => ({
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: bodies[path]!(),
  })
  const listener = nodeShell(async ({ path }) => reply(path))
  host = await serve((request, response) => void listener(request, response))
  const { port, hostname } = new URL(host.url)
  const socket = connect(Number(port), hostname)
  socket.write(requests)
  const bytes: Buffer[] = []
  socket.on('data', (piece) => bytes.push(piece))
  await once(socket, 'close')
  return Buffer.concat(bytes).toString()
}

/** The bytes after the head of a reply whose body has these pieces, to the end of the connection. */
async function bodyOf(version: string, pieces: (string | Uint8Array)[]): Promise<string> {
  const body = async function* () {
    yield* pieces
  }
  const text = await bytesOf(`GET / HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`, { '/': body })
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

const utf8 = new TextEncoder()

describe('a streamed body', () => {
  it('is framed by its byte length, without empty chunks', async () => {
    expect(await bodyOf('1.1', ['Hello', '', 'Ça va 🙂', utf8.encode('é'), new Uint8Array()])).toBe(
      '5\r\nHello\r\nb\r\nÇa va 🙂\r\n2\r\né\r\n0\r\n\r\n',
    )
  })

  it('follows its head, also if it starts with an empty chunk', async () => {
    expect(await bodyOf('1.1', ['', new Uint8Array(), 'Hello', 'you'])).toBe('5\r\nHello\r\n3\r\nyou\r\n0\r\n\r\n')
  })

  it('waits for the previous response on its connection', async () => {
    let goOn = (): void => undefined
    const begun = new Promise<void>((resolve) => (goOn = resolve))
    const text = await bytesOf(
      'GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      {
        async *'/first'() {
          yield 'a'
          await begun
          yield 'b'
          yield 'c'
        },
        async *'/second'() {
          yield 'x'
          yield 'y'
          goOn()
          await delay(20)
          yield 'z'
        },
      },
    )
    const bodies = text.split(/HTTP\/1.1 200 OK\r\n/).map((reply) => reply.slice(reply.indexOf('\r\n\r\n') + 4))
    expect(bodies.slice(1)).toEqual([
      '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n',
      '1\r\nx\r\n1\r\ny\r\n1\r\nz\r\n0\r\n\r\n',
    ])
  })

  it('is not framed for clients of HTTP/1.0', async () => {
    expect(await bodyOf('1.0', ['Hello', ' 🙂', utf8.encode('é')])).toBe('Hello 🙂é')
  })
})
