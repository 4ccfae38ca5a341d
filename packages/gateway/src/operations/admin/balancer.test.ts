import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { adminGateway, twoProviders } from '../../../../../test/support/admin.js'
import { errorOf, OWNER } from '../../../../../test/support/gateway.js'
import { BalancerResponse, SimulatedChoice } from './balancer.js'

const well = { breaker: 'closed', failures: 0, last_failure: null, next_try: null }

const place = (provider: string, model: string, expected_usd: number | null, more: object = {}) => ({
  provider,
  model,
  expected_usd,
  excluded: null,
  behind: null,
  ...more,
})

it('GET /admin/balancer returns breakers, groups and recent choices', async () => {
  const { read, chat } = await adminGateway({ router: twoProviders() })
  const response = await chat({ model: 'fast', provider: 'auto', max_tokens: 100 })
  expect(await response.json()).toMatchObject({ object: 'chat.completion' })
  expect(await read('/admin/balancer', BalancerResponse)).toEqual({
    providers: [
      { id: 'openai', ...well, limited: [] },
      { id: 'google', ...well, limited: [{ model: 'gemini-2.5-pro', until: '2026-01-02T00:00:30.000Z' }] },
    ],
    groups: { fast: ['openai/gpt-4o', 'google/gemini-2.5-pro'] },
    choices: [
      {
        time: '2026-01-02T00:00:00.000Z',
        request_id: response.headers.get('x-request-id'),
        model: 'fast',
        provider: 'auto',
        by: 'price',
        order: [place('google', 'gemini-2.5-pro', 0.000201), place('openai', 'gpt-4o', 0.0010025)],
        served: { provider: 'openai', model: 'gpt-4o' },
        attempts: 2,
      },
    ],
  })
})

it('GET /admin/balancer tells which candidates the key may not use', async () => {
  const { read, chat, gateway } = await adminGateway({ router: twoProviders() })
  const { key } = await gateway.keys.create(OWNER, { name: 'one model', models: ['openai/gpt-4o'] })
  const response = await chat(
    { model: 'fast', provider: 'auto', max_tokens: 100 },
    { headers: { authorization: `Bearer ${key}` } },
  )
  expect(response.status).toBe(200)
  const [choice] = (await read('/admin/balancer', BalancerResponse)).choices
  expect(choice).toMatchObject({
    order: [
      { provider: 'google', excluded: 'forbidden' },
      { provider: 'openai', excluded: null },
    ],
    served: { provider: 'openai' },
    attempts: 1,
  })
})

describe('POST /admin/balancer/simulate', () => {
  const path = '/admin/balancer/simulate'
  const request = (fields: object) => ({ model: 'fast', messages: [{ role: 'user', content: 'Hi' }], ...fields })

  async function setUp(options: Parameters<typeof adminGateway>[0] = {}) {
    const at = await adminGateway({ router: twoProviders(), ...options })
    const simulate = async (fields: object) => {
      const response = await at.command('POST', path, request(fields))
      const body: unknown = await response.json()
      expect([response.status, v.parse(SimulatedChoice, body)]).toEqual([200, body])
      return body
    }
    return { ...at, simulate }
  }

  it('tells the choice that a request would get, and what has changed since', async () => {
    const { simulate, chat, read } = await setUp()
    const auto = { provider: 'auto', max_tokens: 100 }
    expect(await simulate(auto)).toEqual({
      model: 'fast',
      provider: 'auto',
      by: 'price',
      order: [place('google', 'gemini-2.5-pro', 0.000201), place('openai', 'gpt-4o', 0.0010025)],
    })
    await (await chat({ model: 'fast', ...auto })).text()
    const after = [
      place('openai', 'gpt-4o', 0.0010025),
      place('google', 'gemini-2.5-pro', 0.000201, { behind: 'limited' }),
    ]
    expect(await simulate(auto)).toMatchObject({ order: after })
    const unpriced = after.map((one) => ({ ...one, expected_usd: null }))
    expect(await simulate({})).toEqual({ model: 'fast', provider: null, by: 'order', order: unpriced })
    // A single candidate is no choice, and told all the same.
    const single = { model: 'gpt-4o', provider: null, by: 'order', order: [place('openai', 'gpt-4o', null)] }
    expect(await simulate({ model: 'gpt-4o', provider: null })).toEqual(single)
    const { choices } = await read('/admin/balancer', BalancerResponse)
    expect(choices).toHaveLength(1)
  })

  it('tells why no candidate can serve a request', async () => {
    const { simulate } = await setUp()
    const excluded = (reason: string) => ({ excluded: reason, behind: null })
    expect(await simulate({ provider: 'auto', max_tokens: 1_000_000 })).toMatchObject({
      by: 'price',
      order: [
        { provider: 'google', ...excluded('output') },
        { provider: 'openai', ...excluded('context') },
      ],
    })
    // What is said in a deprecated field counts as well: the request is normalised first.
    const functions = [{ name: 'f', parameters: { type: 'object' } }]
    expect(await simulate({ provider: 'auto', model: 'tts-1', functions })).toMatchObject({
      order: [{ provider: 'openai', ...excluded('unfit') }],
    })
  })

  it.each([
    [{ model: 'none' }, 400, 'model_not_found'],
    [{ provider: 'none' }, 400, 'invalid_body'],
    [{ n: 0 }, 400, 'invalid_body'],
    [{ messages: 'Hi' }, 400, 'invalid_body'],
  ])('answers %j as the request itself', async (fields, status, code) => {
    const { command, chat } = await setUp()
    const simulated = await command('POST', path, request(fields))
    const error = await errorOf(simulated)
    expect([simulated.status, error]).toMatchObject([status, { code }])
    expect(error).toEqual(await errorOf(await chat(request(fields))))
  })

  it('calls no upstream, costs nothing, and leaves the turns of instances as they are', async () => {
    const upstream = fakeOpenAI()
    const called: string[] = []
    const instance = (host: string) =>
      openai({
        apiKey: 'sk-secret',
        baseURL: `https://${host}/v1`,
        models: ['gpt-4o'],
        transport: (request) => (called.push(host), upstream.transport(request)),
      })
    const router = createRouter({ providers: [instance('a.example'), instance('b.example')] })
    const { simulate, chat, records, gateway } = await setUp({ router, holds: true })
    const ask = async () => (await chat({ model: 'gpt-4o' })).text()
    await ask()
    for (let i = 0; i < 3; i++) await simulate({ model: 'gpt-4o' })
    expect([called, (await records()).length]).toEqual([['a.example'], 1])
    await ask()
    await ask()
    expect(called).toEqual(['a.example', 'b.example', 'a.example'])
    expect(await gateway.ledger.totals('all', '')).toMatchObject({ requests: 3 })
  })
})
