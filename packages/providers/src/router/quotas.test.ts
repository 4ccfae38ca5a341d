import type { Need, Provider, RateLimiter, Router, Target } from '@turnpike/core'
import { ApiError, memoryRateLimiter, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Deployment } from './deployments.js'
import { createRouter } from './router.js'

const START = Date.UTC(2026, 0, 2)

/** A router whose deployments of one provider have these limits. */
function setUp(limits: Omit<Deployment, 'provider'>[], rateLimiter?: RateLimiter) {
  const clock = { now: START + 15_000 }
  const refuse = () => Promise.reject(new Error('not called'))
  const providers = limits.map((limit, i): Deployment => ({
    ...limit,
    provider: Object.assign(
      {
        id: 'p',
        models: async () => [],
        owns: () => true,
        chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
      } satisfies Provider,
      { name: 'abc'[i]! },
    ),
  }))
  const now = () => clock.now
  const router = createRouter({ providers, now, ...(rateLimiter && { rateLimiter }) })
  const asked: string[] = []
  /** Sends one request that is expected to use some tokens. @param used what it uses, or fails with */
  const send = async (tokens: number, used: unknown = tokens, calls = 1, from: Router = router): Promise<void> => {
    const need: Need = {
      task: 'chat',
      request: { model: 'm' },
      expected: () => ({ input: tokens - 1, output: 0.5, characters: 1_000 }),
      calls: () => calls,
    }
    const { targets } = await from.candidates(need)
    const { target } = await from.attempt(targets, new AbortController().signal, async ({ provider }: Target) => {
      asked.push((provider as unknown as { name: string }).name)
      if (typeof used !== 'number') throw used
    })
    from.report(target, undefined, { prompt_tokens: (used as number) - 1, completion_tokens: 1 })
  }
  const took = (): string => asked.splice(0).join('')
  return { router, clock, send, took, providers, now }
}

const full = { status: 429, code: 'rate_limit_exceeded', retryAfter: 45 }

describe('a deployment at its requests a minute', () => {
  it('gets none until the minute ends', async () => {
    const { clock, send, took } = setUp([{ requestsPerMinute: 2 }, {}])
    for (let i = 0; i < 6; i++) await send(1)
    expect(took()).toBe('ababbb')
    clock.now = START + 59_999
    await send(1)
    expect(took()).toBe('b')
    clock.now += 1
    for (let i = 0; i < 6; i++) await send(1)
    expect([...took()].filter((one) => one === 'a')).toHaveLength(2)
  })

  it('is charged for each call of a request', async () => {
    const { send, took } = setUp([{ requestsPerMinute: 3 }])
    await send(1, 1, 2)
    await expect(send(1, 1, 2)).rejects.toMatchObject(full)
    await send(1)
    expect(took()).toBe('aa')
  })
})

describe('a deployment at its tokens a minute', () => {
  it('gets none until the minute ends, and the caller 429 where all are: no upstream is called', async () => {
    const { clock, send, took } = setUp([{ tokensPerMinute: 1_000 }, { tokensPerMinute: 500 }])
    for (let i = 0; i < 3; i++) await send(500)
    expect(took()).toBe('aba')
    await expect(send(1)).rejects.toMatchObject({ ...full, shouldRetry: undefined })
    clock.now = START + 59_001
    await expect(send(1)).rejects.toMatchObject({ ...full, retryAfter: 1 })
    expect(took()).toBe('')
    clock.now = START + 60_000
    await send(1)
    expect(took()).toHaveLength(1)
  })

  it('is told what was used in place of what was expected', async () => {
    const { send, took } = setUp([{ tokensPerMinute: 1_000 }])
    await send(900, 100)
    await send(900, 950)
    await expect(send(1)).rejects.toMatchObject(full)
    expect(took()).toBe('aa')
  })

  it('is not told in the next minute', async () => {
    const { router, clock, send } = setUp([{ tokensPerMinute: 1_000 }])
    const need: Need = { task: 'chat', request: { model: 'm' }, expected: () => ({ input: 800 }) }
    const { targets } = await router.candidates(need)
    const { target } = await router.attempt(targets, new AbortController().signal, async () => undefined)
    clock.now += 60_000
    await send(1_000)
    router.report(target, undefined, { prompt_tokens: 10, completion_tokens: 0 })
    await expect(send(1)).rejects.toMatchObject(full)
  })

  it.each<[what: string, error: unknown, isFree: boolean]>([
    [
      'an upstream refused',
      new UpstreamError('', { provider: 'p', kind: 'status', status: 400, accepted: false }),
      true,
    ],
    ['an upstream may have accepted', new UpstreamError('', { provider: 'p', kind: 'timeout', accepted: true }), false],
    [
      'an upstream bills in part',
      new UpstreamError('', {
        provider: 'p',
        kind: 'truncated',
        accepted: true,
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      }),
      true,
    ],
    [
      'a provider did not send',
      new ApiError(400, 'invalid_request_error', '', { code: 'unsupported_parameter' }),
      true,
    ],
    ['ended by an error of our own', new TypeError(), false],
  ])('has the tokens of a call that %s again, or not', async (_, error, isFree) => {
    const { send, took } = setUp([{ tokensPerMinute: 1_000 }])
    await expect(send(900, error)).rejects.toBe(error)
    took()
    await send(900).catch(() => undefined)
    expect(took()).toBe(isFree ? 'a' : '')
  })

  it('threat 66: has the request again that a provider did not send', async () => {
    const { send, took } = setUp([{ requestsPerMinute: 1 }])
    const error = new ApiError(400, 'invalid_request_error', '', { code: 'invalid_body' })
    for (let i = 0; i < 3; i++) await expect(send(1, error)).rejects.toBe(error)
    const upstream = new UpstreamError('', { provider: 'p', kind: 'status', status: 400, accepted: false })
    await expect(send(1, upstream)).rejects.toBe(upstream)
    expect(took()).toBe('aaaa')
    await expect(send(1)).rejects.toMatchObject({ status: 429 })
  })

  it('threat 66: takes nothing for a call that finds no room', async () => {
    const { send, took } = setUp([{ tokensPerMinute: 1_000, requestsPerMinute: 2 }])
    for (let i = 0; i < 5; i++) await expect(send(1_001)).rejects.toMatchObject({ status: 429, shouldRetry: false })
    await send(600)
    for (let i = 0; i < 5; i++) await expect(send(600)).rejects.toMatchObject(full)
    await send(400)
    expect(took()).toBe('aa')
  })

  it('shares its limits with other processes on the same store', async () => {
    const limiter = memoryRateLimiter({ now: () => START })
    const one = setUp([{ tokensPerMinute: 1_000 }, { requestsPerMinute: 3 }], limiter)
    const two = setUp([{ tokensPerMinute: 1_000 }, { requestsPerMinute: 3 }], limiter)
    const all = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).send(300)))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    expect((one.took() + two.took()).split('').toSorted().join('')).toBe('aaabbb')
  })

  it('is not called where the store of the limits fails', async () => {
    const lost = new Error('lost')
    const { send, took } = setUp([{ requestsPerMinute: 1 }], {
      consume: () => Promise.reject(lost),
      adjust: () => Promise.reject(lost),
    })
    await expect(send(1)).rejects.toBe(lost)
    expect(took()).toBe('')
  })
})

it('shares 2,000 calls by weight where a deployment is at its limit', async () => {
  const { send, took } = setUp([{ weight: 5, requestsPerMinute: 100 }, { weight: 3 }, { weight: 2 }])
  for (let i = 0; i < 2_100; i++) await send(1)
  const all = took()
  const of = (name: string): number => [...all].filter((one) => one === name).length
  expect(of('a')).toBe(100)
  expect(Math.abs(of('b') / 1_200 - 1), `${of('b')} of 1,200`).toBeLessThan(0.05)
  expect(Math.abs(of('c') / 800 - 1), `${of('c')} of 800`).toBeLessThan(0.05)
})
