import type { Need, OwnModel, Provider } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { openai } from '../openai/index.js'
import type { RouterOptions } from './router.js'
import { createRouter } from './router.js'

const vendor = (id: string, models: (string | OwnModel)[]): Provider =>
  openai({ id, apiKey: 'k', baseURL: `http://${id}.example/v1`, models })
const need = (model: string, more: object = {}): Need => ({
  task: 'chat',
  request: { model, ...more },
  expected: () => ({ input: 1_000, output: 1_000 }),
})
/** Finds the targets of requests. */
function finding(options: RouterOptions) {
  const router = createRouter(options)
  const targets = async (model: string, more?: object) => (await router.candidates(need(model, more))).targets
  const found = async (model: string, more?: object) =>
    (await targets(model, more)).map(({ provider, model }) => `${provider.id}/${model}`)
  return { router, targets, found }
}

describe('an own price', () => {
  const price = { input: 1, output: 2, service_tiers: { flex: { input: 0.5 } } }
  const providers = [
    vendor('openai', ['gpt-4o', 'gpt-4o-2024-08-06', { id: 'gpt-5', price }]),
    vendor('other', ['gpt-5', { id: 'mine', price: { input: 3, output: 4 } }]),
  ]

  it('goes before every table, for the very id at this provider alone', async () => {
    const { router, targets } = finding({ providers })
    const priceOf = async (model: string) => (await targets(model))[0]!.price
    expect([await priceOf('openai/gpt-5'), await priceOf('other/mine')]).toEqual([
      { input: 1, output: 2 },
      { input: 3, output: 4 },
    ])
    expect(await priceOf('openai/gpt-5-2025-08-07')).toMatchObject({ input: 1.25 })
    expect([await priceOf('other/gpt-5'), await priceOf('openai/mine')]).toEqual([undefined, undefined])
    const { prices } = router.state()
    expect(prices.price('openai', 'gpt-5', 'flex')).toEqual({ input: 0.5 })
    // The row is replaced as a whole: what the vendor lists for priority says nothing of this price.
    expect([prices.price('openai', 'gpt-5', 'priority'), prices.price('openai', 'gpt-4o', 'priority')]).toEqual([
      undefined,
      expect.objectContaining({ input: 4.25 }),
    ])
    expect([prices.originOf('openai', 'gpt-5')?.source, prices.originOf('openai', 'gpt-4o')?.source]).toEqual([
      'configuration',
      'built-in',
    ])
    expect(router.state().prices).toBe(prices)
    expect(prices.version).not.toBe(finding({ providers: [providers[1]!] }).router.state().prices.version)
  })

  it('decides what is cheapest', async () => {
    const cheap = vendor('cheap', [{ id: 'gpt-5', price: { input: 0.1, output: 0.1 } }])
    const { found } = finding({ providers: [...providers, cheap] })
    expect(await found('gpt-5', { provider: 'auto' })).toEqual(['cheap/gpt-5', 'openai/gpt-5', 'other/gpt-5'])
  })

  it('is one of an id', () => {
    const twice = (input: number) => [
      vendor('a', [{ id: 'm', price: { input: 1 } }]),
      vendor('a', [{ id: 'm', price: { input } }]),
    ]
    expect(() => createRouter({ providers: twice(1) })).not.toThrow()
    expect(() => createRouter({ providers: twice(2) })).toThrow(
      'createRouter: two providers with the id "a" have two prices of "m": one of them needs another id',
    )
    const wrong = vendor('a', [{ id: 'm', price: { input: -1 } }])
    expect(() => createRouter({ providers: [wrong] })).toThrow('Price of a/m: input is -1; expected US dollars')
  })
})

it('own limits go before those of the catalogue, each by itself', async () => {
  const models = [
    { id: 'gpt-4o', contextWindow: 9_000 },
    { id: 'gpt-4.1', maxOutput: 1 },
    { id: 'x', maxOutput: 7 },
  ]
  const { targets } = finding({ providers: [vendor('openai', models)] })
  const limits = await Promise.all(models.map(async ({ id }) => (await targets(id))[0]!.limits!()))
  expect(limits).toEqual([
    { context: 9_000, maxOutput: 16_384 },
    { context: 1_047_576, maxOutput: 1 },
    { context: undefined, maxOutput: 7 },
  ])
})

describe('an alias', () => {
  const providers = [
    {
      provider: vendor('openai', ['gpt-4o', 'gpt-4o-mini', 'o3']),
      aliases: { fast: 'gpt-4o-mini', o3: 'gpt-4o', shared: 'gpt-4o' },
    },
    { provider: vendor('openai', ['gpt-4o']) },
    { provider: vendor('late', ['shared']) },
    { provider: vendor('router', ['openai/gpt-4o']), aliases: { 'gpt-4o': 'openai/gpt-4o', lost: 'not-listed' } },
  ]
  const groups = { any: ['fast', 'router/gpt-4o'] }

  it.each<[asked: string, found: string[], more?: object]>([
    ['fast', ['openai/gpt-4o-mini', 'openai/gpt-4o-mini']],
    ['openai/fast', ['openai/gpt-4o-mini', 'openai/gpt-4o-mini']],
    ['fast', ['openai/gpt-4o-mini', 'openai/gpt-4o-mini'], { provider: 'openai' }],
    ['gpt-4o', ['openai/gpt-4o', 'openai/gpt-4o', 'router/openai/gpt-4o']],
    ['o3', ['openai/gpt-4o', 'openai/gpt-4o']],
    ['lost', ['router/not-listed']],
    ['shared', ['openai/gpt-4o', 'openai/gpt-4o', 'late/shared']],
    ['any', ['openai/gpt-4o-mini', 'openai/gpt-4o-mini', 'router/openai/gpt-4o']],
  ])('%s is %j', async (asked, expected, more) => {
    expect(await finding({ providers, groups }).found(asked, more)).toEqual(expected)
  })

  it('is of its provider alone', async () => {
    await expect(finding({ providers }).found('router/fast')).resolves.toEqual(['router/fast'])
  })

  it('stands for its models where a key names it', () => {
    const { router } = finding({ providers, groups })
    expect(['fast', 'openai/fast', 'router/fast', 'gpt-4o', 'any', 'gpt-4o-mini'].map(router.members)).toEqual([
      ['openai/gpt-4o-mini'],
      ['openai/gpt-4o-mini'],
      undefined,
      ['router/openai/gpt-4o'],
      ['fast', 'openai/gpt-4o-mini', 'router/gpt-4o', 'router/openai/gpt-4o'],
      undefined,
    ])
  })

  it('is listed as its model, in place of a model of its name', async () => {
    const { router } = finding({ providers })
    const models = await router.models()
    expect(models.map(({ provider, id, members }) => [provider, id, ...(members ?? [])])).toEqual([
      ['openai', 'gpt-4o'],
      ['openai', 'gpt-4o-mini'],
      ['late', 'shared'],
      ['router', 'openai/gpt-4o'],
      ['openai', 'fast', 'openai/gpt-4o-mini'],
      ['openai', 'o3', 'openai/gpt-4o'],
      ['openai', 'shared', 'openai/gpt-4o'],
      ['router', 'gpt-4o', 'router/openai/gpt-4o'],
      ['router', 'lost', 'router/not-listed'],
    ])
    const mini = await router.model('gpt-4o-mini')
    expect(await router.model('fast')).toEqual({ ...mini, id: 'fast', members: ['openai/gpt-4o-mini'] })
    expect(await router.model('openai/fast')).toEqual(await router.model('fast'))
  })

  it.each<[aliases: Record<string, string>, error: string]>([
    [{ '': 'gpt-4o' }, 'providers[0]: the alias "" must be a name, and stand for the id of a model'],
    [{ a: '' }, 'providers[0]: the alias "a" must be a name, and stand for the id of a model'],
    [{ a: 'b', b: 'gpt-4o' }, 'the alias "a" of "x" stands for "b", which is an alias'],
    [{ a: 'gpt-5' }, 'providers[1]: the alias "a" stands for "gpt-5" at another provider with the id "x"'],
  ])('%j is wrong', (aliases, error) => {
    const second = { provider: vendor('x', ['gpt-4o']), aliases: { a: 'gpt-4o' } }
    const two = [
      { provider: vendor('x', []), aliases },
      ...('a' in aliases && aliases['a'] === 'gpt-5' ? [second] : []),
    ]
    expect(() => createRouter({ providers: two })).toThrow(error)
  })
})

describe('retries', () => {
  const busy = () => Promise.reject(new UpstreamError('busy', { provider: 'a', kind: 'unavailable', accepted: false }))
  it.each<[what: string, own: number | undefined, ofGroup: number | undefined, all: number, calls: number]>([
    ['of all', undefined, undefined, 1, 2],
    ['of a group before those of all', undefined, 2, 0, 3],
    ['of a provider before those of all', 2, undefined, 0, 3],
    ['of a provider before those of a group', 0, 2, 2, 1],
  ])('%s', async (_, own, ofGroup, retries, calls) => {
    const { router, targets } = finding({
      providers: [{ provider: vendor('a', ['m']), ...(own !== undefined && { retries: own }) }],
      groups: { g: { models: ['m'], ...(ofGroup !== undefined && { retries: ofGroup }) } },
      retries,
      maxWaitMs: 1,
    })
    let count = 0
    const run = () => (count++, busy())
    await expect(router.attempt(await targets('g'), new AbortController().signal, run)).rejects.toThrow('busy')
    expect(count).toBe(calls)
  })
})

it.each([
  ['aliases', ['a'], 'must have ids by names'],
  ['retries', -1, 'is a number of times, and not -1'],
  ['retries', 1.5, 'is a number of times, and not 1.5'],
  ['firstEventMs', 0, 'is a number above 0, and not 0'],
  ['betweenEventsMs', NaN, 'is a number above 0, and not NaN'],
  ['wholeAnswerMs', -1, 'is a number above 0, and not -1'],
])('%s: %j is refused', (name, value, error) => {
  expect(() => createRouter({ providers: [{ provider: vendor('a', []), [name]: value }] })).toThrow(
    `createRouter: providers[0]: the option "${name}" ${error}`,
  )
})
