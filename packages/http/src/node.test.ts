import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { ApiError } from '@turnpike/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Exchange, Reply } from './exchange.js'
import { createServer } from './node.js'

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
