import { fixedPrices, priceTable } from '@turnpike/core'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { adminGateway } from '../../../test/support/admin.js'
import { answer, withKey } from '../../../test/support/gateway.js'
import { ConfiguredProviders } from './operations/admin/providers.js'

/** A gateway in front of an upstream whose model `m` refuses a parameter. */
async function setUp(field: string, status = 400) {
  const refusal = {
    message: `Unsupported parameter: '${field}' is not supported with this model.`,
    param: field,
    code: 'unsupported_parameter',
  }
  const upstream = fakeOpenAI({
    override: ({ body }) => (field in (body as object) ? answer({ error: refusal }, status) : undefined),
  })
  const prices = fixedPrices(
    priceTable({ 'openai/m': { input: 1, output: 10, service_tiers: { priority: { input: 200, output: 2_000 } } } }),
  )
  const router = createRouter({ providers: [openai({ apiKey: 'sk-secret', transport: upstream.transport })], prices })
  const at = await adminGateway({ router })
  /** Asks once, as the owner of a key. @returns the status, the headers and how often the upstream was asked */
  const ask = async (fields: object) => {
    const before = upstream.requests.length
    const response = await at.chat({ model: 'openai/m', ...fields }, { headers: { 'x-gateway-explain': 'true' } })
    const text = await response.text()
    const [warnings, attempts] = ['warnings', 'attempts'].map((name) => response.headers.get(`x-gateway-${name}`))
    return { status: response.status, warnings, attempts, calls: upstream.requests.length - before, text }
  }
  const provider = async () => (await at.read('/admin/providers', ConfiguredProviders)).providers[0]!
  return { ...at, ask, provider, router }
}

describe('a parameter that an upstream refuses', () => {
  it.each([false, true])(
    'is left out with a warning, and is no failure of the provider (stream: %s)',
    async (stream) => {
      const { ask, provider, logs, records, gateway } = await setUp('temperature')
      expect(await ask({ stream })).toMatchObject({ status: 200, warnings: null, attempts: '1', calls: 1 })
      expect(await provider()).not.toHaveProperty('learnt')
      expect(await ask({ stream, temperature: 0.2 })).toMatchObject({
        status: 200,
        warnings: 'dropped=temperature',
        attempts: '2',
        calls: 2,
      })
      expect(await ask({ stream, temperature: 0.2 })).toMatchObject({
        status: 200,
        warnings: 'dropped=temperature',
        attempts: '1',
        calls: 1,
      })
      expect(logs.some((log) => 'failed_calls' in log)).toBe(false)
      expect(await provider()).toMatchObject({
        failures: 0,
        last_failure: null,
        learnt: [{ model: 'm', field: 'temperature', until: expect.stringMatching(/Z$/) }],
      })
      expect((await records()).map(({ attempts, outcome }) => [attempts, outcome])).toEqual([
        [1, 'complete'],
        [2, 'complete'],
        [1, 'complete'],
      ])
      expect((await gateway.ledger.records('nobody')).items).toEqual([])
    },
  )

  it('is the failure of the request where the second one fails', async () => {
    const { ask, logs, provider } = await setUp('temperature')
    const bad = { temperature: 0.2, logit_bias: 'x', parallel_tool_calls: true }
    const { status, text, attempts, calls } = await ask(bad)
    expect([status, attempts, calls]).toEqual([400, null, 2])
    expect(text).toContain("'parallel_tool_calls' is only allowed when 'tools' are specified")
    expect(logs.at(-1)).toMatchObject({ failed_calls: 'openai/m: refused 400' })
    expect(await provider()).toMatchObject({ failures: 0 })
    expect(await provider()).not.toHaveProperty('learnt')
  })

  it('is sent once where the answer is no refusal', async () => {
    const { ask, provider } = await setUp('temperature', 503)
    expect(await ask({ temperature: 0.2 })).toMatchObject({ status: 502, calls: 1 })
    expect(await provider()).toMatchObject({ failures: 1 })
  })

  it('costs nothing: a tier that was refused is not charged, and holds and prices go by what is sent', async () => {
    const { ask, records, router, gateway } = await setUp('service_tier')
    await ask({ service_tier: 'priority' })
    await ask({ service_tier: 'priority' })
    await ask({})
    const costs = (await records()).map(({ cost_nano_usd }) => cost_nano_usd)
    expect(costs).toEqual([costs[2], costs[2], costs[2]])
    expect(costs[2]).toBeGreaterThan(0)
    const { provider } = (
      await router.candidates({ task: 'chat', request: { model: 'openai/m' }, expected: () => ({}) })
    ).targets[0]!
    expect(provider.chat!.preview({ model: 'm', messages: [], service_tier: 'priority' })).toEqual([
      { field: 'service_tier', action: 'dropped' },
    ])
    // At the price of the tier, the hold would be ten times as much as the budget.
    const owner = (await records())[0]!.user_id
    const { key } = await gateway.keys.create(owner, { name: 'poor', budget: { usd: 0.01 } })
    const response = await gateway.fetch(
      new Request('https://gw.example/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'openai/m',
          max_tokens: 50,
          service_tier: 'priority',
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      }),
    )
    expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([200, 'dropped=service_tier'])
  })

  it('is none that a caller wrote: a stream under a budget keeps the report of its usage', async () => {
    const words = "'type':'extra_forbidden','loc':['stream_options'];'type':'extra_forbidden','loc':['stop']"
    const at = await withKey(
      { budget: { usd: 1 } },
      {
        upstream: ({ body }) =>
          'stop' in (body as object)
            ? answer(
                { detail: [{ type: 'value_error', loc: ['body', 'stop'], msg: `Bad: ${words}`, input: words }] },
                422,
              )
            : undefined,
      },
    )
    expect((await at.ask({ stream: true, stop: [words] })).status).toBe(400)
    expect(at.upstream.requests).toHaveLength(1)
    const response = await at.ask({ stream: true })
    await response.text()
    expect(at.upstream.requests.at(-1)!.body).toMatchObject({ stream_options: { include_usage: true } })
    expect(await at.records()).toMatchObject([{ accuracy: 'reported' }])
  })
})
