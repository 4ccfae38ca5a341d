import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { adminGateway } from '../../../../../test/support/admin.js'
import { answer, errorOf } from '../../../../../test/support/gateway.js'
import { ConfiguredProviders, ProviderProbe } from './providers.js'

const duration_ms = expect.any(Number) as number

async function setUp(options: Parameters<typeof adminGateway>[0] = {}) {
  const at = await adminGateway(options)
  const probe = async (id: string): Promise<ProviderProbe> => {
    const response = await at.command('POST', `/admin/providers/${id}/probe`)
    const body: unknown = await response.json()
    expect([response.status, v.parse(ProviderProbe, body)]).toEqual([200, body])
    return body as ProviderProbe
  }
  return { ...at, probe }
}

describe('POST /admin/providers/{id}/probe', () => {
  it('asks the provider for its models, and neither costs nor counts as a request', async () => {
    const { probe, upstream, gateway, read } = await setUp()
    expect(await probe('openai')).toEqual({ id: 'openai', ok: true, duration_ms, failure: null, status: 200 })
    expect(upstream.requests.map(({ method, path }) => [method, path])).toEqual([['GET', '/v1/models']])
    expect(await gateway.ledger.totals('all', '')).toMatchObject({ requests: 0 })
    expect(await read('/admin/providers', ConfiguredProviders)).toMatchObject({ providers: [{ failures: 0 }] })
  })

  it.each([
    [401, 'credential'],
    [429, 'rate_limited'],
    [400, 'refused'],
    [500, 'status'],
  ])('tells the kind of a failure: %d is %s', async (status, failure) => {
    const { probe } = await setUp({ upstream: () => answer({ error: { message: 'SECRET' } }, status) })
    expect(await probe('openai')).toEqual({ id: 'openai', ok: false, duration_ms, failure, status })
  })

  it('has no status where there is no answer', async () => {
    const transport = () => Promise.reject(new Error('https://internal.example refused SECRET'))
    const { probe } = await setUp({ router: createRouter({ providers: [openai({ apiKey: 'sk-secret', transport })] }) })
    const failed = { id: 'openai', ok: false, duration_ms, failure: 'unavailable', status: null }
    expect(await probe('openai')).toEqual(failed)
  })

  it('is ok where the upstream has no list of models', async () => {
    const { probe } = await setUp({ upstream: () => answer('Not found', 404) })
    expect(await probe('openai')).toMatchObject({ ok: true, failure: null, status: 404 })
  })

  it.each(['none', 'OpenAI', '%00', 'x'.repeat(3_000)])('is 404 for the provider %s', async (id) => {
    const { command } = await setUp()
    const response = await command('POST', `/admin/providers/${id}/probe`)
    expect([response.status, await errorOf(response)]).toMatchObject([404, { code: 'not_found' }])
  })

  it('is 400 for a provider that cannot be asked', async () => {
    const { check: _, ...plain } = openai({ apiKey: 'sk-secret', transport: fakeOpenAI().transport })
    const { command } = await setUp({ router: createRouter({ providers: [plain] }) })
    const response = await command('POST', '/admin/providers/openai/probe')
    expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'unsupported_parameter' }])
  })
})
