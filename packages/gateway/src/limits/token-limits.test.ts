import { createUser, memoryRateLimiter, updateUser } from '@turnpike/core'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { answer, chunk, completion, errorOf, OWNER, streamed, withKey } from '../../../../test/support/gateway.js'

/** What the upstream reports, of a request that is expected to use 1 + max_tokens. */
const reports = (total: number) =>
  completion({ usage: { prompt_tokens: total - 3, completion_tokens: 3, total_tokens: total } })

/** A part of a body that comes later. */
function held() {
  let resolve!: (text: string) => void
  const promise = new Promise<string>((done) => (resolve = done))
  return { promise, resolve }
}

const told = (response: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => response.headers.get(`x-ratelimit-${name}-tokens`))

const limited = (tokenLimit: number, options: TestOptions = {}) => withKey({ tokenLimit }, options)

describe('tokens per minute', () => {
  it('admit what is expected to fit, and are corrected by what was used', async () => {
    const { ask, clock, upstream } = await limited(100, { upstream: () => reports(60) })
    const first = await ask({ max_tokens: 79 })
    expect([first.status, told(first)]).toEqual([200, ['100', '20', '1m0s']])
    clock.now += 20_000
    // 60 were used.
    const second = await ask({ max_tokens: 40 })
    expect(second.status).toBe(429)
    expect([second.headers.get('retry-after'), told(second)]).toEqual(['40', ['100', '40', '40s']])
    expect(second.headers.get('x-should-retry')).toBeNull()
    expect(await errorOf(second)).toEqual({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'This key is limited to 100 tokens per minute, and this request is expected to use 41',
    })
    expect((await ask({ max_tokens: 39 })).status).toBe(200)
    // More than was expected, as much as is there.
    expect((await ask({ max_tokens: 1 })).status).toBe(429)
    expect(upstream.requests).toHaveLength(2)
    clock.now += 40_000
    // 20 of them were beyond that minute.
    expect((await ask({ max_tokens: 99 })).status).toBe(429)
    expect((await ask({ max_tokens: 79 })).status).toBe(200)
  })

  it('threat 75: what answers use beyond a minute is taken from those that follow', async () => {
    const { ask, clock } = await limited(3_000, { upstream: () => reports(5_000) })
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask({ max_tokens: 100_000 })))
    // As many as are likely to fit.
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429, 429, 429])
    // 7,000 of 10,000 are left to be paid: two minutes, and a part of the third.
    const admitted: number[] = []
    for (let minute = 1; minute <= 3; minute++) {
      clock.now += 60_000
      admitted.push((await ask({ max_tokens: 1 })).status)
    }
    expect(admitted).toEqual([429, 429, 200])
  })

  it('threat 75: closes no limit for more than ten minutes by one answer', async () => {
    const { ask, clock } = await limited(3_000, { upstream: () => reports(5_000_000) })
    expect((await ask({ max_tokens: 1 })).status).toBe(200)
    for (let minute = 1; minute <= 10; minute++) {
      clock.now += 60_000
      expect((await ask({ max_tokens: 1 })).status).toBe(429)
    }
    clock.now += 60_000
    expect((await ask({ max_tokens: 1 })).status).toBe(200)
  })

  it('are no more in parallel, whole or streamed', async () => {
    for (const stream of [false, true]) {
      const end = held()
      const { ask } = await limited(100, {
        upstream: () => (stream ? streamed(chunk('Hello'), end.promise) : reports(10)),
      })
      const replies = await Promise.all(Array.from({ length: 20 }, () => ask({ max_tokens: 19, stream })))
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(5)
      end.resolve('')
      await Promise.all(replies.map((reply) => reply.text()))
    }
  })

  it('are corrected when a stream ends, with what it reports or what was seen', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }
    const end = held()
    const parts = [chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]']
    const { ask } = await limited(100, { upstream: () => streamed(chunk('Hello'), end.promise, ...parts) })
    const first = await ask({ max_tokens: 79, stream: true })
    expect(told(first)[1]).toBe('20')
    expect((await ask({ max_tokens: 30 })).status).toBe(429)
    end.resolve('')
    await first.text()
    expect(told(await ask({ max_tokens: 19, stream: true }))[1]).toBe('70')
  })

  it('are given back where the request fails before it costs anything', async () => {
    let status = 500
    const { ask, kv, gateway } = await limited(100, {
      upstream: () => (status === 200 ? reports(100) : answer({ error: { message: 'x' } }, status)),
    })
    for (status of [500, 400, 401]) expect((await ask({ max_tokens: 79 })).status).not.toBe(200)
    await updateUser(kv, OWNER, { budget: { usd: 0 } })
    gateway.keys.forget(OWNER)
    status = 200
    expect((await ask({ max_tokens: 79 })).status).toBe(403)
    await updateUser(kv, OWNER, { budget: null })
    gateway.keys.forget(OWNER)
    expect((await ask({ max_tokens: 99 })).status).toBe(200)
  })

  it('threat 75: are not given back where a client leaves a whole answer, whose tokens are not known', async () => {
    async function* silent(): AsyncGenerator<string> {
      yield await new Promise<string>(() => undefined)
    }
    const at = await limited(100, { upstream: () => ({ status: 200, headers: {}, body: silent() }) })
    const client = new AbortController()
    const left = at.chat({ max_tokens: 79 }, { ...at.init, signal: client.signal })
    await expect.poll(() => at.upstream.requests.length).toBe(1)
    client.abort()
    await left.catch(() => undefined)
    expect(await at.records()).toMatchObject([{ outcome: 'client_abort' }])
    expect((await at.ask({ max_tokens: 40 })).status).toBe(429)
  })

  it('of a window that has ended are not given back to the next', async () => {
    const end = held()
    const { ask, clock } = await limited(100, { upstream: () => streamed(chunk('Hi'), end.promise) })
    const first = await ask({ max_tokens: 99, stream: true })
    clock.now += 60_000
    await ask({ max_tokens: 79, stream: true })
    end.resolve('')
    await first.text()
    expect(told(await ask({ max_tokens: 50, stream: true }))).toEqual(['100', '20', '1m0s'])
  })

  it('of a user hold for all keys, and the headers tell the least', async () => {
    const at = await withKey({ tokenLimit: 500 }, { upstream: () => reports(50) })
    await updateUser(at.kv, OWNER, { token_limit: 100 })
    at.gateway.keys.forget(OWNER)
    const other = await at.gateway.keys.create(OWNER, { name: 'other' })
    expect(told(await at.ask({ max_tokens: 49 }))).toEqual(['100', '50', '1m0s'])
    const refused = await at.chat({ max_tokens: 50 }, { headers: { authorization: `Bearer ${other.key}` } })
    expect([refused.status, await errorOf(refused)]).toMatchObject([
      429,
      { message: 'You are limited to 100 tokens per minute, and this request is expected to use 51' },
    ])
    // What the user's limit refused is given back to the key.
    expect((await at.ask({ max_tokens: 60 })).status).toBe(429)
    await updateUser(at.kv, OWNER, { token_limit: null })
    at.gateway.keys.forget(OWNER)
    expect(told(await at.ask({ max_tokens: 49 }))).toEqual(['500', '400', '1m0s'])
  })

  it('hold for users without a key', async () => {
    const at = await withKey({})
    await createUser(at.kv, { id: 'ada', token_limit: 50 })
    const mine = at.gateway.as({ authenticate: () => ({ userId: 'ada', via: 'custom' }) })
    const ask = (max_tokens: number) =>
      mine.fetch(
        new Request('http://gateway/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'gpt-4o', max_tokens, messages: [{ role: 'user', content: 'Hi' }] }),
        }),
      )
    expect([(await ask(49)).status, (await ask(49)).status]).toEqual([200, 429])
  })

  it('threat 75: tokens beyond those of a minute', async () => {
    const { ask, upstream, clock, id, gateway } = await limited(100, { upstream: () => reports(100) })
    // More than a minute has is refused, however empty the minute is, and without a call.
    const large = [
      { max_tokens: 100 },
      { n: 20, max_tokens: 10 },
      { messages: [{ role: 'user', content: 'x'.repeat(1_000) }] },
      {},
    ]
    for (const body of large) {
      const refused = await ask(body)
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false'])
    }
    expect(upstream.requests).toHaveLength(0)
    // Nor does a rotation bring another minute's, nor a request that reports more than was expected.
    expect((await ask({ max_tokens: 1 })).status).toBe(200)
    expect((await ask({ max_tokens: 1 })).status).toBe(429)
    const { key } = (await gateway.keys.rotate(id))!
    const request = new Request('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gpt-4o', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect((await gateway.fetch(request)).status).toBe(429)
    clock.now += 60_000
    expect((await ask({ max_tokens: 1 })).status).toBe(200)
  })

  it('threat 66: of a deployment, or of a key with end users, are not held by what a request only asks for', async () => {
    const end = held()
    const { transport } = fakeOpenAI({ override: () => streamed(chunk('Hello'), end.promise) })
    const provider = openai({ apiKey: 'sk-upstream', transport })
    const router = createRouter({ providers: [{ provider, tokensPerMinute: 10_000 }] })
    for (const [tokenLimit, options] of [
      [1e6, { router }] as const,
      [10_000, { upstream: () => streamed(chunk('Hello'), end.promise) }] as const,
    ]) {
      const { ask } = await withKey({ tokenLimit }, options)
      const replies: Response[] = []
      for (const max_tokens of [9_998, 1e6, 64_000, 10]) replies.push(await ask({ max_tokens, stream: true }))
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      end.resolve('')
      await Promise.all(replies.map((reply) => reply.text()))
    }
  })

  it('cost nothing and tell nothing where there is no limit', async () => {
    const counted: string[] = []
    const limiter = memoryRateLimiter()
    const rateLimiter = {
      ...limiter,
      consume: (key: string, perMinute: number, count?: number) => (
        counted.push(key),
        limiter.consume(key, perMinute, count)
      ),
    }
    const { ask, id } = await withKey({}, { rateLimiter })
    expect(told(await ask())).toEqual([null, null, null])
    expect(counted).toEqual([id])
  })
})
