import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RequestEvent } from '@turnpike/gateway'
import { needs, programs, testAll } from '../support/needs.js'
import { chat } from '../support/raw-client.js'
import { startRedis } from '../support/redis.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** A reader of the events of a server, on a connection of its own. */
async function follow({ url, key }: Server, query = '') {
  const sent = request(`${url}/admin/events${query}`, { agent: false, headers: { authorization: `Bearer ${key}` } })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // On Bun, a connection that breaks later is an error of the request as well.
  for (const part of [sent, response]) part.on('error', () => undefined)
  let text = ''
  let onText: (() => void) | undefined
  response.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    onText?.()
  })
  const events = (): RequestEvent[] =>
    text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((block) => /^data: (.*)$/m.exec(block)?.[1] ?? [])
      .map((json) => JSON.parse(json) as RequestEvent)
  return {
    status: response.statusCode,
    text: () => text,
    events,
    until: (count: number): Promise<RequestEvent[]> =>
      new Promise((resolve) => {
        onText = () => {
          if (events().length >= count) resolve(events())
        }
        onText()
      }),
    leave: () => sent.destroy(),
    /** Resolves with whether the stream came to its end. */
    ended: new Promise<boolean>((resolve) => response.on('close', () => resolve(response.complete))),
  }
}

describe('the events of the reference server', () => {
  it('are sent when requests end', async () => {
    const reader = await follow(server)
    expect(reader.status).toBe(200)
    const whole = await chat(server, { messages: [{ role: 'user', content: 'SECRET' }] })
    const streamed = await chat(server, { stream: true })
    const [first, second] = (await reader.until(2)) as [RequestEvent, RequestEvent]
    expect([first.request_id, second.request_id]).toEqual([whole.requestId, streamed.requestId])
    expect([first.stream, second.stream, second.outcome]).toEqual([false, true, 'complete'])
    expect(second.first_token_ms).toBeGreaterThanOrEqual(0)
    expect(reader.text()).not.toMatch(/SECRET|gw-/)
    // Whoever comes later hears of them, too, and who comes back, of what came after.
    const later = await follow(server)
    expect((await later.until(2)).map(({ request_id }) => request_id)).toEqual([whole.requestId, streamed.requestId])
    reader.leave()
    later.leave()
  })

  it('continue while readers connect and disconnect', async () => {
    const staying = await follow(server, '?replay=0')
    const others = await Promise.all(Array.from({ length: 20 }, () => follow(server, '?replay=0')))
    for (const other of others) other.leave()
    await chat(server)
    expect(await staying.until(1)).toHaveLength(1)
    staying.leave()
  })

  it('are for administrators only', async () => {
    expect((await follow({ ...server, key: 'gw-wrong' })).status).toBe(401)
  })

  it('end with the server, which does not wait for their readers', async () => {
    const own = await startServer()
    const readers = await Promise.all([follow(own), follow(own)])
    await chat(own)
    for (const { until } of readers) await until(1)
    expect(await own.stop()).toBe(0)
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual([true, true])
  })
})

describe('the events of several workers', needs(programs.redis), () => {
  it('are sent to the readers of each', needs(testAll), async () => {
    const redis = await startRedis()
    const workers = await startServer({ WORKERS: '3', STORAGE: redis.url })
    const readers: Awaited<ReturnType<typeof follow>>[] = []
    const ids = new Set<string>()
    // One by one, each on a connection of its own: whoever is awake takes all that come at once.
    for (let i = 0; i < 30; i++) {
      if (i % 3 === 0) readers.push(await follow(workers))
      ids.add((await chat(workers)).requestId!)
    }
    const told = await Promise.all(readers.map(async (reader) => (await reader.until(30)).map((one) => one.request_id)))
    expect(new Set(told[0])).toEqual(ids)
    // In one order, so that whoever comes back to another worker misses nothing.
    for (const order of told) expect(order).toEqual(told[0])
    expect(await workers.stop()).toBe(0)
    await redis.stop()
  })
})
