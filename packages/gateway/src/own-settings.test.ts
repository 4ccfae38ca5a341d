import type { KeyInput, Model } from '@turnpike/core'
import { conventionRoutes, tokenAdmin } from '@turnpike/gateway'
import type { Deployment } from '@turnpike/providers'
import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN } from '../../../test/support/admin.js'
import type { TestOptions } from '../../../test/support/gateway.js'
import { answer, chunk, completion, errorOf, streamed, withKey } from '../../../test/support/gateway.js'
import { parseStream } from '../../../test/support/sse.js'

type Answers = (request: FakeRequest) => FakeAnswer | undefined
type Own = Omit<Deployment, 'provider'> & { models: NonNullable<Parameters<typeof openai>[0]['models']> }

/** An upstream that gets requests and never answers. */
const silent: Answers = () => streamed(new Promise(() => undefined))

const admin = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }

/** A key in front of providers with settings of their own. */
function setUp(
  own: Record<string, [own: Own, answers?: Answers]>,
  input: Partial<KeyInput> = {},
  options: TestOptions = {},
) {
  const sent: Record<string, FakeRequest[]> = {}
  const providers = Object.entries(own).map(([id, [{ models, ...deployment }, override]]): Deployment => {
    const upstream = fakeOpenAI(override && { override })
    sent[id] = upstream.requests as FakeRequest[]
    const provider = openai({
      id,
      apiKey: 'k',
      baseURL: `http://${id}.example/v1`,
      models,
      transport: upstream.transport,
    })
    return { provider, ...deployment }
  })
  const router = createRouter({ providers })
  return withKey(input, {
    router,
    authenticateAdmin: tokenAdmin(ADMIN_TOKEN),
    routes: [conventionRoutes],
    ...options,
  }).then((at) => ({
    ...at,
    sent,
    get: async (path: string): Promise<unknown> =>
      (await at.send('GET', path, undefined, path.startsWith('/admin') ? admin : at.init)).json(),
    spent: async () => (await at.gateway.ledger.used({ of: 'key', id: at.id, budget: { usd: 1 } })).spent,
  }))
}

describe('a price in the configuration', () => {
  const price = { input: 100, output: 200 }
  const models = [{ id: 'mine', price, contextWindow: 1_000, maxOutput: 10 }, 'gpt-4o']

  it('holds a budget, which without one refuses the model', async () => {
    // 9 · 100 + 3 · 200, in micro-dollars.
    const { ask, spent, records } = await setUp({ own: [{ models }, () => completion()] }, { budget: { usd: 0.003 } })
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await ask({ model: 'mine', max_tokens: 2 })).status)
    expect(statuses).toEqual([200, 200, 403, 403])
    expect(await spent()).toBe(2 * 1_500_000)
    expect((await records())[0]).toMatchObject({
      model: 'mine',
      provider: 'own',
      rates: price,
      cost_nano_usd: 1_500_000,
    })
    expect(await errorOf(await ask({ model: 'gpt-4o', max_tokens: 2 }))).toMatchObject({
      message: 'The price of this model is not known, and there is a budget to keep',
    })
  })

  it('is shown, with where it is from', async () => {
    const { get } = await setUp({ own: [{ models, aliases: { fast: 'mine' } }] })
    const { data } = (await get('/v1/models')) as { data: Model[] }
    expect(data).toMatchObject([
      { id: 'mine', price, context_window: 1_000, max_output_tokens: 10 },
      { id: 'gpt-4o' },
      { id: 'fast', price, members: ['own/mine'] },
    ])
    expect(data[1]).not.toHaveProperty('price')
    const { models: priced } = (await get('/admin/pricing')) as { models: object[] }
    expect(priced).toEqual([
      expect.objectContaining({ id: 'mine', provider: 'own', priced: true, input: 100, source: 'configuration' }),
      expect.objectContaining({ id: 'gpt-4o', provider: 'own', priced: false, source: null }),
    ])
  })
})

describe('an alias', () => {
  const own = {
    one: [
      {
        models: ['gpt-4o-mini', 'text-embedding-3-small'],
        aliases: { fast: 'gpt-4o-mini', vectors: 'text-embedding-3-small' },
      },
    ],
  } satisfies Record<string, [Own]>
  const model = (requests: FakeRequest[]): unknown[] => requests.map(({ body }) => (body as { model: string }).model)

  it.each<[key: string, models: string[] | undefined]>([
    ['without a list', undefined],
    ['that names it', ['fast', 'one/vectors']],
    ['that names its model', ['gpt-4o-mini', 'one/text-embedding-3-small']],
  ])('is answered whole, streamed and embedded for a key %s, and recorded by its model', async (_, models) => {
    const { ask, send, init, sent, records, get, logs } = await setUp(own, models && { models }, {
      upstream: undefined!,
    })
    expect((await ask({ model: 'fast' })).status).toBe(200)
    const events = parseStream(await (await ask({ model: 'one/fast', stream: true })).text())
    expect(events.at(-1)).toEqual({ type: 'done' })
    expect((await send('POST', '/v1/embeddings', { model: 'vectors', input: 'x' }, init)).status).toBe(200)
    expect(model(sent['one']!)).toEqual(['gpt-4o-mini', 'gpt-4o-mini', 'text-embedding-3-small'])
    expect((await records()).map((record) => record.model).toSorted()).toEqual([
      'gpt-4o-mini',
      'gpt-4o-mini',
      'text-embedding-3-small',
    ])
    expect(logs[0]).toMatchObject({ requested_model: 'fast', model: 'gpt-4o-mini' })
    // What no database has to take does not get into the log.
    await ask({ model: 'a\0\n\ud800b' })
    expect(logs.at(-1)).toMatchObject({ requested_model: 'a b' })
    const { data } = (await get('/v1/models')) as { data: Model[] }
    expect(data.map(({ id }) => id)).toEqual(['gpt-4o-mini', 'text-embedding-3-small', 'fast', 'vectors'])
    expect(await get('/v1/models/fast')).toMatchObject({ id: 'fast', members: ['one/gpt-4o-mini'] })
  })

  it('is neither answered nor listed for a key without its model', async () => {
    const { ask, get } = await setUp(own, { models: ['vectors'] })
    expect([(await ask({ model: 'fast' })).status, (await ask({ model: 'gpt-4o-mini' })).status]).toEqual([403, 403])
    const { data } = (await get('/v1/models')) as { data: Model[] }
    expect(data.map(({ id }) => id)).toEqual(['text-embedding-3-small', 'vectors'])
  })
})

describe('a time-out of a provider', () => {
  const price = { input: 1_000, output: 1_000 }
  const models = [{ id: 'm', price, maxOutput: 50 }]
  const short = { firstEventMs: 20, wholeAnswerMs: 20 }

  it.each([false, true])('makes the next one answer (streamed: %j)', async (stream) => {
    const good: Answers = () => (stream ? streamed(chunk('Hello', 'stop')) : completion())
    const { ask, records, sent, logs } = await setUp({
      slow: [{ models, ...short }, silent],
      good: [{ models }, good],
    })
    const response = await ask({ model: 'm', stream })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hello')])
    expect([sent['slow']!.length, sent['good']!.length]).toEqual([1, 1])
    const [record, ...others] = await records()
    expect([record, others]).toMatchObject([{ provider: 'good', attempts: 2, outcome: 'complete' }, []])
    // Nothing is charged of the first one, where nobody has a limit.
    expect(record!.prompt_tokens).toBeLessThan(10)
    expect(logs[0]).toMatchObject({ failed_calls: 'slow/m: timeout', attempts: 2 })
  })

  it('is charged under a budget, at the most that it may cost', async () => {
    const { ask, records, spent, holds, problems } = await setUp(
      { slow: [{ models, ...short }, silent], good: [{ models }, () => completion()] },
      { budget: { usd: 1 } },
    )
    expect((await ask({ model: 'm', max_tokens: 10 })).status).toBe(200)
    const [record, overdue] = await records()
    expect(record).toMatchObject({ provider: 'good', attempts: 2, outcome: 'complete', tokens: 12 })
    expect(overdue).toMatchObject({
      request_id: record!.request_id,
      provider: 'slow',
      attempts: 1,
      outcome: 'idle_timeout',
      accuracy: 'estimated',
      completion_tokens: 10,
    })
    // The prompt by its bytes.
    expect(overdue!.prompt_tokens).toBeGreaterThan(10)
    const cost = (record!.tokens + overdue!.tokens) * 1_000_000
    expect(record!.cost_nano_usd! + overdue!.cost_nano_usd!).toBe(cost)
    expect([await spent(), await holds(), await problems()]).toEqual([cost, [], []])
  })

  it('of all ends the request, with what they may have cost', async () => {
    const failing: Answers = () => answer({ error: { message: 'no' } }, 500)
    const { ask, records, spent, holds, problems } = await setUp(
      { slow: [{ models, ...short }, silent], slower: [{ models, ...short }, silent], bad: [{ models }, failing] },
      { budget: { usd: 1 } },
    )
    expect((await ask({ model: 'm', max_tokens: 10 })).status).toBe(502)
    const made = await records()
    expect(made).toMatchObject([
      { provider: 'slower', completion_tokens: 10, attempts: 2, outcome: 'idle_timeout' },
      { provider: 'slow', completion_tokens: 10, attempts: 1, outcome: 'idle_timeout' },
    ])
    const cost = made.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd!, 0)
    expect([await spent(), await holds(), await problems()]).toEqual([cost, [], []])
  })

  it('holds what all of them may cost', async () => {
    let end = (): void => undefined
    const pieces = () => streamed(chunk('x'), new Promise<void>((resolve) => (end = resolve)), chunk('', 'stop'))
    const { ask, gateway, id } = await setUp(
      { slow: [{ models, firstEventMs: 60_000 }, pieces], good: [{ models }] },
      { budget: { usd: 10 } },
    )
    const response = await ask({ model: 'm', max_tokens: 1_000, stream: true })
    const { held } = await gateway.ledger.used({ of: 'key', id, budget: { usd: 10 } })
    expect(held).toBeGreaterThan(2 * 1_000 * 1_000_000)
    end()
    expect(await response.text()).toContain('[DONE]')
  })

  it('calls nobody else for a client that has left', async () => {
    const { chat, init, sent, records } = await setUp(
      { slow: [{ models, wholeAnswerMs: 500 }, silent], good: [{ models }, () => completion()] },
      { budget: { usd: 1 } },
    )
    const client = new AbortController()
    const asked = chat({ model: 'm', max_tokens: 10 }, { ...init, signal: client.signal })
    await expect.poll(() => sent['slow']!.length).toBe(1)
    client.abort()
    expect((await asked).status).toBe(499)
    expect(sent['good']).toEqual([])
    expect(await records()).toMatchObject([{ provider: 'slow', outcome: 'client_abort', completion_tokens: 10 }])
  })

  it('between events goes before that of the gateway', async () => {
    const pieces = () => streamed(chunk('Hello'), new Promise(() => undefined))
    const { ask, records } = await setUp({ slow: [{ models, betweenEventsMs: 20 }, pieces] })
    const events = parseStream(await (await ask({ model: 'm', stream: true })).text())
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_timeout' } })
    expect(await records()).toMatchObject([{ outcome: 'idle_timeout' }])
  })

  it('may be longer than that of the gateway', async () => {
    const late = new Promise((resolve) => setTimeout(resolve, 60))
    const pieces = () => streamed(late, chunk('Hello', 'stop'))
    const { ask } = await setUp({ slow: [{ models, firstEventMs: 60_000 }, pieces] }, {}, { firstEventMs: 20 })
    expect(await (await ask({ model: 'm', stream: true })).text()).toContain('Hello')
  })
})
