import type { Need, Provider, Target, UpstreamFailure } from '@turnpike/core'
import { ApiError, fixedPrices, priceTable, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { RouterOptions } from './router.js'
import { createRouter } from './router.js'

type Groups = NonNullable<RouterOptions['groups']>
const never = new AbortController().signal
const failed = (fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  new UpstreamError('failed', { provider: 'p', kind: 'status', status: 503, accepted: false, ...fields })
const refusal = (refused: UpstreamFailure['refused'], fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  failed({ status: 400, caller: true, refused, ...fields })

function setUp(groups: Groups, options: Partial<RouterOptions> = {}) {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const refuse = () => Promise.reject(new Error('not called'))
  const providers = ['a', 'b', 'c', 'd'].map((id): Provider => ({
    id,
    models: async () => [],
    owns: (model) => model === id,
    chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
    ...(id === 'd' && { embeddings: refuse }),
  }))
  const router = createRouter({ providers, groups, now: () => clock.now, maxWaitMs: 0, ...options })
  const asked: string[] = []
  /** Sends one request to a group. @param errors what the providers fail with, one after the other */
  const send = async (errors: Record<string, unknown[]> = {}, more: Partial<Need> = {}): Promise<Target> => {
    const need: Need = { task: 'chat', request: { model: 'g' }, expected: () => ({ input: 10 }), ...more }
    const { targets } = await router.candidates(need)
    const { target } = await router.attempt(targets, never, async ({ provider: { id } }) => {
      asked.push(id)
      const error = errors[id]?.shift()
      if (error) throw error
    })
    router.report(target)
    return target
  }
  const took = (): string => asked.splice(0).join('')
  return { router, clock, send, took }
}
const count = (all: string, one: string): number => all.split(one).length - 1

describe('a group with weights', () => {
  it('shares the calls by them, and has the rest in order', async () => {
    const { send, took } = setUp({ g: [{ model: 'a', weight: 3 }, { model: 'b', weight: 1 }, 'c'] })
    for (let i = 0; i < 2_000; i++) await send()
    const all = took()
    expect([count(all, 'a'), count(all, 'b'), count(all, 'c')]).toEqual([1_500, 500, 0])
    await send({ a: [failed()], b: [failed()] })
    expect(took().slice(-1)).toBe('c')
  })

  it('shares the calls by them where some fail', async () => {
    const { send, took } = setUp({
      g: [
        { model: 'a', weight: 5 },
        { model: 'b', weight: 3 },
        { model: 'c', weight: 2 },
      ],
    })
    for (let i = 0; i < 2_000; i++) await send(i % 5 === 0 ? { a: [failed()] } : {})
    const all = took()
    for (const [one, part] of Object.entries({ a: 0.5, b: 0.3, c: 0.2 }))
      expect(Math.abs(count(all, one) / all.length / part - 1), one).toBeLessThan(0.05)
  })

  it('gives what one that rests would get to those beside it', async () => {
    const { clock, send, took } = setUp({ g: ['d', { model: 'a', weight: 1 }, { model: 'b', weight: 1 }, 'c'] })
    await send({ d: [failed({ status: 429, retryAfter: 60 })], a: [failed({ status: 429, retryAfter: 60 })] })
    took()
    for (let i = 0; i < 10; i++) await send()
    expect(took()).toBe('b'.repeat(10))
    clock.now += 60_000
    await send()
    expect(took()).toBe('d')
  })

  it('is listed and described by its models, in the configured order', async () => {
    const { router, send } = setUp({ g: [{ model: 'b', weight: 1 }, { model: 'a', weight: 1 }, 'c'] })
    await send()
    expect(router.state().groups).toEqual({ g: ['b', 'a', 'c'] })
    expect(await router.model('g')).toMatchObject({ members: ['b/b', 'a/a', 'c/c'], provider: 'b' })
  })

  it('has the cheapest first where that is asked for', async () => {
    const { send, took } = setUp(
      {
        g: [
          { model: 'a', weight: 9 },
          { model: 'b', weight: 1 },
        ],
      },
      {
        prices: fixedPrices(priceTable({ 'a/a': { input: 2 }, 'b/b': { input: 1 } })),
      },
    )
    for (let i = 0; i < 5; i++) await send({}, { request: { model: 'g', provider: 'auto' } })
    expect(took()).toBe('bbbbb')
  })
})

describe('a group with options', () => {
  it('has its own retries and statuses of failover', async () => {
    const models = ['a', 'b']
    const server = failed({ status: 500 })
    const plain = setUp({ g: models })
    await expect(plain.send({ a: [server] })).rejects.toBe(server)
    const own = setUp({ g: { models, failoverStatuses: [500], retries: 1 }, other: models })
    await own.send({ a: [server] })
    expect(own.took()).toBe('ab')
    await own.send({ a: [failed()], b: [failed()] })
    expect(own.took()).toBe('aba')
    const above = setUp({ g: { models, retries: 0 } }, { retries: 3, failoverStatuses: [500] })
    await expect(above.send({ a: [failed()], b: [failed()] })).rejects.toThrow('failed')
    expect(above.took()).toBe('ab')
    await above.send({ a: [server] })
    expect(above.took()).toBe('ab')
  })
})

describe('a fallback of a group', () => {
  const groups = { g: { models: ['a', 'b'], contextFallback: 'c', contentFallback: 'd' } }

  it.each<[what: string, error: unknown, called: string, fallback: string | undefined]>([
    ['a prompt that is too long', refusal('length'), 'ac', 'length'],
    ['a content that is refused', refusal('content'), 'ad', 'content'],
    ['another refusal', refusal('model'), 'ab', undefined],
    ['a rate limit', failed({ status: 429 }), 'ab', undefined],
  ])('is called, or not, after %s', async (_, error, called, fallback) => {
    const { send, took } = setUp(groups)
    expect((await send({ a: [error] })).fallback).toBe(fallback)
    expect(took()).toBe(called)
    await send()
    expect(took()).not.toMatch(/[cd]/)
  })

  it.each<[what: string, error: unknown]>([
    ['was accepted', refusal('content', { accepted: true })],
    ['ended as the client left', new ApiError(499, 'server_error', 'left', { code: 'internal_error' })],
    ['is wrong', failed({ status: 400, caller: true })],
  ])('is not called after a request that %s', async (_, error) => {
    const { send, took } = setUp(groups)
    await expect(send({ a: [error] })).rejects.toBe(error)
    expect(took()).toBe('a')
  })

  it('is called one time, and the caller gets the first refusal where it refuses too', async () => {
    const { send, took } = setUp(groups)
    const errors = [refusal('length'), refusal('content'), refusal('length')]
    await expect(send({ a: [errors[0]], c: [errors[1]] })).rejects.toBe(errors[1])
    expect(took()).toBe('ac')
    await expect(send({ a: [errors[0]], c: [errors[2]] })).rejects.toBe(errors[0])
    expect(took()).toBe('ac')
  })

  it('is called where a busy member came before the refusal, and is retried as a member is', async () => {
    const { send, took } = setUp({ g: { ...groups.g, retries: 1 } })
    await send({ a: [failed()], b: [refusal('length')], c: [failed()] })
    expect(took()).toBe('abcc')
  })

  it('is called though it rests', async () => {
    const { send, took } = setUp(groups)
    await send({ a: [refusal('length')], c: [failed({ status: 429 })] }).catch(() => undefined)
    await send({ a: [refusal('length')] })
    expect(took()).toBe('acac')
  })

  it('is none of another provider or task than the request names', async () => {
    const { send, took } = setUp(groups)
    const error = refusal('length')
    await expect(send({ a: [error] }, { request: { model: 'g', provider: 'a' } })).rejects.toBe(error)
    expect(took()).toBe('a')
  })

  it('is called at once where no context is large enough by what is known', async () => {
    const facts = { context: 100, maxOutput: undefined, capabilities: [], created: 0 }
    const { send, took } = setUp(groups, {
      prices: fixedPrices({ ...priceTable({}), models: { 'a/a': facts, 'b/b': facts } }),
    })
    const request = { model: 'g', provider: 'auto' }
    const size = () => ({ prompt: 90, output: 11 })
    expect((await send({}, { request, size })).fallback).toBe('length')
    expect(took()).toBe('c')
    expect((await send({}, { request, size: () => ({ prompt: 90, output: 10 }) })).fallback).toBeUndefined()
    await expect(send({}, { request, fits: () => false })).rejects.toMatchObject({ code: 'unsupported_parameter' })
  })
})

describe('the groups of a router', () => {
  it.each<[group: unknown, error: string]>([
    ['a', 'groups.g: expected a list of models, or an object of options'],
    [{}, 'groups.g: the option "models" is not set'],
    [{ models: 'a' }, 'groups.g: the option "models" is no list'],
    [{ models: ['a'], retry: 1 }, 'groups.g: there is no option "retry"'],
    [[{ model: 'a' }], 'groups.g: models[0]: the option "weight" is not set'],
    [[7], 'groups.g: models[0]: expected an object of options'],
    [['b', { model: 'a', weight: 0 }], 'groups.g: models[1]: the option "weight" is a number above 0, and not 0'],
    [
      [
        { model: 'a', weight: 1 },
        { model: 'a', weight: 2 },
      ],
      'groups.g: models[1]: "a" stands there twice',
    ],
  ])('%j are wrong', (group, error) => {
    expect(() => setUp({ g: group } as Groups)).toThrow(error)
  })
})
