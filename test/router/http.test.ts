import type { Provider } from '@turnpike/core'
import { fixedPrices, priceTable, UpstreamError } from '@turnpike/core'
import type { RouterOptions } from '@turnpike/providers'
import { anthropic, createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import type { FakeAnswer, FakeUpstream } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, chunk, errorOf, OWNER, streamed, testGateway } from '../support/gateway.js'

const prices = fixedPrices(
  priceTable({
    'openai/gpt-4o': { input: 2.5, output: 10 },
    'budget/gpt-4o': { input: 1, output: 4 },
    'google/gemini-2.5-flash': { input: 0.3, output: 2.5 },
    'openai/text-embedding-3-small': { input: 0.02 },
    'budget/text-embedding-3-small': { input: 0.01 },
    'google/gemini-embedding-001': { input: 0.15 },
  }),
)
const groups = {
  smart: ['openai/gpt-4o', 'google/gemini-2.5-flash'],
  vectors: ['google/gemini-embedding-001', 'openai/text-embedding-3-small'],
}

type Fault = () => FakeAnswer | Error | undefined

/** A gateway before two providers of the OpenAI family and Google; `faults` answer in their place. */
async function setup(faults: Record<string, Fault> = {}, options: Partial<RouterOptions> = {}) {
  const upstreams: Record<string, FakeUpstream> = {}
  const make = (id: string, fake: typeof fakeOpenAI | typeof fakeGoogle) => {
    const override = (): FakeAnswer | undefined => {
      const fault = faults[id]?.()
      if (fault instanceof Error) throw fault
      return fault
    }
    const { transport } = (upstreams[id] = fake({ override }))
    return { id, apiKey: id, transport }
  }
  const providers: Provider[] = [
    openai(make('openai', fakeOpenAI)),
    openai(make('budget', fakeOpenAI)),
    google({ ...make('google', fakeGoogle), endpoints: googleEndpoints() }),
  ]
  const router = createRouter({ providers, prices, groups, ...options })
  const gateway = await testGateway({ router })
  const asked = () => Object.entries(upstreams).flatMap(([id, { requests }]) => requests.map(() => id))
  return { ...gateway, router, asked }
}

const kinds = ['a whole answer', 'a stream', 'embeddings'] as const
type Kind = (typeof kinds)[number]

const ask = (
  { send }: Pick<Awaited<ReturnType<typeof setup>>, 'send'>,
  kind: Kind,
  fields: { model: string; provider?: string },
  headers: Record<string, string> = { 'x-gateway-explain': 'true' },
): Promise<Response> =>
  kind === 'embeddings'
    ? send('POST', '/v1/embeddings', { input: 'Hello', ...fields }, { headers })
    : send(
        'POST',
        '/v1/chat/completions',
        { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100, stream: kind === 'a stream', ...fields },
        { headers },
      )

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

describe.each(kinds)('%s', (kind) => {
  const vectors = kind === 'embeddings'
  const model = vectors ? 'text-embedding-3-small' : 'gpt-4o'
  const group = vectors ? 'vectors' : 'smart'
  const ofGoogle = vectors ? 'gemini-embedding-001' : 'gemini-2.5-flash'

  it.each<[fields: { model: string; provider?: string }, provider: string, model: string]>([
    [{ model }, 'openai', model],
    [{ model, provider: 'auto' }, 'budget', model],
    [{ model, provider: 'budget' }, 'budget', model],
    [{ model: `budget/${model}` }, 'budget', model],
    [{ model: `budget/${model}`, provider: 'auto' }, 'budget', model],
    [{ model: `budget/${model}`, provider: 'openai' }, 'openai', model],
    [{ model: ofGoogle }, 'google', ofGoogle],
    [{ model: `gemini/${ofGoogle}` }, 'google', ofGoogle],
    [{ model: group }, vectors ? 'google' : 'openai', vectors ? ofGoogle : model],
    [{ model: group, provider: 'auto' }, vectors ? 'openai' : 'google', vectors ? model : ofGoogle],
    [{ model: group, provider: 'google' }, 'google', ofGoogle],
  ])('for %j is served by %s', async (fields, provider, served) => {
    const gateway = await setup()
    const response = await ask(gateway, kind, fields)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    if (kind === 'a stream') expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(response.headers.get('x-gateway-provider')).toBe(provider)
    expect(response.headers.get('x-gateway-attempts')).toBe('1')
    expect(gateway.asked()).toEqual([provider])
    const [record] = await gateway.records()
    expect(record).toMatchObject({ provider, model: served, attempts: 1, catalogue: prices.table().version })
    expect(record!.cost_nano_usd).toBeGreaterThan(0)
    expect('considered' in record!).toBe(fields.provider === 'auto')
    expect(response.headers.has('x-gateway-considered')).toBe(fields.provider === 'auto')
  })

  it.each([
    [{ model, provider: 'nobody' }, 'invalid_body'],
    [{ model: 'unknown' }, 'model_not_found'],
    [{ model: 'unknown', provider: 'auto' }, 'model_not_found'],
    [{ model: 'nobody/x' }, 'model_not_found'],
    [{ model: group, provider: 'budget' }, 'model_not_found'],
  ])('for %j is refused', async (fields, code) => {
    const gateway = await setup()
    const response = await ask(gateway, kind, fields)
    expect([response.status, await errorOf(response)]).toMatchObject([400, { type: 'invalid_request_error', code }])
    expect([gateway.asked(), await gateway.records()]).toEqual([[], []])
  })

  it('fails over where a connection is refused, and reports the number of attempts', async () => {
    const gateway = await setup({ budget: refused })
    const response = await ask(gateway, kind, { model, provider: 'auto' })
    await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-provider')).toBe('openai')
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    expect(gateway.asked()).toEqual(['openai', 'budget'])
    expect(await gateway.records()).toMatchObject([{ provider: 'openai', attempts: 2 }])
  })

  it('does not report its provider without x-gateway-explain', async () => {
    const response = await ask(await setup(), kind, { model, provider: 'auto' }, {})
    await response.text()
    expect([...response.headers.keys()].filter((name) => name.startsWith('x-gateway-'))).toEqual([])
  })
})

describe('the explanation', () => {
  it('names the compared candidates and the reasons, as in the record', async () => {
    const { router, ...gateway } = await setup({}, { failures: 1 })
    const [target] = (
      await router.candidates({ task: 'chat', request: { model: 'budget/gpt-4o' }, expected: () => ({}) })
    ).targets
    router.report(target!, new UpstreamError('', { provider: 'budget', kind: 'timeout', accepted: true }))
    const response = await ask(gateway, 'a whole answer', { model: 'gpt-4o', provider: 'auto' })
    expect(response.headers.get('x-gateway-considered')).toBe(
      'budget/gpt-4o=0.000402(unhealthy); openai/gpt-4o=0.001005',
    )
    expect(response.headers.get('x-gateway-provider')).toBe('openai')
    expect((await gateway.records())[0]!.considered).toEqual([
      { provider: 'budget', model: 'gpt-4o', expected_nano_usd: 402_000, behind: 'unhealthy' },
      { provider: 'openai', model: 'gpt-4o', expected_nano_usd: 1_005_000 },
    ])
  })

  it('names no model that the key may not use', async () => {
    const gateway = await setup()
    const { key } = await gateway.gateway.keys.create(OWNER, { name: 'k', models: ['openai/gpt-4o'] })
    const headers = { authorization: `Bearer ${key}`, 'x-gateway-explain': 'true' }
    const response = await ask(gateway, 'a whole answer', { model: 'gpt-4o', provider: 'auto' }, headers)
    expect(response.headers.get('x-gateway-considered')).toBe('openai/gpt-4o=0.001005')
  })

  it('compares the context with one answer where each is a call of its own', async () => {
    const { transport } = fakeAnthropic()
    const { chat } = await testGateway({ router: createRouter({ providers: [anthropic({ apiKey: 'x', transport })] }) })
    const content = 'word '.repeat(32_000)
    const fields = { model: 'claude-haiku-4-5', provider: 'auto', n: 8, messages: [{ role: 'user', content }] }
    const response = await chat(fields, { headers: { 'x-gateway-explain': 'true' } })
    expect([response.status, response.headers.get('x-gateway-considered')]).toEqual([
      200,
      'anthropic/claude-haiku-4-5=0.36096',
    ])
    const larger = await chat({ ...fields, n: 1, messages: [{ role: 'user', content: content.repeat(5) }] })
    expect(await errorOf(larger)).toMatchObject({ code: 'unsupported_parameter' })
  })
})

describe('a stream', () => {
  it('does not fail over after its start', async () => {
    const gateway = await setup({ budget: () => streamed(chunk('Hel'), refused()) })
    const text = await (await ask(gateway, 'a stream', { model: 'gpt-4o', provider: 'auto' })).text()
    expect(text).toContain('"Hel"')
    expect(text).toContain('"upstream_truncated"')
    expect(text).not.toContain('[DONE]')
    expect(gateway.asked()).toEqual(['budget'])
    expect(await gateway.records()).toMatchObject([{ provider: 'budget', outcome: 'truncated' }])
    expect(gateway.router.health()[1]).toMatchObject({ id: 'budget', failures: 1, last_failure: 'truncated' })
  })

  it('does not fail over after an answer that may have been accepted', async () => {
    const gateway = await setup({ budget: () => streamed() })
    const response = await ask(gateway, 'a stream', { model: 'gpt-4o', provider: 'auto' })
    expect([response.status, response.headers.get('x-should-retry'), gateway.asked()]).toEqual([
      502,
      'false',
      ['budget'],
    ])
  })

  it('that its client cancels does not affect the health of the provider', async () => {
    let fault: FakeAnswer = answer('', 500)
    const gateway = await setup({ openai: () => fault })
    await (await ask(gateway, 'a stream', { model: 'gpt-4o' })).text()
    fault = streamed(chunk('Hel'), chunk('lo'), new Promise(() => undefined))
    const reader = (await ask(gateway, 'a stream', { model: 'gpt-4o' })).body!.getReader()
    await reader.read()
    await reader.cancel()
    await expect.poll(gateway.records).toMatchObject([{ outcome: 'client_abort' }])
    expect(gateway.router.health()[0]).toMatchObject({ failures: 1 })
  })
})

describe('several keys of one provider', () => {
  it('fail over to each other', async () => {
    const upstream = fakeOpenAI({
      override: ({ headers }) =>
        headers['authorization'] === 'Bearer first'
          ? answer({ error: { message: 'Slow down' } }, 429, { 'retry-after': '60' })
          : undefined,
    })
    const { transport } = upstream
    const gateway = await testGateway({
      router: createRouter({ providers: ['first', 'second'].map((apiKey) => openai({ apiKey, transport })) }),
    })
    for (const attempts of ['2', '1', '1']) {
      const response = await gateway.chat({}, { headers: { 'x-gateway-explain': 'true' } })
      expect([response.status, response.headers.get('x-gateway-attempts')]).toEqual([200, attempts])
    }
    const keys = upstream.requests.map(({ headers }) => headers['authorization']!.slice(7))
    expect(keys).toEqual(['first', 'second', 'second', 'second'])
  })
})

describe('the first-event time-out', () => {
  it('does not run during the delay before a retry', async () => {
    const transport = () => Promise.reject(refused())
    const { chat } = await testGateway({
      firstEventMs: 20,
      router: createRouter({ providers: [openai({ apiKey: 'x', transport })] }),
    })
    const response = await chat()
    expect([response.status, await errorOf(response)]).toMatchObject([502, { code: 'upstream_unavailable' }])
    expect(response.headers.get('x-should-retry')).toBeNull()
  })
})
