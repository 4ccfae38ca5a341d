import { createUser } from '@turnpike/core'
import type { RouterOptions } from '@turnpike/providers'
import { createRouter, google, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, testGateway } from '../support/gateway.js'

/** A gateway before three providers, and the key of an administrator. @param override answers in place of all providers */
async function setUp(override: () => FakeAnswer | undefined, options: Partial<RouterOptions> = {}) {
  const providers = [
    openai({ id: 'openai', apiKey: 'x', transport: fakeOpenAI({ override }).transport }),
    openai({ id: 'budget', apiKey: 'x', transport: fakeOpenAI({ override }).transport }),
    google({ id: 'google', apiKey: 'x', transport: fakeGoogle({ override }).transport }),
  ]
  const gateway = await testGateway({ router: createRouter({ providers, ...options }) })
  const { id } = await createUser(gateway.kv, { role: 'admin' })
  const admin = (await gateway.gateway.keys.create(id, { name: 'admin' })).key
  const health = (key: string) =>
    gateway.send('GET', '/health/providers', undefined, { headers: { authorization: key && `Bearer ${key}` } })
  return { ...gateway, admin, health }
}

describe('GET /health/providers', () => {
  it('is for administrators', async () => {
    const { health, key, admin } = await setUp(() => undefined)
    expect((await health('')).status).toBe(401)
    expect((await health(key)).status).toBe(403)
    const response = await health(admin)
    const fresh = { status: 'healthy', failures: 0, last_failure: null, next_try: null }
    expect([response.status, await response.json()]).toEqual([
      200,
      { status: 'ok', providers: ['openai', 'budget', 'google'].map((id) => ({ id, ...fresh })) },
    ])
  })

  it('reports the health from real traffic', async () => {
    const now = () => Date.UTC(2026, 0, 2)
    const { health, admin, chat } = await setUp(() => answer('', 500), { failures: 1, restMs: 60_000, now })
    const states: unknown[] = []
    for (const provider of ['openai', 'budget', 'google']) {
      const model = provider === 'google' ? 'gemini-2.5-flash' : 'gpt-4o'
      expect((await chat({ model, provider })).status).toBe(502)
      states.push(((await (await health(admin)).json()) as { status: string }).status)
    }
    expect(states).toEqual(['degraded', 'degraded', 'unavailable'])
    const { providers } = (await (await health(admin)).json()) as { providers: unknown[] }
    const rests = { status: 'unhealthy', failures: 1, last_failure: 'status', next_try: '2026-01-02T00:01:00.000Z' }
    expect(providers[0]).toEqual({ id: 'openai', ...rests })
  })
})
