import { request as httpRequest, Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUser, gatewayKeys, usageLedger, verifyStore } from '@turnpike/core'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { openStorage } from '../../packages/turnpike/src/storage.js'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { runtime } from '../support/runtime.js'
import { sample, thorough } from '../support/scope.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const ADMIN_ID = '00000000-0000-7000-8000-000000000001'
const REQUESTS = thorough ? 6_000 : 600
const LIMIT = REQUESTS / 3
const CALLERS = 64
const shared = engines.filter(({ name }) => ['redis', 'postgres'].includes(name))

const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })

let servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  servers = []
})
afterAll(endEngines)

/** Asks for a completion over a connection that is kept. @returns the status */
const ask = (agent: Agent, { url }: Server, key: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const call = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
    call.on('error', reject).end(body)
  })

describe(`servers that share a store, on ${runtime}`, () => {
  const cases = shared.flatMap((engine) => [2, 4].map((processes) => ({ ...engine, processes })))
  for (const { name, processes, needed, create } of sample(cases))
    it(
      `share keys, limits and usage exactly: ${processes} on ${name}`,
      { ...needs(...needed), timeout: 120_000 },
      async () => {
        const STORAGE = await create()
        const settings = { STORAGE, LOG: 'silent', BOOTSTRAP_GATEWAY_RATE_LIMIT: String(LIMIT) }
        servers = await Promise.all(Array.from({ length: processes }, () => startServer(settings)))
        const agent = new Agent({ keepAlive: true, maxSockets: CALLERS })
        let left = REQUESTS
        const statuses = new Map<number, number>()
        const begun = performance.now()
        await Promise.all(
          Array.from({ length: CALLERS }, async (_, caller) => {
            for (let i = caller; left-- > 0; i++) {
              const server = servers[i % processes]!
              const status = await ask(agent, server, server.key)
              statuses.set(status, (statuses.get(status) ?? 0) + 1)
            }
          }),
        )
        const seconds = (performance.now() - begun) / 1000
        expect(seconds, 'all in one window').toBeLessThan(60)
        expect(new Map([...statuses].toSorted())).toEqual(
          new Map([
            [200, LIMIT],
            [429, REQUESTS - LIMIT],
          ]),
        )

        const { kv } = await openStorage(STORAGE)
        try {
          expect(await usageLedger(kv).totals('user', ADMIN_ID)).toMatchObject({ requests: LIMIT })
          const problems: string[] = []
          for await (const problem of verifyStore(kv)) problems.push(problem)
          expect(problems).toEqual([])

          // They remember a key for seconds, which is long to wait for.
          if (!thorough) return
          // A key that all of them know is revoked by somebody else.
          await createUser(kv, { id: 'ada' })
          const keys = gatewayKeys(kv)
          const { id, key } = await keys.create('ada', { name: 'short', rateLimit: 1e6 })
          for (const server of servers) expect(await ask(agent, server, key)).toBe(200)
          await sleep(500)
          for (const server of servers) expect(await ask(agent, server, key)).toBe(200)
          await keys.revoke(id)
          const revoked = performance.now()
          const refused = await Promise.all(
            servers.map(async (server) => {
              while ((await ask(agent, server, key)) === 200) await sleep(20)
              return performance.now() - revoked
            }),
          )
          expect(Math.max(...refused)).toBeLessThan(15_000)
          for (const server of servers) expect(await ask(agent, server, key)).toBe(401)
          console.log(
            `${processes} on ${name}: ${LIMIT} of ${REQUESTS} passed in ${seconds.toFixed(1)} s;`,
            `revoked everywhere after ${(Math.max(...refused) / 1000).toFixed(1)} s`,
          )
        } finally {
          agent.destroy()
          await kv.close()
        }
      },
    )
})
