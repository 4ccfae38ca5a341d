import { connect } from 'node:net'
import { createServer } from '@turnpike/http/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testGateway } from '../support/gateway.js'
import { needs, testAll } from '../support/needs.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

// A body that stands still: test/embed/body-cases.ts.

describe('threat 9: slowloris', () => {
  it('Node gives a head 20 seconds, and an idle connection 65', async () => {
    const { gateway } = await testGateway()
    const server = createServer(gateway)
    expect(server.headersTimeout).toBe(20_000)
    expect(server.keepAliveTimeout).toBe(65_000)
    // Bodies have a time-out of their own, for as long as nothing arrives.
    expect(server.requestTimeout).toBe(0)
  })
})

// It takes a minute, of waiting: all at once.
describe.concurrent(`threat 9: slowloris, on ${runtime}`, needs(testAll), () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  /** Sends a text, and then a byte of `rest` each second, if there is any, for as long as the connection lasts. @returns what came back, once it is closed */
  function drip(text: string, rest: string): Promise<string> {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    let seen = ''
    let sent = 0
    socket.on('data', (data) => void (seen += data.toString()))
    socket.on('error', () => undefined)
    socket.write(text)
    const timer = setInterval(() => rest && socket.write(rest[sent++ % rest.length]!), 1_000)
    return new Promise((resolve) =>
      socket.on('close', () => {
        clearInterval(timer)
        resolve(seen)
      }),
    )
  }
  const isAlive = async (): Promise<void> => expect((await fetch(`${server.url}/health`)).status).toBe(200)

  it(
    'ends each connection whose head arrives byte by byte, and those that say nothing',
    { timeout: 120_000 },
    async () => {
      const begin = performance.now()
      const heads = [
        'GET /v1/mod',
        'GET /health HTTP/1.1\r\nHost: x\r\n',
        'GET /health HTTP/1.1\r\nHost: x\r\nX-A: ',
        '',
      ]
      const slow = Array.from({ length: 200 }, (_, i) => drip(heads[i % 4]!, 'x: y\r\n'))
      await isAlive()
      const answers = await Promise.all(slow)
      // What dripped after a whole line may have been no HTTP.
      for (const answer of answers) expect(answer).toMatch(/^(HTTP\/1\.1 (408|400) |)/)
      expect(performance.now() - begin).toBeLessThan(55_000)
      await isAlive()
    },
  )

  it('ends a connection that is idle after an answer', { timeout: 120_000 }, async () => {
    expect(await drip('GET /health HTTP/1.1\r\nHost: x\r\n\r\n', '')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await drip('GET /health HTTP/1.0\r\n\r\n', '')).toMatch(/^HTTP\/1\.1 200 /)
  })

  it(
    'ends each request whose body stands still or trickles, and serves others meanwhile',
    { timeout: 180_000 },
    async () => {
      const requestOf = (target: string, key: string): string =>
        `${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        'Connection: close\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{'
      const targets = ['POST /v1/chat/completions', 'POST /api/auth']
      const begin = performance.now()
      const slow = Array.from({ length: 160 }, (_, i) =>
        drip(requestOf(targets[i % 2]!, server.key), i < 60 ? ' ' : ''),
      )
      await isAlive()
      // Nothing is waited for where there is no key.
      expect(await drip(requestOf(targets[0]!, 'gw-wrong'), ' ')).toMatch(/^HTTP\/1\.1 401 /)
      for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
      // 30 s; Bun tells no progress of a small body, and has two more for a thousand bytes.
      expect(performance.now() - begin).toBeLessThan(55_000)
      await isAlive()
    },
  )

  // Bun reads what is left of it without an end.
  it.skipIf(runtime === 'bun')('ends each connection on which a body goes on behind its answer', async () => {
    for (const target of ['OPTIONS /v1/models', 'HEAD /health', 'GET /health']) {
      const answer = await drip(`${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`, ' ')
      expect(answer).toMatch(/^HTTP\/1\.1 20[04] [^]*\r\n\r\n/)
    }
  })
})
