import type { UsageRecord } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { anthropic, createRouter } from '@turnpike/providers'
import { fakeAnthropic } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { adminGateway } from '../../../../../test/support/admin.js'
import { answer, errorOf, streamed, chunk } from '../../../../../test/support/gateway.js'
import { usageRecord } from '../../../../../test/support/usage-record.js'
import { MetricsResponse } from './metrics.js'

/** A number that a histogram may have made of `ms`. */
const near = (ms: number): unknown => ({
  asymmetricMatch: (value: unknown) => typeof value === 'number' && Math.abs(value - ms) <= ms * 0.2,
})
const none = { p50: null, p95: null, p99: null }
const nothing = {
  requests: 0,
  errors: {},
  refused: 0,
  error_rate: 0,
  latency_ms: none,
  first_token_ms: none,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost_usd: 0,
  unpriced: 0,
}

/** A gateway whose clock is at 12:30 and whose ledger has these usage records and failures. */
async function gatewayWith(
  records: Partial<UsageRecord>[],
  failed: [provider: string, kind: string, time: string][] = [],
) {
  const at = await adminGateway()
  at.clock.now = Date.parse('2026-01-02T12:30:00Z')
  for (const [provider, kind, timestamp] of failed) at.gateway.ledger.failed({ provider, kind, timestamp })
  await Promise.all(records.map((record) => at.gateway.ledger.append(usageRecord(record))))
  return at
}

describe('GET /admin/metrics', () => {
  it('is empty without requests', async () => {
    const { read } = await gatewayWith([])
    const { series, ...metrics } = await read('/admin/metrics', MetricsResponse)
    expect(metrics).toEqual({
      from: '2026-01-01T13:00:00.000Z',
      hours: 24,
      total: nothing,
      providers: [{ id: 'openai', ...nothing }],
      warnings: [],
    })
    expect(series).toEqual(
      Array.from({ length: 24 }, (_, i) => ({
        time: new Date(Date.UTC(2026, 0, 1, 13 + i)).toISOString(),
        ...nothing,
        by_provider: {},
      })),
    )
  })

  it('sums recorded and failed calls, by provider and by hour', async () => {
    const noon = '2026-01-02T12:05:00.000Z'
    const before = '2026-01-02T11:59:59.999Z'
    const { read } = await gatewayWith(
      [
        ...Array.from({ length: 90 }, () => ({ timestamp: noon, latency_ms: 100, first_token_ms: 30 })),
        ...Array.from({ length: 10 }, () => ({ timestamp: noon, latency_ms: 5_000 })),
        { timestamp: noon, outcome: 'truncated', latency_ms: 60_000, cost_nano_usd: null },
        { timestamp: noon, outcome: 'client_abort' },
        { timestamp: noon, outcome: 'server_shutdown' },
        { timestamp: before, outcome: 'upstream_error' },
        { timestamp: before, outcome: 'idle_timeout', provider: 'former' },
        { timestamp: '2026-01-02T10:59:59.999Z' },
      ],
      [
        ['openai', 'timeout', noon],
        ['openai', 'rate_limited', noon],
        ['openai', 'timeout', before],
        ['openai', 'refused', noon],
      ],
    )
    const latency_ms = { p50: near(100), p95: near(5_000), p99: near(5_000) }
    const first_token_ms = { p50: near(30), p95: near(30), p99: near(30) }
    const openai = {
      requests: 108,
      errors: { timeout: 2, rate_limited: 1, truncated: 1, upstream_error: 1 },
      refused: 1,
      error_rate: 5 / 108,
      latency_ms,
      first_token_ms,
      prompt_tokens: 1_040,
      completion_tokens: 312,
      cost_usd: 103 * 0.000055,
      unpriced: 1,
    }
    const former = {
      ...nothing,
      requests: 1,
      errors: { idle_timeout: 1 },
      error_rate: 1,
      prompt_tokens: 10,
      completion_tokens: 3,
      cost_usd: 0.000055,
    }
    const { total, providers, series } = await read('/admin/metrics?hours=2', MetricsResponse)
    expect(providers).toEqual([
      { id: 'openai', ...openai },
      { id: 'former', ...former },
    ])
    expect(total).toEqual({
      ...openai,
      requests: 109,
      errors: { ...openai.errors, idle_timeout: 1 },
      error_rate: 6 / 109,
      prompt_tokens: 1_050,
      completion_tokens: 315,
      cost_usd: 104 * 0.000055,
    })
    expect(series.map(({ time, requests, errors, by_provider }) => ({ time, requests, errors, by_provider }))).toEqual([
      {
        time: '2026-01-02T11:00:00.000Z',
        requests: 3,
        errors: { timeout: 1, upstream_error: 1, idle_timeout: 1 },
        by_provider: { openai: 2, former: 1 },
      },
      {
        time: '2026-01-02T12:00:00.000Z',
        requests: 106,
        errors: { timeout: 1, rate_limited: 1, truncated: 1 },
        by_provider: { openai: 106 },
      },
    ])
  })

  it('covers the requested hours', async () => {
    const { read } = await gatewayWith([
      { timestamp: '2025-12-03T13:00:00.000Z' },
      { timestamp: '2025-12-03T12:59:59.000Z' },
    ])
    const { from, series, total } = await read('/admin/metrics?hours=720', MetricsResponse)
    expect([from, series.length, total.requests]).toEqual(['2025-12-03T13:00:00.000Z', 720, 1])
    expect((await read('/admin/metrics?hours=1', MetricsResponse)).series).toHaveLength(1)
  })

  it.each(['0', '721', '-1', '1.5', 'x', ''])('is refused for hours=%s', async (hours) => {
    const { ask } = await adminGateway()
    const response = await ask(`/admin/metrics?hours=${hours}`)
    expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
  })

  it('counts each request once', async () => {
    const answers = [
      answer({ error: { message: 'x' } }, 500),
      answer({ error: { message: 'x' } }, 400),
      streamed(chunk('Hel')),
    ]
    const { chat, read } = await adminGateway({ upstream: () => answers.shift() })
    for (const stream of [false, false, true, false]) await (await chat({ stream })).text()
    const { total } = await read('/admin/metrics', MetricsResponse)
    expect(total).toMatchObject({ requests: 4, refused: 1, errors: { status: 1, truncated: 1 }, error_rate: 0.5 })
  })

  it('counts a failed call with usage once', async () => {
    let calls = 0
    // One of the two answers comes.
    const override = () => (calls++ === 0 ? undefined : answer({ type: 'error', error: { type: 'api_error' } }, 500))
    const { transport } = fakeAnthropic({ override })
    const router = createRouter({ providers: [anthropic({ apiKey: 'none', transport })] })
    const { chat, read } = await adminGateway({ router })
    expect((await chat({ model: 'claude-sonnet-4-5', n: 2 })).status).toBe(502)
    const { total } = await read('/admin/metrics', MetricsResponse)
    expect(total).toMatchObject({ requests: 1, errors: { upstream_error: 1 }, error_rate: 1 })
  })

  it('has what the store warns of', async () => {
    const kv = await memoryKV()
    const { read } = await adminGateway({ kv: { ...kv, health: async () => ({ ok: true, warnings: ['Full soon'] }) } })
    expect(await read('/admin/metrics', MetricsResponse)).toMatchObject({ warnings: ['Full soon'] })
  })
})
