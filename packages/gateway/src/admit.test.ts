import type { Hold, KeyInput } from '@turnpike/core'
import { createSession, createUser, getSession, memoryKV, verifyStore } from '@turnpike/core'
import { anthropic, createRouter, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import type { TestOptions } from '../../../test/support/gateway.js'
import { answer, chunk, errorOf, OWNER, streamed, testGateway } from '../../../test/support/gateway.js'

/** A whole answer that costs 9 · 2.5 + 3 · 10 = 52.5 thousandths of a thousandth of a dollar with gpt-4o. */
const whole = () =>
  answer({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 5,
    model: 'gpt-4o-2024',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  })
const COST = 52_500

/** A gateway that is called with a key of these properties. */
async function withKey(input: Partial<KeyInput>, options: TestOptions = {}) {
  const at = await testGateway({ upstream: whole, ...options })
  const { key, id } = (await at.gateway.keys.create(OWNER, { name: 'limited', rateLimit: 1_000, ...input }))!
  const init = { headers: { authorization: `Bearer ${key}` } }
  const holds = async () => (await at.kv.list<Hold>(['hold'])).items.map(({ value }) => value)
  const problems = async () => {
    const found: string[] = []
    for await (const problem of verifyStore(at.kv)) found.push(problem)
    return found
  }
  return { ...at, id, init, holds, problems, ask: (fields: object = {}) => at.chat(fields, init) }
}

describe('a key for some models', () => {
  it.each([['gpt-4o'], ['openai/gpt-4o']])('takes them by either name: %s', async (allowed) => {
    const { ask, upstream } = await withKey({ models: [allowed] })
    expect((await ask({ model: 'gpt-4o' })).status).toBe(200)
    expect((await ask({ model: 'openai/gpt-4o' })).status).toBe(200)
    const refused = await ask({ model: 'gpt-4o-mini' })
    expect(refused.status).toBe(403)
    expect(await errorOf(refused)).toMatchObject({ type: 'permission_error', code: 'forbidden' })
    expect(upstream.requests).toHaveLength(2)
  })

  it('lists those, and knows no other', async () => {
    const { send, init } = await withKey({ models: ['gpt-4o'] })
    const list = (await (await send('GET', '/v1/models', undefined, init)).json()) as { data: { id: string }[] }
    expect(list.data.map(({ id }) => id)).toEqual(['gpt-4o'])
    expect((await send('GET', '/v1/models/gpt-4o', undefined, init)).status).toBe(200)
    expect((await send('GET', '/v1/models/gpt-4o-mini', undefined, init)).status).toBe(404)
  })

  it('is held to them where a group or the price decides', async () => {
    const router = createRouter({
      providers: [
        openai({ apiKey: 'sk', transport: fakeOpenAI().transport }),
        anthropic({ apiKey: 'sk', transport: fakeAnthropic().transport }),
      ],
      groups: { any: ['gpt-4o-mini', 'claude-haiku-4-5'] },
    })
    const { ask, records } = await withKey({ models: ['anthropic/claude-haiku-4-5'] }, { router })
    expect((await ask({ model: 'any' })).status).toBe(200)
    expect((await ask({ model: 'any', provider: 'auto' })).status).toBe(200)
    expect((await records()).map(({ provider }) => provider)).toEqual(['anthropic', 'anthropic'])
  })
})

describe('a key that ends', () => {
  it('is refused from then on', async () => {
    const at = await withKey({ expiresAt: new Date(Date.UTC(2026, 0, 2) + 5_000) })
    expect((await at.ask()).status).toBe(200)
    at.clock.now += 4_999
    expect((await at.ask()).status).toBe(200)
    at.clock.now += 1
    expect((await at.ask()).status).toBe(401)
  })
})

describe('a budget', () => {
  const limited = (usd: number, options: TestOptions = {}) => withKey({ budget: { usd } }, options)

  it('lets requests pass until it is used up', async () => {
    // Each is expected to cost 1 · 2.5 + 2 · 10, and costs 52.5.
    const { ask, problems, holds, upstream, gateway, id } = await limited((2 * COST) / 1e9)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await ask({ max_tokens: 2 })).status)
    expect(statuses).toEqual([200, 200, 403, 403])
    expect(upstream.requests).toHaveLength(2)
    expect(await errorOf(await ask({ max_tokens: 2 }))).toEqual({
      type: 'permission_error',
      code: 'budget_exceeded',
      message: 'The budget for this is used up',
    })
    expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({ held: 0, spent: 2 * COST })
    expect(await holds()).toEqual([])
    expect(await problems()).toEqual([])
  })

  it('is not exceeded by requests at the same time', async () => {
    const { ask, records } = await limited((10 * 22_500) / 1e9)
    const responses = await Promise.all(Array.from({ length: 50 }, () => ask({ max_tokens: 2 })))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(await records()).toHaveLength(10)
  })

  it('of a user holds for all of their keys', async () => {
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

  it('begins anew with its month', async () => {
    const at = await withKey({ budget: { usd: COST / 1e9, per: 'month' } })
    expect((await at.ask({ max_tokens: 2 })).status).toBe(200)
    expect((await at.ask({ max_tokens: 2 })).status).toBe(403)
    at.clock.now = Date.UTC(2026, 1, 1)
    expect((await at.ask({ max_tokens: 2 })).status).toBe(200)
  })

  it('gets back what a failed request held', async () => {
    const { ask, holds, problems, gateway, id, records } = await limited(COST / 1e9, {
      upstream: () => answer({ error: { message: 'no' } }, 500),
    })
    for (let i = 0; i < 3; i++) expect((await ask({ max_tokens: 2 })).status).toBe(502)
    expect([await holds(), await records(), await problems()]).toEqual([[], [], []])
    expect(await gateway.ledger.used({ of: 'key', id, budget: { usd: 1 } })).toEqual({ held: 0, spent: 0 })
  })

  it('is charged for a stream that breaks off', async () => {
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

  it('is kept by refusing models whose price nobody knows', async () => {
    const { ask, upstream } = await limited(1)
    const refused = await ask({ model: 'gpt-unheard-of' })
    expect(refused.status).toBe(403)
    expect(await errorOf(refused)).toMatchObject({ code: 'forbidden' })
    expect(upstream.requests).toEqual([])
  })
})

describe('holds', () => {
  it('are there while a request runs, and have what it may cost', async () => {
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

  it('are booked by a sweep where the process died', async () => {
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

  it('are none where nobody wants them', async () => {
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

describe('a session', () => {
  it('is summed where it is the caller’s and live', async () => {
    const at = await withKey({})
    await createUser(at.kv, { id: 'other' })
    const [own, foreign, over] = [
      await createSession(at.kv, OWNER, {}, at.clock.now),
      await createSession(at.kv, 'other', {}, at.clock.now),
      await createSession(at.kv, OWNER, { expiresAt: new Date(at.clock.now) }, at.clock.now),
    ]
    at.clock.now += 1_000
    const within = (id: string) => at.chat({}, { headers: { 'x-session-id': id } })
    await within(own.id)
    await within(own.id.toUpperCase())
    const ids = [foreign.id, over.id, '01900000-aaaa-7000-8000-0000000000ff', 'no-uuid']
    for (const id of ids) expect((await within(id)).status).toBe(200)
    expect(await getSession(at.kv, own.id)).toMatchObject({
      request_count: 2,
      prompt_tokens: 18,
      completion_tokens: 6,
      total_tokens: 24,
      cost_usd: (2 * COST) / 1e9,
      updated_at: '2026-01-02T00:00:01.000Z',
    })
    for (const { id } of [foreign, over])
      expect(await getSession(at.kv, id)).toMatchObject({ request_count: 0, cost_usd: 0 })
    // Tags are kept whatever they name.
    expect((await at.records()).map(({ session_id }) => session_id)).toEqual([
      '',
      ids[2],
      over.id,
      foreign.id,
      own.id,
      own.id,
    ])
    expect(await at.problems()).toEqual([])
  })
})

describe('a client that leaves', () => {
  const later = () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    return { gate, open: () => open() }
  }

  it('a whole answer is booked for what was sent', async () => {
    const client = new AbortController()
    const { chat, records } = await testGateway({
      upstream: () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: streamed(new Promise(() => undefined)).body,
      }),
    })
    const asked = chat({}, { signal: client.signal })
    await new Promise((resolve) => setTimeout(resolve, 20))
    client.abort()
    await asked
    expect(await records()).toMatchObject([
      { outcome: 'client_abort', accuracy: 'estimated', prompt_tokens: 1, completion_tokens: 0, units: { input: 1 } },
    ])
  })

  it('a stream that may end is booked as the upstream reports it', async () => {
    const { gate, open } = later()
    const tokens = { prompt_tokens: 9, completion_tokens: 70 }
    const usage = { ...tokens, total_tokens: 79 }
    const { chat, records, signals, gateway } = await testGateway({
      onClientAbort: 'drain',
      upstream: () =>
        streamed(chunk('Hello'), gate, chunk(' world', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]'),
    })
    const reader = (await chat({ stream: true })).body!.getReader()
    await reader.read()
    const left = reader.cancel()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([signals[0]!.aborted, await records()]).toEqual([false, []])
    open()
    await left
    await gateway.drain()
    expect(await records()).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', ...tokens }])
  })

  it('a stream that may end has a bound', async () => {
    const { chat, records, signals } = await testGateway({
      onClientAbort: 'drain',
      abandonedMs: 30,
      upstream: () => streamed(chunk('Hello'), new Promise(() => undefined)),
    })
    const client = new AbortController()
    const reader = (await chat({ stream: true }, { signal: client.signal })).body!.getReader()
    await reader.read()
    client.abort()
    await reader.cancel().catch(() => undefined)
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated', completion_tokens: 2 }])
    expect(signals[0]!.aborted).toBe(true)
  })
})
