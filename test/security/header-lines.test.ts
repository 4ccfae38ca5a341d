import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

describe('threat 21: header lines that push out those of the proxy', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer({ TRUSTED_HOPS: '1' })
  })
  afterAll(() => server.stop())

  /** The status of a failed sign-in as a proxy passes it on that appends its line. @param lines of the client's own */
  async function signIn(n: number, lines: number): Promise<number> {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    const body = JSON.stringify({ email: `nobody-${n}@example.org`, password: 'a wrong password' })
    socket.write(
      'POST /api/auth HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${body.length}\r\nX-Forwarded-For: 198.51.100.${n}\r\n` +
        `${'a:\r\n'.repeat(lines)}X-Forwarded-For: 192.0.2.1\r\n\r\n${body}`,
    )
    return Number((await text(socket)).split(' ')[1])
  }

  it.each([100, 2_100, 12_000])('are all read, or the request is refused: %i of them', async (lines) => {
    const statuses: Record<number, number> = {}
    for (let n = 0; n < 60; n++) {
      const status = await signIn(n, lines)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    // Thirty failures a minute are allowed to an address, and none was left from the first time.
    expect(statuses).not.toHaveProperty('200')
    expect(statuses[401] ?? 0).toBeLessThanOrEqual(30)
    expect((statuses[429] ?? 0) + (statuses[431] ?? 0)).toBeGreaterThanOrEqual(30)
  })
})
