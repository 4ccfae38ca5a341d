import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { builtInPrices } from '@turnpike/providers'
import { parsePrometheus } from '../support/prometheus.js'
import { chat } from '../support/raw-client.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const read = async ({ url, key }: Server, path: string): Promise<string> =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).text()
const json = async (server: Server, path: string): Promise<unknown> => JSON.parse(await read(server, path))

it('the reference server returns data to administrators, also from before its start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-admin-'))
  const env = { STORAGE: `fs:${folder}` }
  try {
    const before = await startServer(env)
    await chat(before)
    await chat(before, { stream: true })
    await before.stop()

    const server = await startServer(env)
    await chat(server, { provider: 'auto' })
    expect(await json(server, '/admin/metrics')).toMatchObject({
      total: { requests: 3, errors: {}, error_rate: 0 },
      providers: [{ id: 'openai', requests: 3 }, { id: 'anthropic' }, { id: 'google' }],
    })
    expect(await json(server, '/admin/providers')).toMatchObject({
      providers: [{ id: 'openai', breaker: 'closed' }, { id: 'anthropic' }, { id: 'google' }],
    })
    // The day of the newest of the built-in prices that are in force.
    const { origin } = builtInPrices().table()
    expect(await json(server, '/admin/pricing')).toMatchObject({ source: 'built-in', since: origin.since })
    expect(await json(server, '/admin/users/summary')).toMatchObject({
      users: 1,
      requests: 3,
      data: [{ name: 'Administrator', requests: 3, last_used_at: expect.any(String) as string }],
    })
    expect(await json(server, '/admin/balancer')).toMatchObject({ groups: {}, choices: [] })
    expect(await json(server, '/admin/audit')).toMatchObject({
      data: [
        { action: 'key.create', actor: 'server-start' },
        { action: 'user.create', actor: 'server-start' },
      ],
    })
    const { samples } = parsePrometheus(await read(server, '/metrics')).get('turnpike_requests_total')!
    expect([...samples]).toEqual([['turnpike_requests_total{provider="openai",outcome="complete"}', 3]])
    expect(await server.stop()).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
