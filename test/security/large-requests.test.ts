import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServerFor } from '../faults/server.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'

let server: Server
let upstream: HttpServer
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":{"type":"invalid_request_error","message":"No"}}')
    })
  })
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  server = await startServerFor(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`)
})
afterAll(async () => {
  await server.stop()
  upstream.close().closeAllConnections()
})

const hi = { role: 'user', content: 'Hi' }
const repeat = <T>(n: number, value: T): T[] => Array.from({ length: n }, () => value)
const call = { id: 'x'.repeat(60), type: 'function', function: { name: 'f', arguments: '{}' } }
const fields = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`field${i}`, 1]))

async function send(model: string, given: object): Promise<{ status: number; message: string }> {
  const response = await fetch(new URL('/v1/chat/completions', server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [hi], ...given }),
  })
  const { error } = (await response.json()) as { error: { type: string; message: string } }
  expect(error.type).toBe('invalid_request_error')
  return { status: response.status, message: error.message }
}

describe(`threat 40: requests that take far more work than their bytes, on ${runtime}`, () => {
  /** Milliseconds for a request that takes a fraction of a second on a machine with nothing else to do. In quadratic time it took 45 s. */
  const MOST = 20_000

  it.each(['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash'])('%s gets 19,000 tool calls in time', async (model) => {
    const messages = [hi, ...repeat(5, { role: 'assistant', tool_calls: repeat(3_800, call) })]
    const begin = performance.now()
    expect(await send(model, { messages })).toEqual({ status: 400, message: 'No' })
    expect(performance.now() - begin).toBeLessThan(MOST)
  })

  it.each<[what: string, given: object, message: string]>([
    ['values', { metadata: repeat(200_000, {}) }, 'The request body has more than 400000 values'],
    ['fields', fields(100_000), 'The request body has more than 100000 fields'],
    ['messages', { messages: repeat(10_001, hi) }, 'messages must have at most 10000'],
    ['tools', { tools: repeat(4_097, { type: 'function', function: { name: 'f' } }) }, 'must have at most 4096'],
    ['tool calls', { messages: [{ role: 'assistant', tool_calls: repeat(4_097, call) }] }, 'must have at most 4096'],
    [
      'parts',
      { messages: [{ ...hi, content: repeat(10_001, { type: 'text', text: 'a' }) }] },
      'must have at most 10000',
    ],
  ])('refuses too many %s', async (_, given, message) => {
    expect(await send('gpt-4o', given)).toEqual({ status: 400, message: expect.stringContaining(message) })
  })
})
