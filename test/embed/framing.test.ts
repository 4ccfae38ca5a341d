import { once } from 'node:events'
import { connect } from 'node:net'
import type { Reply } from '@turnpike/http'
import { nodeShell } from '@turnpike/http'
import { afterEach, describe, expect, it } from 'vitest'
import type { Host } from './setup.js'
import { serve } from './setup.js'

let host: Host
afterEach(() => host.close())

/** The bytes after the head of a reply whose body has these pieces, to the end of the connection. */
async function bodyOf(version: string, pieces: (string | Uint8Array)[]): Promise<string> {
  const body = (async function* () {
    yield* pieces
  })()
  const reply: Reply = { status: 200, headers: { 'content-type': 'text/plain' }, body }
  const listener = nodeShell(async () => reply)
  host = await serve((request, response) => void listener(request, response))
  const { port, hostname } = new URL(host.url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET / HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`)
  const bytes: Buffer[] = []
  socket.on('data', (piece) => bytes.push(piece))
  await once(socket, 'close')
  const text = Buffer.concat(bytes).toString()
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

const utf8 = new TextEncoder()

describe('a body in pieces', () => {
  it('is framed by its bytes, empty pieces left out', async () => {
    expect(await bodyOf('1.1', ['Hello', '', 'Ça va 🙂', utf8.encode('é'), new Uint8Array()])).toBe(
      '5\r\nHello\r\nb\r\nÇa va 🙂\r\n2\r\né\r\n0\r\n\r\n',
    )
  })

  it('is its bytes alone for clients of HTTP/1.0', async () => {
    expect(await bodyOf('1.0', ['Hello', ' 🙂', utf8.encode('é')])).toBe('Hello 🙂é')
  })
})
