import { fixedPrices, memoryKV, priceTable } from '@turnpike/core'
import { createRouter, google, openai } from '@turnpike/providers'
import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { answer, chunk, completion, COST, errorOf, OWNER, streamed, withKey } from '../../../../test/support/gateway.js'

describe('a budget', () => {
  const limited = (usd: number, options: TestOptions = {}) => withKey({ budget: { usd } }, options)

  it('admits requests until it is used up', async () => {
    // Each is expected to cost 1 · 2.5 + 2 · 10, and costs 52.5.
    const { ask, problems, holds, upstream, gateway, id } = await limited((2 * COST) / 1e9)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await ask({ max_tokens: 2 })).status)
    expect(statuses).toEqual([200, 200, 403, 403])
    expect(upstream.requests).toHaveLength(2)
    const refused = await ask({ max_tokens: 2 })
    expect(refused.headers.get('x-should-retry')).toBeNull()
    expect(await errorOf(refused)).toEqual({
      type: 'permission_error',
      code: 'budget_exceeded',
      message:
        'This request is expected to cost $0.000023, and $0 of the budget of $0.000105 is left; it costs less with a lower max_tokens',
    })
    expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({ held: 0, spent: 2 * COST })
    expect(await holds()).toEqual([])
    expect(await problems()).toEqual([])
  })

  it.each<[what: string, told: object, nano: number]>([
    ['what it has read besides tokens', { cost: 2.00001, cost_details: {} }, 2_000_010_000],
    [
      'its fee, and a bill of one’s own',
      { cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 2 } },
      2_100_000_000,
    ],
    ['less than the price of the table', { cost: 0.000001, cost_details: { upstream_inference_cost: 2 } }, COST],
    ['nothing that is a cost', { cost: -5, cost_details: { upstream_inference_cost: 'x' }, is_byok: true }, COST],
    ['a cost in a form of others', { cost: 5 }, COST],
    ['xAI’s, with searches', { cost_in_usd_ticks: 12_000_000_005 }, 1_200_000_001],
    ['Perplexity’s, with its fee for a request', { cost: { request_cost: 2, total_cost: 2.5 } }, 2_500_000_000],
  ])('threat 205: is charged what a provider tells that an answer cost: %s', async (_, told, nano) => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, ...told }
    for (const stream of [false, true]) {
      const upstream = () =>
        stream
          ? streamed(chunk('Hi', 'stop'), chunk('', null, { choices: [], usage }), '[DONE]')
          : completion({ usage })
      const { ask, gateway, id, records } = await limited(1, { upstream })
      await (await ask({ max_tokens: 2, stream })).text()
      expect((await records())[0]).toMatchObject({ cost_nano_usd: nano, accuracy: 'reported' })
      expect((await records())[0]!.told_cost_nano_usd).toBe(nano > COST ? nano : undefined)
      expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({ held: 0, spent: nano })
      expect((await ask({ max_tokens: 2, stream })).status).toBe(nano > 1e9 ? 403 : 200)
    }
  })

  it('threat 205: is charged the fee of xAI for what it refuses, which is held besides', async () => {
    const error = 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO'
    const { transport } = fakeOpenAI({
      override: () => ({ status: 403, headers: {}, body: JSON.stringify({ error }) }),
    })
    const at = (baseURL: string) =>
      limited(0.12, { router: createRouter({ providers: [openai({ apiKey: 'k', baseURL, transport })] }) })
    const { ask, records } = await at('https://api.x.ai/v1')
    const statuses = await Promise.all([1, 2, 3].map(async () => (await ask({ max_tokens: 2 })).status))
    expect(statuses.toSorted()).toEqual([400, 400, 403])
    const cost = { cost_nano_usd: 50_000_000, told_cost_nano_usd: 50_000_000 }
    expect(await records()).toMatchObject([cost, cost])
    const others = await at('https://api.example/v1')
    const all = await Promise.all([1, 2, 3].map(async () => (await others.ask({ max_tokens: 2 })).status))
    expect(all).toEqual([400, 400, 400])
  })

  it('threat 206: has room for all answers of a request but one, as long as they may be', async () => {
    const { ask, upstream } = await limited(0.5)
    // An answer of gpt-4o costs 16,384 · 10 at most.
    const asked = []
    for (const fields of [{ n: 20 }, { n: 3 }, { n: 20, max_tokens: 10 }]) asked.push((await ask(fields)).status)
    expect(asked).toEqual([403, 200, 200])
    expect(upstream.requests).toHaveLength(2)
    expect(await errorOf(await ask({ n: 20 }))).toMatchObject({
      message: expect.stringContaining('cost $3.12') as string,
    })
    const credits = await limited(100)
    expect((await credits.ask({ n: 20 })).status).toBe(200)
  })

  it('is not exceeded by concurrent requests', async () => {
    // At most, the prompt has 39 tokens by its bytes.
    const { ask, records } = await limited((10 * (39 * 2_500 + 20_000)) / 1e9)
    const responses = await Promise.all(Array.from({ length: 50 }, () => ask({ max_tokens: 2 })))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(await records()).toHaveLength(10)
  })

  it('charges of several calls what each reported, and those that were stopped the most that they may cost', async () => {
    const price = { input: 1_000, output: 1_000 }
    const models = [{ id: 'm', price, maxOutput: 50 }]
    let calls = 0
    const { transport } = fakeGoogle({
      override: () => {
        if (++calls === 2) return streamed(new Promise(() => undefined))
        return answer({
          candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
        })
      },
    })
    const router = createRouter({ providers: [google({ apiKey: 'k', transport, models })] })
    const { ask, records, holds } = await limited(1, { router, wholeAnswerMs: 50 })
    expect((await ask({ model: 'm', n: 3, max_tokens: 10 })).status).toBe(502)
    const [record] = await records()
    expect(record).toMatchObject({ outcome: 'idle_timeout', completion_tokens: 3 + 3 + 10 })
    expect(record!.prompt_tokens).toBeGreaterThan(9 + 9)
    expect([record!.cost_nano_usd, await holds()]).toEqual([record!.tokens * 1_000_000, []])
  })

  it('holds what the dearest member of a group may cost', async () => {
    const { transport } = fakeOpenAI({ override: () => streamed(chunk('Hello'), new Promise(() => undefined)) })
    const router = createRouter({
      providers: [openai({ apiKey: 'k', transport })],
      groups: { any: ['gpt-4o-mini', 'gpt-4o'] },
    })
    const { ask, gateway, id } = await limited(1, { router })
    await ask({ model: 'any', stream: true, max_tokens: 1_000 })
    const { held } = await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })
    expect(held).toBeGreaterThan(1_000 * 10_000)
  })

  it('admits one request that could exceed it, but will hardly, and none beside it', async () => {
    const { ask, upstream, gateway, id } = await limited(0.02)
    // 1,024 tokens are expected without a maximum, and 16,384 are possible: $0.16.
    const answers = await Promise.all([ask(), ask(), ask()])
    // The clients of OpenAI send the others again.
    expect([answers.map(({ status }) => status).toSorted(), upstream.requests.length]).toEqual([[200, 403, 403], 1])
    const refused = answers.find(({ status }) => status === 403)!
    expect([refused.headers.get('x-should-retry'), refused.headers.get('retry-after')]).toEqual(['true', '1'])
    expect(((await errorOf(refused)) as { message: string }).message).toMatch(
      /besides \$0\.\d+ that running requests hold; try again when/,
    )
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
    expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({ held: 0, spent: 3 * COST })
  })

  it('is charged for a stream with an event that nests too deeply, and the upstream is left', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const event = `{"id":"c","choices":[{"index":0,"delta":{"content":"x","x":${deep}}}]}`
    const { ask, holds, problems, records, signals } = await limited(1, {
      upstream: () => streamed(event, new Promise(() => undefined)),
    })
    const refused = await ask({ stream: true, max_tokens: 500 })
    expect([refused.status, await errorOf(refused)]).toMatchObject([502, { type: 'upstream_error' }])
    expect(await records()).toMatchObject([
      { accuracy: 'estimated', completion_tokens: 500, outcome: 'upstream_error' },
    ])
    expect([signals.map(({ aborted }) => aborted), await holds(), await problems()]).toEqual([[true], [], []])
  })

  it('of a user applies to all of their keys', async () => {
    const at = await withKey({})
    await at.kv.commit({
      set: [
        {
          key: ['user', OWNER],
          value: { ...(await at.kv.get<object>(['user', OWNER]))!.value, budget: { usd: COST / 1e9 } },
        },
      ],
    })
    expect((await at.ask({ max_tokens: 2 })).status).toBe(200)
    expect((await at.chat({ max_tokens: 2 })).status).toBe(403)
  })

  it('threat 33: refuses models that search the web for every answer, and no others', async () => {
    const searching = [
      'sonar-pro',
      'perplexity/sonar',
      'groq/compound',
      'compound-mini',
      'gpt-5:online',
      'gpt-5-search-api',
    ]
    const others = ['sonariser', 'compounded']
    const models = [...searching, ...others]
    const router = createRouter({
      providers: [openai({ apiKey: 'sk', models, transport: fakeOpenAI({ override: () => completion() }).transport })],
      prices: fixedPrices(
        priceTable(Object.fromEntries(models.map((id) => [`openai/${id}`, { input: 1, output: 1 }]))),
      ),
    })
    const { ask } = await withKey({ budget: { usd: 1 } }, { router })
    for (const model of searching)
      expect([model, (await ask({ model: `openai/${model}` })).status]).toEqual([model, 403])
    for (const model of others) expect([model, (await ask({ model: `openai/${model}` })).status]).toEqual([model, 200])
  })

  it('starts again each month', async () => {
    const at = await withKey({ budget: { usd: COST / 1e9, per: 'month' } })
    expect((await at.ask({ max_tokens: 2 })).status).toBe(200)
    expect((await at.ask({ max_tokens: 2 })).status).toBe(403)
    at.clock.now = Date.UTC(2026, 1, 1)
    expect((await at.ask({ max_tokens: 2 })).status).toBe(200)
  })

  it('is credited with the hold of a failed request', async () => {
    const { ask, holds, problems, gateway, id, records } = await limited(COST / 1e9, {
      upstream: () => answer({ error: { message: 'no' } }, 500),
    })
    for (let i = 0; i < 3; i++) expect((await ask({ max_tokens: 2 })).status).toBe(502)
    expect([await holds(), await records(), await problems()]).toEqual([[], [], []])
    expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({ held: 0, spent: 0 })
  })

  it('is charged for a stream that breaks', async () => {
    const { ask, holds, problems, gateway, id, records } = await limited(1, {
      upstream: () => streamed(chunk('Hello'), new Error('gone')),
    })
    await (await ask({ stream: true })).text()
    const [record] = await records()
    expect(record).toMatchObject({ outcome: 'truncated', accuracy: 'estimated' })
    expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({
      held: 0,
      spent: record!.cost_nano_usd,
    })
    expect([await holds(), await problems()]).toEqual([[], []])
  })

  it('refuses models without a price', async () => {
    const { ask, upstream } = await limited(1)
    const refused = await ask({ model: 'gpt-unheard-of' })
    expect(refused.status).toBe(403)
    expect(await errorOf(refused)).toMatchObject({ code: 'forbidden' })
    expect(upstream.requests).toEqual([])
  })
})

describe('holds', () => {
  it('exist while a request runs, with its expected cost', async () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const at = await withKey({}, { holds: true, upstream: () => streamed(chunk('Hello'), gate, chunk('', 'stop')) })
    const response = await at.ask({ stream: true, max_tokens: 100 })
    expect(await at.holds()).toMatchObject([
      {
        amount: 1 * 2_500 + 100 * 10_000,
        budgets: [],
        estimate: {
          request_id: response.headers.get('x-request-id'),
          outcome: 'server_shutdown',
          accuracy: 'estimated',
          units: { input: 1, output: 100 },
          cost_nano_usd: 1_002_500,
        },
      },
    ])
    open()
    await response.text()
    expect(await at.holds()).toEqual([])
    expect(await at.records()).toMatchObject([{ outcome: 'complete' }])
    expect(await at.problems()).toEqual([])
  })

  it('are recorded by a sweep if the process died', async () => {
    const kv = await memoryKV()
    const at = await withKey(
      {},
      { kv, holds: true, upstream: () => streamed(chunk('Hello'), new Promise(() => undefined)) },
    )
    await at.ask({ stream: true, max_tokens: 100 })
    expect(await at.gateway.ledger.sweep(1)).toBe(0)
    expect(await at.gateway.ledger.sweep(0)).toBe(1)
    expect(await at.gateway.ledger.sweep(0)).toBe(0)
    expect(await at.records()).toMatchObject([
      { outcome: 'server_shutdown', accuracy: 'estimated', cost_nano_usd: 1_002_500, tokens: 101 },
    ])
    expect(await at.problems()).toEqual([])
  })

  it('are not made by default', async () => {
    const at = await withKey({})
    const commits: string[] = []
    const { commit } = at.kv
    at.kv.commit = (change) => {
      commits.push(...(change.set ?? []).map(({ key }) => key[0]!))
      return commit(change)
    }
    await at.ask()
    expect(commits.filter((name) => name.startsWith('hold'))).toEqual([])
    expect(commits).toContain('usage')
  })
})
