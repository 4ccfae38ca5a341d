import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, programs } from '../support/needs.js'
import { postgres, startPostgres } from '../support/postgres.js'
import { startRedis } from '../support/redis.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const engines = [
  {
    name: 'Redis',
    needed: programs.redis,
    async start() {
      // Otherwise it may lose what it has acknowledged a moment ago.
      const { url, kill, restart, stop } = await startRedis({ appendfsync: ['always'] })
      return { url: `${url}/1`, away: kill, back: restart, stop }
    },
  },
  {
    name: 'PostgreSQL',
    needed: postgres,
    async start() {
      const { url, crash, restart, stop } = await startPostgres()
      return { url, away: crash, back: restart, stop }
    },
  },
]

/** Calls that need the store: a model, a key, a password. */
const calls = (server: Server): [path: string, init: RequestInit][] => {
  const json = { 'content-type': 'application/json' }
  const chat = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })
  return [
    ['/v1/models', { headers: { authorization: `Bearer gw-another-key-${Math.random()}` } }],
    [
      '/v1/chat/completions',
      { method: 'POST', headers: { ...json, authorization: `Bearer ${server.key}` }, body: chat },
    ],
    ['/api/auth', { method: 'POST', headers: json, body: JSON.stringify({ email: 'a@b.example', password: 'wrong' }) }],
  ]
}

describe.each(engines)('$name that is away', ({ needed, start }) => {
  describe('', needs(needed), () => {
    let store: Awaited<ReturnType<typeof start>>
    let server: Server
    beforeAll(async () => {
      store = await start()
      server = await startServer({ STORAGE: store.url })
    })
    afterAll(async () => {
      await server.stop()
      await store.stop()
    })

    it('is a 503 with Retry-After at once, on both surfaces, until it is back', async () => {
      await store.away()
      // A restart would have taken less.
      await sleep(2_500)
      for (const [path, init] of calls(server)) {
        const since = performance.now()
        const response = await fetch(server.url + path, init)
        expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '2'])
        expect(performance.now() - since).toBeLessThan(5_000)
        const text = 'The storage of the server cannot be used at the moment; try again later'
        expect(await response.json()).toEqual({
          error: path.startsWith('/api') ? text : { type: 'server_error', message: text, code: 'storage_unavailable' },
        })
      }
      await store.back()
      const models = () => fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${server.key}` } })
      await expect.poll(async () => (await models()).status, { timeout: 15_000 }).toBe(200)
    })
  })
})
