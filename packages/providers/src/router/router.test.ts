// Longer than 250 lines: one function, and one table of providers that most cases are about.
import type { Capability, Model, Need, Price, PriceTable, Provider, Router, Target } from '@turnpike/core'
import { ApiError, fixedPrices, priceTable, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { createRouter } from './router.js'

const model = (provider: string, id: string): Model => ({
  id,
  object: 'model',
  created: 1,
  owned_by: 'x',
  provider,
  capabilities: ['chat'],
})

function provider(id: string, models: string[], family?: RegExp, chat = true): Provider {
  const refuse = () => Promise.reject(new Error('not called'))
  return {
    id,
    models: async () => models.map((name) => model(id, name)),
    ...(family && { owns: (name: string) => family.test(name) }),
    ...(chat && { chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse } }),
  }
}

const router = createRouter({
  providers: [
    provider('openai', ['gpt-4o', 'shared'], /^gpt-/),
    provider('google', ['gemini-2.5-pro', 'shared'], /^gemini-/),
    provider('local', ['meta/llama', 'shared', 'gpt-4o-local']),
    provider('speaker', ['tts-1'], /^tts-/, false),
  ],
})

const need = (wanted: string, named?: string | null, more: Partial<Need> = {}): Need => ({
  task: 'chat',
  request: { model: wanted, provider: named },
  expected: () => ({ input: 1 }),
  ...more,
})
const targets = async (from: Router, wanted: string, named?: string | null): Promise<string[]> =>
  (await from.candidates(need(wanted, named))).targets.map((target) => `${target.provider.id}: ${target.model}`)

it.each(['auto', '', 'a/b', 'a b', 'ä'])('has no provider %j', (id) => {
  expect(() => createRouter({ providers: [provider(id, [])] })).toThrow(`"${id}" cannot be the id of a provider`)
})

describe('the router', () => {
  it.each<[model: string, provider: string | null | undefined, found: string[]]>([
    ['gpt-4o', undefined, ['openai: gpt-4o']],
    ['gpt-4o', null, ['openai: gpt-4o']],
    ['gpt-4o', '', ['openai: gpt-4o']],
    ['gpt-4o', 'auto', ['openai: gpt-4o']],
    ['shared', 'auto', ['openai: shared', 'google: shared', 'local: shared']],
    ['openai/gpt-4o', undefined, ['openai: gpt-4o']],
    ['openai/gpt-4o', 'auto', ['openai: gpt-4o']],
    ['google/shared', undefined, ['google: shared']],
    ['gemini/gemini-2.5-pro', undefined, ['google: gemini-2.5-pro']],
    ['openai/anything', undefined, ['openai: anything']],
    ['openai/a/b', undefined, ['openai: a/b']],
    ['meta/llama', undefined, ['local: meta/llama']],
    ['local/meta/llama', undefined, ['local: meta/llama']],
    ['gpt-99', undefined, ['openai: gpt-99']],
    ['gemini-99', 'auto', ['google: gemini-99']],
    ['gpt-4o-local', undefined, ['local: gpt-4o-local']],
    ['shared', 'google', ['google: shared']],
    ['shared', 'gemini', ['google: shared']],
    ['unlisted', 'local', ['local: unlisted']],
    ['openai/shared', 'local', ['local: shared']],
  ])('resolves %s of provider %s', async (wanted, named, found) =>
    expect(await targets(router, wanted, named)).toEqual(found),
  )

  it.each([
    ['unknown', undefined],
    ['unknown', 'auto'],
    ['', undefined],
    ['openai/', undefined],
    ['/gpt-4o', undefined],
    ['anthropic/claude', undefined],
    ['tts-1', undefined],
    ['speaker/tts-1', undefined],
    ['x', 'speaker'],
    ['', 'openai'],
    ['__proto__', undefined],
  ])('does not find model %j of provider %s', async (wanted, named) => {
    await expect(targets(router, wanted, named)).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: `No configured provider has the model "${wanted}"`,
    })
  })

  it('repeats at most 100 characters of a model id', async () => {
    await expect(targets(router, 'x'.repeat(250))).rejects.toThrow(`"${'x'.repeat(100)}"`)
  })

  it('lists the configured providers in the error for an unknown one', async () => {
    for (const named of ['anthropic', 'OpenAI', 'constructor'])
      await expect(targets(router, 'gpt-4o', named)).rejects.toMatchObject({
        status: 400,
        code: 'invalid_body',
        message: 'Unknown provider; the configured ones are "openai", "google", "local", "speaker", "auto"',
      })
  })

  it('keeps the configured order of providers', async () => {
    const [a, b] = [provider('a', ['m'], /^f-/), provider('b', ['m'], /^f-/)]
    expect(await targets(createRouter({ providers: [b, a] }), 'm')).toEqual(['b: m', 'a: m'])
    expect(await targets(createRouter({ providers: [b, a] }), 'f-1')).toEqual(['b: f-1', 'a: f-1'])
  })

  it('lists the models of all providers or of one', async () => {
    const ids = async (filter?: { provider?: string }) => (await router.models(filter)).map(({ id }) => id)
    expect(await ids()).toHaveLength(8)
    expect(await ids({})).toHaveLength(8)
    expect(await ids({ provider: 'openai' })).toEqual(['gpt-4o', 'shared'])
    expect(await ids({ provider: 'gemini' })).toEqual(['gemini-2.5-pro', 'shared'])
    expect(await ids({ provider: 'unknown' })).toEqual([])
    expect(await ids({ provider: '' })).toEqual([])
  })
})

describe('a group', () => {
  const prices = fixedPrices(
    priceTable({ 'openai/gpt-4o': { input: 9 }, 'google/gemini-2.5-pro': { input: 2 }, 'openai/shared': { input: 1 } }),
  )
  const providers = [
    provider('openai', ['gpt-4o', 'shared'], /^gpt-/),
    provider('google', ['gemini-2.5-pro', 'shared']),
  ]
  const grouped = createRouter({
    providers,
    prices,
    groups: {
      good: ['openai/gpt-4o', 'gemini-2.5-pro', 'shared'],
      partly: ['nobody/has-it', 'unknown', 'gemini-2.5-pro'],
      none: ['nobody/has-it'],
      empty: [],
      'gpt-4o': ['shared'],
      nested: ['good'],
      twice: ['openai/gpt-4o', 'shared', 'openai/shared'],
    },
  })

  it.each<[group: string, provider: string | undefined, found: string[]]>([
    ['good', undefined, ['openai: gpt-4o', 'google: gemini-2.5-pro', 'openai: shared', 'google: shared']],
    ['good', 'auto', ['openai: shared', 'google: gemini-2.5-pro', 'openai: gpt-4o', 'google: shared']],
    ['twice', undefined, ['openai: gpt-4o', 'openai: shared', 'google: shared']],
    ['good', 'google', ['google: gemini-2.5-pro', 'google: shared']],
    ['good', 'gemini', ['google: gemini-2.5-pro', 'google: shared']],
    ['partly', undefined, ['google: gemini-2.5-pro']],
    ['gpt-4o', undefined, ['openai: shared', 'google: shared']],
    ['openai/gpt-4o', undefined, ['openai: gpt-4o']],
  ])('%s of provider %s is %j', async (group, named, found) =>
    expect(await targets(grouped, group, named)).toEqual(found),
  )

  it('is a model of its first provider, with what all its listed members can do', async () => {
    const able = (id: string, ...capabilities: Capability[]): Model => ({ ...model('p', id), capabilities })
    const various = Object.assign(provider('p', []), {
      models: async () => [able('a', 'chat', 'vision', 'tools'), able('b', 'chat', 'tools'), able('c', 'embeddings')],
    })
    const groups = { able: ['p/a', 'p/b', 'p/a', 'p/unlisted'], unable: ['p/a', 'p/c'], unknown: ['p/x'], none: ['y'] }
    const router = createRouter({ providers: [various], groups })
    const record = { object: 'model', created: expect.any(Number) as number, owned_by: 'turnpike', provider: 'p' }
    expect(await router.groups()).toEqual([
      { ...record, id: 'able', capabilities: ['chat', 'tools'], members: ['p/a', 'p/b', 'p/unlisted'] },
      { ...record, id: 'unable', capabilities: [], members: ['p/a', 'p/c'] },
      { ...record, id: 'unknown', capabilities: [], members: ['p/x'] },
    ])
  })

  it('is found by its name, and listed with its first provider', async () => {
    const ids = async (provider: string) => (await grouped.groups({ provider })).map(({ id }) => id)
    expect(await ids('openai')).toEqual(['good', 'gpt-4o', 'twice'])
    expect(await ids('gemini')).toEqual(['partly'])
    expect(await grouped.model('gpt-4o')).toMatchObject({ members: ['openai/shared', 'google/shared'] })
    expect(await grouped.model('openai/gpt-4o')).not.toHaveProperty('members')
    expect(await grouped.model('none')).toBeUndefined()
  })

  it.each([
    ['partly', 'openai'],
    ['none', undefined],
    ['none', 'auto'],
    ['empty', undefined],
    ['nested', undefined],
    ['constructor', undefined],
  ])('without members: %s of provider %s', async (group, named) => {
    await expect(targets(grouped, group, named)).rejects.toMatchObject({ code: 'model_not_found' })
  })
})

describe('an id that starts with the name of another provider', () => {
  const broker = createRouter({
    providers: [provider('openai', ['gpt-4o'], /^gpt-/), provider('broker', ['openai/gpt-4o', 'google/gemma'])],
  })

  it.each([
    ['openai/gpt-4o', undefined, 'openai: gpt-4o'],
    ['openai/gpt-4o', 'openai', 'openai: gpt-4o'],
    ['openai/gpt-4o', 'broker', 'broker: openai/gpt-4o'],
    ['broker/openai/gpt-4o', undefined, 'broker: openai/gpt-4o'],
    ['broker/openai/gpt-4o', 'broker', 'broker: openai/gpt-4o'],
    ['google/gemma', undefined, 'broker: google/gemma'],
    ['openai/unlisted', 'broker', 'broker: unlisted'],
    ['broker/openai/unlisted', 'broker', 'broker: openai/unlisted'],
  ])('%s of provider %s is %s', async (wanted, named, found) =>
    expect(await targets(broker, wanted, named)).toEqual([found]),
  )
})

describe('several instances of a provider', () => {
  const named = (id: string, key: string): Provider => Object.assign(provider(id, ['m']), { key })
  /** The keys of the targets of a request, of which the first is called. */
  const keys = async (from: Router, wanted: string, of?: string): Promise<string> => {
    const { targets } = await from.candidates(need(wanted, of))
    await from.attempt(targets, new AbortController().signal, async () => undefined)
    return targets.map((target) => (target.provider as unknown as { key: string }).key).join('')
  }
  const instances = [named('a', '1'), named('b', 'x'), named('a', '2'), named('b', 'y'), named('a', '3')]
  const prices = fixedPrices(priceTable({ 'a/m': { input: 2 }, 'b/m': { input: 1 } }))

  it('are used round-robin', async () => {
    const router = createRouter({ providers: instances, prices })
    for (const turn of ['123', '231', '312', '123']) expect(await keys(router, 'a/m')).toBe(turn)
  })

  it('are used round-robin per provider, also in a group', async () => {
    const router = createRouter({ providers: instances, prices, groups: { all: ['a/m', 'b/m'] } })
    for (const turn of ['123xy', '231xy', '312xy', '123xy']) expect(await keys(router, 'all')).toBe(turn)
    for (const turn of ['xy231', 'yx231']) expect(await keys(router, 'm', 'auto')).toBe(turn)
  })

  /** Sends requests one after the other, and counts the calls by key. @param fails whether a call fails, by its key and number */
  async function load(router: Router, count: number, fails: (key: string, call: number) => unknown = () => undefined) {
    const calls: Record<string, number> = {}
    for (let i = 0; i < count; i++) {
      const { targets } = await router.candidates(need('a/m'))
      const run = async ({ provider }: Target): Promise<void> => {
        const { key } = provider as unknown as { key: string }
        calls[key] = (calls[key] ?? 0) + 1
        const failure = fails(key, calls[key])
        if (failure) throw new UpstreamError('', { provider: 'a', kind: 'status', accepted: false, ...failure })
      }
      const done = await router.attempt(targets, new AbortController().signal, run).catch(() => undefined)
      if (done) router.report(done.target)
    }
    return calls
  }
  const weighted = (now = Date.now) =>
    createRouter({
      providers: [
        { provider: named('a', '1'), weight: 5 },
        { provider: named('a', '2'), weight: 3 },
        { provider: named('a', '3'), weight: 2 },
      ],
      now,
    })

  it('threat 85: take no turn by requests that are refused before a call, and share those that wait before it', async () => {
    const members = ['a/m', 'b/m'].map((model) => ({ model, weight: 1 }))
    const router = createRouter({ providers: instances, prices, groups: { all: members } })
    for (const [wanted, part] of [
      ['a/m', { 1: 2, 2: 2, 3: 2 }],
      ['b/m', { x: 3, y: 3 }],
      ['all', { 1: 1, 2: 1, 3: 1, x: 3 / 2, y: 3 / 2 }],
    ] as const) {
      const choose = async () => (await router.candidates(need(wanted))).targets
      const calls: Record<string, number> = {}
      const call = async (targets: Target[]): Promise<void> => {
        const { target } = await router.attempt(targets, new AbortController().signal, async () => undefined)
        const { key } = target.provider as unknown as { key: string }
        calls[key] = (calls[key] ?? 0) + 1
        router.report(target)
      }
      for (let i = 0; i < 12; i++) {
        const refuse = () => Promise.reject(new ApiError(400, 'invalid_request_error', '', { code: 'invalid_body' }))
        await expect(router.attempt(await choose(), new AbortController().signal, refuse)).rejects.toThrow()
        await choose()
        await call(await choose())
      }
      const waiting = await Promise.all(Array.from({ length: 12 }, choose))
      for (const targets of waiting) await call(targets)
      expect([wanted, calls]).toEqual([
        wanted,
        Object.fromEntries(Object.entries(part).map(([key, times]) => [key, 4 * times])),
      ])
    }
  })

  it('share 2,000 calls by weight', async () => {
    expect(await load(weighted(), 2_000)).toEqual({ 1: 1_000, 2: 600, 3: 400 })
  })

  it('share the calls by weight where some of them fail', async () => {
    const calls = await load(weighted(), 2_000, (key, call) => key === '1' && call % 4 === 0 && { status: 500 })
    expect(calls).toEqual({ 1: 1_000, 2: 600, 3: 400 })
    const more = await load(
      weighted(),
      2_000,
      (key, call) => key === '2' && call % 4 === 0 && { status: 503, retryAfter: 0 },
    )
    const all = more['1']! + more['2']! + more['3']!
    expect(all).toBe(2_000 + Math.floor(more['2']! / 4))
    for (const [key, part] of [
      ['1', 0.5],
      ['2', 0.3],
      ['3', 0.2],
    ] as const)
      expect(Math.abs(more[key]! / all / part - 1), key).toBeLessThan(0.05)
  })

  it.each([
    [{ status: 429, retryAfter: 60 }, 60_000],
    [{ status: 429 }, 30_000],
    [{ kind: 'unavailable' as const }, 30_000],
  ])('rest after %j, while the others share by weight', async (failure, ms) => {
    let now = Date.UTC(2026, 0, 2)
    const router = weighted(() => now)
    await load(router, 50, (key) => key === '1' && failure)
    expect(await load(router, 1_000)).toEqual({ 2: 600, 3: 400 })
    now += ms - 1
    expect(await load(router, 100)).toEqual({ 2: 60, 3: 40 })
    now += 1
    expect((await load(router, 100))['1']).toBeGreaterThan(45)
  })

  it('are called one at a time where all rest, who rests least long first', async () => {
    let now = Date.UTC(2026, 0, 2)
    const router = weighted(() => now)
    const seconds: Record<string, number> = { 1: 60, 2: 20, 3: 40 }
    const limits = (key: string) => ({ status: 429, retryAfter: seconds[key] })
    expect(await load(router, 1, limits)).toEqual({ 1: 1, 2: 1, 3: 1 })
    expect(await load(router, 3, limits)).toEqual({ 2: 3 })
    now += 20_000
    expect(await load(router, 10)).toEqual({ 2: 10 })
  })

  it('have separate breakers', async () => {
    const router = createRouter({ providers: instances, prices })
    const limited = new UpstreamError('', { provider: 'a', kind: 'status', status: 429, accepted: false })
    const [first] = (await router.candidates(need('a/m'))).targets
    router.report(first!, limited)
    for (const turn of ['231', '321', '231']) expect(await keys(router, 'a/m')).toBe(turn)
    expect(router.health().map(({ id }) => id)).toEqual(['a', 'b', 'a', 'b', 'a'])
  })

  it('are listed once', async () => {
    expect(await createRouter({ providers: instances }).models()).toHaveLength(2)
  })
})

describe('the price of a target', () => {
  const table = (price: Price): PriceTable => priceTable({ 'a/m': price, 'b/m': { input: 5 } })
  let now = table({ input: 1 })
  const priced = createRouter({
    providers: [provider('b', ['m']), provider('a', ['m'])],
    prices: { table: () => now },
  })
  const found = async (): Promise<Target> => (await priced.candidates(need('m', 'auto'))).targets[0]!

  it('is that of the current table, which the next request uses immediately', async () => {
    const before = now
    const first = await found()
    expect(first).toMatchObject({ provider: { id: 'a' }, price: { input: 1 }, catalogue: before.version })
    now = table({ input: 9 })
    expect(await found()).toMatchObject({ provider: { id: 'b' }, price: { input: 5 }, catalogue: now.version })
    now = table({ input: 4 })
    expect(await found()).toMatchObject({ provider: { id: 'a' }, price: { input: 4 }, catalogue: now.version })
    expect(first).toMatchObject({ price: { input: 1 }, catalogue: before.version })
  })

  it('is from one table for all targets of a request', async () => {
    let reads = 0
    const router = createRouter({
      providers: [provider('b', ['m']), provider('a', ['m'])],
      prices: { table: () => (reads++ === 0 ? table({ input: 1 }) : priceTable({})) },
    })
    const { targets } = await router.candidates(need('m'))
    expect(targets.map(({ price }) => price)).toEqual([{ input: 5 }, { input: 1 }])
    expect(reads).toBe(1)
  })
})

it('refuses auto if no target fits', async () => {
  await expect(async () => router.candidates(need('shared', 'auto', { fits: () => false }))).rejects.toMatchObject({
    status: 400,
    code: 'unsupported_parameter',
    message: 'No configured provider of "shared" can do what is asked for',
  })
})
