import { fixedPrices, priceTable } from '@turnpike/core'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { completion, errorOf, withKey } from '../../../../test/support/gateway.js'

/** A server that wants no key. */
const keyless = () => fakeOpenAI({ override: () => completion() })

describe('a key restricted to some models', () => {
  it.each([['gpt-4o'], ['openai/gpt-4o']])('accepts them by either name: %s', async (allowed) => {
    const { ask, upstream } = await withKey({ models: [allowed] })
    expect((await ask({ model: 'gpt-4o' })).status).toBe(200)
    expect((await ask({ model: 'openai/gpt-4o' })).status).toBe(200)
    const refused = await ask({ model: 'gpt-4o-mini' })
    expect(refused.status).toBe(403)
    expect(await errorOf(refused)).toMatchObject({ type: 'permission_error', code: 'forbidden' })
    expect(upstream.requests).toHaveLength(2)
  })

  it.each(['llama3.2', 'llama3.2:latest', 'openai/llama3.2'])(
    'takes the tag of Ollama for granted: %s',
    async (allowed) => {
      const models = ['llama3.2:latest', 'llama3.2:1b']
      const router = createRouter({
        providers: [openai({ baseURL: 'http://localhost:11434/v1', models, transport: keyless().transport })],
      })
      const { ask, send, init } = await withKey({ models: [allowed] }, { router })
      for (const model of ['llama3.2', 'llama3.2:latest', 'openai/llama3.2'])
        expect((await ask({ model })).status).toBe(200)
      expect((await ask({ model: 'llama3.2:1b' })).status).toBe(403)
      const list = (await (await send('GET', '/v1/models', undefined, init)).json()) as { data: { id: string }[] }
      expect(list.data.map(({ id }) => id)).toEqual(['llama3.2:latest'])
    },
  )

  it('lists only those models', async () => {
    const { send, init } = await withKey({ models: ['gpt-4o'] })
    const list = (await (await send('GET', '/v1/models', undefined, init)).json()) as { data: { id: string }[] }
    expect(list.data.map(({ id }) => id)).toEqual(['gpt-4o'])
    expect((await send('GET', '/v1/models/gpt-4o', undefined, init)).status).toBe(200)
    expect((await send('GET', '/v1/models/gpt-4o-mini', undefined, init)).status).toBe(404)
  })

  it('restricts groups and auto to them', async () => {
    const router = createRouter({
      providers: [
        openai({ apiKey: 'sk', transport: fakeOpenAI().transport }),
        anthropic({ apiKey: 'sk', transport: fakeAnthropic().transport }),
      ],
      groups: { any: ['gpt-4o-mini', 'claude-haiku-4-5'], other: ['gpt-4o'] },
    })
    const { ask, records, send, init } = await withKey({ models: ['anthropic/claude-haiku-4-5'] }, { router })
    expect((await ask({ model: 'any' })).status).toBe(200)
    expect((await ask({ model: 'any', provider: 'auto' })).status).toBe(200)
    expect((await records()).map(({ provider }) => provider)).toEqual(['anthropic', 'anthropic'])
    const list = (await (await send('GET', '/v1/models', undefined, init)).json()) as { data: { id: string }[] }
    expect(list.data.map(({ id }) => id)).toEqual(['any', 'claude-haiku-4-5'])
    expect((await send('GET', '/v1/models/any', undefined, init)).status).toBe(200)
    expect((await send('GET', '/v1/models/other', undefined, init)).status).toBe(404)
  })
})

it('threat 68: no key gets a model that is not for it by the fallback of a group, nor a fallback without a refusal', async () => {
  const refusal = {
    status: 400,
    body: JSON.stringify({ error: { message: 'Too long', code: 'context_length_exceeded' } }),
    headers: { 'content-type': 'application/json' },
  }
  const small = fakeOpenAI({ override: () => refusal })
  const large = fakeAnthropic()
  const router = createRouter({
    providers: [
      openai({ apiKey: 'sk', transport: small.transport }),
      anthropic({ apiKey: 'sk', transport: large.transport }),
    ],
    groups: { any: { models: ['gpt-4o-mini'], contextFallback: 'claude-haiku-4-5' } },
  })
  const onlySmall = await withKey({ models: ['gpt-4o-mini'] }, { router })
  expect((await onlySmall.ask({ model: 'any' })).status).toBe(400)
  const onlyLarge = await withKey({ models: ['claude-haiku-4-5'] }, { router })
  expect((await onlyLarge.ask({ model: 'any' })).status).toBe(403)
  expect([small.requests.length, large.requests.length]).toEqual([1, 0])
  const both = await withKey({ models: ['gpt-4o-mini', 'claude-haiku-4-5'] }, { router })
  expect((await both.ask({ model: 'any' })).status).toBe(200)
})

it('holds under a budget the most that a fallback may cost', async () => {
  const held: Promise<number[]>[] = []
  const override = () => {
    held.push(holds().then((all) => all.map(({ amount }) => amount)))
    return completion()
  }
  const router = createRouter({
    providers: [
      openai({ apiKey: 'sk', transport: fakeOpenAI({ override }).transport }),
      anthropic({ apiKey: 'sk', transport: fakeAnthropic().transport }),
    ],
    prices: fixedPrices(
      priceTable({ 'openai/gpt-4o': { input: 0, output: 1 }, 'anthropic/claude-opus-4-1': { input: 0, output: 50 } }),
    ),
    groups: { any: { models: ['gpt-4o'], contextFallback: 'claude-opus-4-1' }, cheap: ['gpt-4o'] },
  })
  const { ask, holds } = await withKey({ budget: { usd: 1 } }, { router })
  for (const model of ['cheap', 'any']) expect((await ask({ model, max_tokens: 100 })).status).toBe(200)
  expect(await Promise.all(held)).toEqual([[100_000], [5_000_000]])
})

describe('a key restricted to a group', () => {
  const groups = {
    any: ['gpt-4o-mini', 'gemini/gemini-2.5-flash'],
    other: ['gpt-4o', 'gpt-4o-mini'],
    'gpt-5': ['gpt-4o'],
  }
  const grouped = (models: string[]) => {
    const providers = [
      openai({ apiKey: 'sk', transport: fakeOpenAI().transport }),
      google({ apiKey: 'sk', transport: fakeGoogle().transport }),
    ]
    return withKey({ models }, { router: createRouter({ providers, groups }) })
  }

  it('may use the group and each of its members, and lists them', async () => {
    const { ask, send, init } = await grouped(['any'])
    for (const model of ['any', 'gpt-4o-mini', 'openai/gpt-4o-mini', 'gemini-2.5-flash', 'gemini/gemini-2.5-flash'])
      expect([model, (await ask({ model })).status]).toEqual([model, 200])
    const list = (await (await send('GET', '/v1/models', undefined, init)).json()) as { data: { id: string }[] }
    expect(list.data.map(({ id }) => id).toSorted()).toEqual(['any', 'gemini-2.5-flash', 'gpt-4o-mini', 'other'])
    expect((await send('GET', '/v1/models/gpt-4o', undefined, init)).status).toBe(404)
  })

  it('threat 74: models beyond those of a key, by names of groups', async () => {
    const { ask, records } = await grouped(['any'])
    for (const model of ['gpt-4o', 'openai/gpt-4o', 'any/gpt-4o', 'gpt-5', 'constructor', '__proto__'])
      expect([model, (await ask({ model })).status]).not.toEqual([model, 200])
    // Of another group only what is a member of the own one as well.
    expect((await ask({ model: 'other' })).status).toBe(200)
    expect((await records()).map(({ model }) => model)).toEqual(['gpt-4o-mini'])
    // The model that a group of the same name stands in front of.
    const shadowed = await grouped(['gpt-5'])
    expect((await shadowed.ask({ model: 'gpt-5' })).status).toBe(200)
    for (const model of ['openai/gpt-5', 'gpt-5:latest', 'openai/gpt-5:latest'])
      expect([model, (await shadowed.ask({ model })).status]).not.toEqual([model, 200])
    expect((await shadowed.records()).map(({ model }) => model)).toEqual(['gpt-4o'])
    const strange = await grouped(['constructor', '__proto__', 'any/gpt-4o-mini', 'gone'])
    for (const model of ['gpt-4o-mini', 'any', 'gone']) expect((await strange.ask({ model })).status).not.toBe(200)
  })
})

it('threat 83: a key that names a group many times, looks it up once a request, whatever there is to list', async () => {
  const made = createRouter({ providers: [openai({ apiKey: 'sk' })], groups: { any: ['gpt-4o-mini', 'gpt-4o'] } })
  const looked: string[] = []
  const router = { ...made, members: (name: string) => (looked.push(name), made.members(name)) }
  const { send, init } = await withKey({ models: Array.from({ length: 100 }, () => 'any') }, { router })
  const list = (await (await send('GET', '/v1/models', undefined, init)).json()) as { data: { id: string }[] }
  expect(list.data.map(({ id }) => id).toSorted()).toEqual(['any', 'gpt-4o', 'gpt-4o-mini'])
  expect(looked).toEqual(['any'])
  expect(made.members('any')).toBe(made.members('any'))
})

describe('a key with an expiry time', () => {
  it('is refused after it', async () => {
    const at = await withKey({ expiresAt: new Date(Date.UTC(2026, 0, 2) + 5_000) })
    expect((await at.ask()).status).toBe(200)
    at.clock.now += 4_999
    expect((await at.ask()).status).toBe(200)
    at.clock.now += 1
    expect((await at.ask()).status).toBe(401)
  })
})
