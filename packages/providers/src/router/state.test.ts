import type { Provider, Target, UpstreamFailure } from '@turnpike/core'
import { fixedPrices, priceTable, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { createRouter } from './router.js'

const never = new AbortController().signal
const failed = (fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  new UpstreamError('failed', { provider: 'p', kind: 'unavailable', accepted: false, ...fields })

/** A router whose providers all support chat; requests do not fit `poor`. */
function setUp(ids: string[]) {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const refuse = () => Promise.reject(new Error('not called'))
  const providers = ids.map((id): Provider => ({
    id,
    models: async () => [],
    owns: () => true,
    fits: () => id !== 'poor',
    chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
    ...(id === 'a' && { embeddings: refuse }),
  }))
  const prices = fixedPrices(priceTable({ 'a/m': { input: 3 }, 'b/m': { input: 2 }, 'poor/m': { input: 1 } }))
  const router = createRouter({ providers, prices, groups: { fast: ['a/m', 'b/m'] }, now: () => clock.now })
  /** Sends one request; `outcomes` = the errors of the providers, by id. */
  const request = async (
    model: string,
    provider?: string,
    outcomes: Record<string, unknown> = {},
    requestId?: string,
  ): Promise<void> => {
    const need = { task: 'chat' as const, request: { model, provider }, expected: () => ({ input: 1000 }) }
    const { targets } = await router.candidates(need, requestId)
    const run = async (target: Target): Promise<void> => {
      const error = outcomes[target.provider.id]
      if (error) throw error
    }
    const { target } = await router.attempt(targets, never, run)
    router.report(target)
  }
  return { router, clock, request }
}

describe('the choices of a router', () => {
  it('are those among several targets, newest first, with their result', async () => {
    const { router, clock, request } = setUp(['a', 'b', 'poor'])
    await request('m', 'auto', { b: failed() }, 'r1')
    clock.now += 1_000
    await request('m')
    await request('a/m')
    await request('a/m', 'auto')
    await expect(request('fast', undefined, { a: failed(), b: failed() })).rejects.toThrow('failed')
    const place = (provider: string, expected_nano_usd: number | null, more: object = {}) => ({
      provider,
      model: 'm',
      expected_nano_usd,
      ...more,
    })
    expect(router.state().choices).toEqual([
      {
        time: '2026-01-02T00:00:01.000Z',
        request_id: null,
        model: 'fast',
        provider: null,
        by: 'order',
        order: [place('a', null), place('b', null)],
        served: null,
        attempts: 2,
      },
      {
        time: '2026-01-02T00:00:01.000Z',
        request_id: null,
        model: 'm',
        provider: null,
        by: 'order',
        order: [place('a', null), place('b', null), place('poor', null, { excluded: 'unfit' })],
        served: { provider: 'a', model: 'm' },
        attempts: 1,
      },
      {
        time: '2026-01-02T00:00:00.000Z',
        request_id: 'r1',
        model: 'm',
        provider: 'auto',
        by: 'price',
        order: [place('b', 2_000_000), place('a', 3_000_000), place('poor', 1_000_000, { excluded: 'unfit' })],
        served: { provider: 'a', model: 'm' },
        attempts: 2,
      },
    ])
  })

  it('report targets that were moved back, with the reason', async () => {
    const { router, request } = setUp(['a', 'b'])
    await request('fast', undefined, { a: failed({ kind: 'status', status: 429 }) })
    await request('fast')
    expect(router.state().choices[0]!.order).toEqual([
      { provider: 'b', model: 'm', expected_nano_usd: null },
      { provider: 'a', model: 'm', expected_nano_usd: null, behind: 'limited' },
    ])
  })

  it('are the last hundred, of limited size', async () => {
    const { router, request } = setUp(['a', 'b'])
    for (let i = 0; i < 101; i++) await request(`m${i}`)
    await request('x'.repeat(250))
    const models = router.state().choices.map(({ model }) => model)
    expect(models).toEqual(['x'.repeat(200), ...Array.from({ length: 99 }, (_, i) => `m${100 - i}`)])
  })

  it('include a target also where the others were removed', async () => {
    const { router } = setUp(['a', 'b'])
    const { targets } = await router.candidates({ task: 'chat', request: { model: 'fast' }, expected: () => ({}) })
    await router.attempt([targets[1]!], never, async () => undefined)
    expect(router.state().choices).toMatchObject([{ served: { provider: 'b' }, attempts: 1 }])
  })
})

describe('the state of a router', () => {
  it('has the providers in order, their tasks, the groups and the prices', () => {
    const { router } = setUp(['b', 'a'])
    const { providers, groups, prices } = router.state()
    const well = { status: 'healthy', failures: 0, last_failure: null, next_try: null, breaker: 'closed', limited: [] }
    expect(providers).toEqual([
      { id: 'b', tasks: ['chat'], ...well },
      { id: 'a', tasks: ['chat', 'embeddings'], ...well },
    ])
    expect(groups).toEqual({ fast: ['a/m', 'b/m'] })
    expect(prices.price('a', 'm')).toEqual({ input: 3 })
  })

  it('has the breaker open, half-open and closed', async () => {
    const { router, clock, request } = setUp(['a'])
    const breaker = () => router.state().providers[0]!.breaker
    for (let i = 0; i < 5; i++) {
      expect(breaker()).toBe('closed')
      await request('m', undefined, { a: failed() }).catch(() => undefined)
    }
    expect([breaker(), router.state().providers[0]!.next_try]).toEqual(['open', '2026-01-02T00:00:30.000Z'])
    clock.now += 29_999
    expect(breaker()).toBe('open')
    clock.now += 1
    expect(breaker()).toBe('half-open')
    await request('m')
    expect(breaker()).toBe('closed')
  })

  it('lists rate limited models, for as long as they are limited', async () => {
    const { router, clock, request } = setUp(['a'])
    const limited = failed({ kind: 'status', status: 429, retryAfter: 7 })
    await request('m', undefined, { a: limited }).catch(() => undefined)
    expect(router.state().providers[0]!.limited).toEqual([{ model: 'm', until: '2026-01-02T00:00:07.000Z' }])
    clock.now += 7_000
    expect(router.state().providers[0]!.limited).toEqual([])
  })
})
