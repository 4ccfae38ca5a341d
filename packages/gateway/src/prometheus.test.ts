import { memoryKV, usageLedger } from '@turnpike/core'
import { Counter, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { adminGateway } from '../../../test/support/admin.js'
import { errorOf } from '../../../test/support/gateway.js'
import { parsePrometheus } from '../../../test/support/prometheus.js'
import { usageRecord } from '../../../test/support/usage-record.js'
import { conventionRoutes } from './admin-routes.js'
import type { PrometheusOptions } from './prometheus.js'
import { prometheus } from './prometheus.js'

/** A gateway whose ledger has usage records and failures. */
async function setUp(options?: PrometheusOptions) {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  ledger.failed({ provider: 'openai', kind: 'timeout', timestamp: '2026-01-02T00:00:00.000Z' })
  ledger.failed({ provider: 'former', kind: 'refused', timestamp: '2026-01-02T00:00:00.000Z' })
  for (const fields of [
    { latency_ms: 1, first_token_ms: 1 },
    { latency_ms: 100, first_token_ms: 7 },
    { latency_ms: 1_000, first_token_ms: 500 },
    { latency_ms: 1_000_000 },
    { latency_ms: 5, outcome: 'client_abort' as const, cost_nano_usd: null },
  ])
    await ledger.append(usageRecord(fields))
  const at = await adminGateway({ kv, ledger, routes: [conventionRoutes, prometheus(options)] })
  return { ...at, scrape: async (path = '/metrics') => parsePrometheus(await (await at.ask(path)).text()) }
}

describe('GET /metrics', () => {
  it('reports the sums of the ledger, of all processes', async () => {
    const { ask, scrape } = await setUp()
    expect((await ask('/metrics')).headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const families = await scrape()
    const samples = (name: string) => Object.fromEntries(families.get(name)!.samples)
    expect([...families.values()].map(({ name, type }) => [name, type])).toEqual([
      ['turnpike_requests_total', 'counter'],
      ['turnpike_failed_calls_total', 'counter'],
      ['turnpike_tokens_total', 'counter'],
      ['turnpike_cost_usd_total', 'counter'],
      ['turnpike_unpriced_requests_total', 'counter'],
      ['turnpike_request_duration_seconds', 'histogram'],
      ['turnpike_first_token_seconds', 'histogram'],
      ['turnpike_requests_in_flight', 'gauge'],
      ['turnpike_provider_healthy', 'gauge'],
    ])
    expect(samples('turnpike_requests_total')).toEqual({
      'turnpike_requests_total{provider="openai",outcome="complete"}': 4,
      'turnpike_requests_total{provider="openai",outcome="client_abort"}': 1,
    })
    expect(samples('turnpike_failed_calls_total')).toEqual({
      'turnpike_failed_calls_total{provider="openai",kind="timeout"}': 1,
      'turnpike_failed_calls_total{provider="former",kind="refused"}': 1,
    })
    expect(samples('turnpike_tokens_total')).toMatchObject({
      'turnpike_tokens_total{provider="openai",type="prompt"}': 50,
      'turnpike_tokens_total{provider="openai",type="completion"}': 15,
    })
    expect(samples('turnpike_cost_usd_total')).toMatchObject({ 'turnpike_cost_usd_total{provider="openai"}': 0.00022 })
    expect(samples('turnpike_unpriced_requests_total')).toMatchObject({
      'turnpike_unpriced_requests_total{provider="openai"}': 1,
    })
    expect(samples('turnpike_requests_in_flight')).toEqual({ turnpike_requests_in_flight: 0 })
    expect(samples('turnpike_provider_healthy')).toEqual({ 'turnpike_provider_healthy{provider="openai"}': 1 })
  })

  it('has histograms with the buckets of the ledger', async () => {
    const families = await (await setUp()).scrape()
    const of = (name: string) => {
      const samples = [...families.get(name)!.samples].filter(([series]) => series.includes('"openai"'))
      const at = (le: string) => samples.find(([series]) => series.includes(`le="${le}"`))?.[1]
      return { sum: samples.at(-2), count: samples.at(-1), at, buckets: samples.length - 2 }
    }
    const duration = of('turnpike_request_duration_seconds')
    expect(duration.buckets).toBe(34)
    expect(['0.008', '0.09051', '0.128', '1.024', '524.3', '+Inf'].map(duration.at)).toEqual([1, 1, 2, 3, 3, 4])
    expect([duration.sum![1], duration.count![1]]).toEqual([1_001.101, 4])
    const first = of('turnpike_first_token_seconds')
    expect(['0.008', '0.362', '0.512', '+Inf'].map(first.at)).toEqual([2, 2, 3, 3])
    expect([first.sum![1], first.count![1]]).toEqual([0.508, 3])
  })

  it('is for administrators only', async () => {
    const { send } = await setUp()
    expect((await send('GET', '/metrics')).status).toBe(403)
    expect((await send('GET', '/metrics', undefined, { headers: { authorization: '' } })).status).toBe(401)
  })

  it('reads the ledger once per scrape', async () => {
    const { gateway, ask } = await setUp()
    const { providers } = gateway.ledger
    let reads = 0
    gateway.ledger.providers = () => (reads++, providers())
    await ask('/metrics')
    await ask('/metrics')
    expect(reads).toBe(2)
  })

  it('fails if the ledger cannot be read, and recovers', async () => {
    const { gateway, ask, scrape } = await setUp()
    const { providers } = gateway.ledger
    gateway.ledger.providers = () => Promise.reject(new Error('Disk'))
    const response = await ask('/metrics')
    expect([response.status, await errorOf(response)]).toMatchObject([500, { code: 'internal_error' }])
    gateway.ledger.providers = providers
    expect((await scrape()).size).toBe(9)
  })

  it('is served at the configured path, with custom and process metrics', async () => {
    const registry = new Registry()
    new Counter({ name: 'mine_total', help: 'Mine.', registers: [registry] }).inc(3)
    const { scrape, ask } = await setUp({ registry, path: '/admin/prometheus', processMetrics: true })
    expect((await ask('/metrics')).status).toBe(404)
    const families = await scrape('/admin/prometheus')
    expect([...families.keys()]).toEqual(
      expect.arrayContaining(['mine_total', 'turnpike_requests_total', 'process_cpu_user_seconds_total']),
    )
    // Metrics that are read from the ledger are not reset.
    registry.resetMetrics()
    expect(
      Object.fromEntries((await scrape('/admin/prometheus')).get('turnpike_requests_total')!.samples),
    ).toMatchObject({
      'turnpike_requests_total{provider="openai",outcome="complete"}': 4,
    })
  })
})
