import { anthropic, createRouter } from '@turnpike/providers'
import { fakeAnthropic } from '@turnpike/providers/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { tokenAdmin } from './caller.js'
import { errorOf, OWNER, testGateway } from '../../../test/support/gateway.js'

const get = (authorization: string | null, path = '/v1/models'): [string, string, undefined, RequestInit] => [
  'GET',
  path,
  undefined,
  { headers: authorization === null ? { authorization: '' } : { authorization } },
]

describe('the gateway key', () => {
  afterEach(() => vi.restoreAllMocks())

  const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'

  it.each([
    ['none', () => ''],
    ['an unknown one', () => 'Bearer gw-unknown'],
    ['one without gw-', (key: string) => `Bearer ${key.slice(3)}`],
    ['a JWT', () => `Bearer ${jwt}`],
    ['Basic', (key: string) => `Basic ${key}`],
    ['no scheme', (key: string) => key],
    ['no value', () => 'Bearer '],
    ['two values', (key: string) => `Bearer ${key} ${key}`],
    ['something before', (key: string) => `x Bearer ${key}`],
  ])('is refused: %s', async (_, header) => {
    const { send, chat, key, upstream } = await testGateway()
    const responses = [await send(...get(header(key))), await chat({}, { headers: { authorization: header(key) } })]
    for (const response of responses) {
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(response.headers.get('x-request-id')).not.toBeNull()
      expect(await response.json()).toEqual({
        error: {
          type: 'authentication_error',
          code: 'invalid_api_key',
          message: 'A valid gateway key is needed: Authorization: Bearer gw-…',
        },
      })
    }
    expect(upstream.requests).toEqual([])
  })

  it.each([
    [30, 200],
    [90, 429],
  ])('has a request counted again whose body took over a minute: %d seconds', async (seconds, status) => {
    const { gateway } = await testGateway()
    const { key } = await gateway.keys.create(OWNER, { name: 'k', rateLimit: 1 })
    let time = 0
    vi.spyOn(performance, 'now').mockImplementation(() => time)
    const asked = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          time += seconds * 1_000
          controller.enqueue(Buffer.from(asked))
          controller.close()
        },
      },
      // So that it is read when it is needed.
      { highWaterMark: 0 },
    )
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body, duplex: 'half' as const }
    expect((await gateway.fetch(new Request('https://gw.example/v1/chat/completions', init))).status).toBe(status)
  })

  it('is not read from the query', async () => {
    const { send, key } = await testGateway()
    expect((await send(...get(null, `/v1/models?key=${key}&api_key=${key}`))).status).toBe(401)
  })

  it.each(['Bearer ', 'bearer ', 'BEARER   '])('is accepted after %j', async (scheme) => {
    const { send, key } = await testGateway()
    expect((await send(...get(scheme + key))).status).toBe(200)
  })

  it.each(['api-key', 'x-api-key'])('is read from %s where no Authorization is sent', async (name) => {
    const { gateway, key } = await testGateway()
    const ask = async (headers: Record<string, string>) =>
      (await gateway.fetch(new Request('https://gw.example/v1/models', { headers }))).status
    expect(await ask({ [name]: key })).toBe(200)
    expect(await ask({ [name]: 'gw-unknown' })).toBe(401)
    expect(await ask({ [name]: key, authorization: 'Bearer gw-unknown' })).toBe(401)
    expect(await ask({ [name]: 'gw-unknown', authorization: `Bearer ${key}` })).toBe(200)
  })

  it('in api-key is not the token of administrators', async () => {
    const token = 'token-of-administrators'
    const { gateway } = await testGateway({ authenticateAdmin: tokenAdmin(token) })
    const ask = async (headers: Record<string, string>) =>
      (await gateway.fetch(new Request('https://gw.example/v1/users', { headers }))).status
    expect([await ask({ authorization: `Bearer ${token}` }), await ask({ 'api-key': token })]).toEqual([200, 401])
  })

  it('that is revoked is refused on the next request', async () => {
    const { send, gateway, keyId } = await testGateway()
    expect((await send('GET', '/v1/models')).status).toBe(200)
    await gateway.keys.revoke(keyId)
    expect((await send('GET', '/v1/models')).status).toBe(401)
  })

  it('is checked before the body is read', async () => {
    const { send } = await testGateway()
    const init = { headers: { authorization: 'Bearer gw-unknown' } }
    expect((await send('POST', '/v1/chat/completions', 'no JSON', init)).status).toBe(401)
  })

  it('appears in no answer and no log', async () => {
    const { send, chat, key, logs } = await testGateway()
    const responses = [await send('GET', '/v1/models'), await chat(), await chat({ n: 0 }), await send('GET', '/')]
    const texts = await Promise.all(responses.map((response) => response.text()))
    const heads = responses.map(({ headers }) => [...headers])
    expect(JSON.stringify([texts, heads, logs])).not.toContain(key)
    expect(JSON.stringify([texts, heads, logs])).not.toContain('sk-upstream-secret')
  })
})

describe('the rate limit', () => {
  it('reports the seconds to wait, after which a request is admitted', async () => {
    const { send, chat, clock } = await testGateway({ rateLimit: 2 })
    expect((await send('GET', '/v1/models')).status).toBe(200)
    clock.now += 17_400
    expect((await chat()).status).toBe(200)
    const response = await chat({ stream: true })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '43'])
    expect(response.headers.get('x-request-id')).not.toBeNull()
    expect(await errorOf(response)).toEqual({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'This key is limited to 2 requests per minute',
    })
    clock.now += 43_000
    expect((await chat()).status).toBe(200)
  })

  it('of 1 admits exactly one of 20 parallel requests', async () => {
    const { chat, upstream } = await testGateway({ rateLimit: 1 })
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => chat()))).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 429)])
    expect(upstream.requests).toHaveLength(1)
  })

  it('counts each key separately', async () => {
    const { send, gateway } = await testGateway({ rateLimit: 1 })
    const other = await gateway.keys.create(OWNER, { name: 'other', rateLimit: 1 })
    expect((await send('GET', '/v1/models')).status).toBe(200)
    expect((await send(...get(`Bearer ${other!.key}`))).status).toBe(200)
    expect((await send('GET', '/v1/models')).status).toBe(429)
  })

  it('counts invalid requests, but none without a valid key or route', async () => {
    const { send, chat } = await testGateway({ rateLimit: 2 })
    for (let i = 0; i < 5; i++) {
      await send(...get('Bearer gw-unknown'))
      await send('GET', '/v1/nothing')
      await send('GET', '/health')
    }
    expect((await chat({ n: 0 })).status).toBe(400)
    expect((await send('GET', '/v1/models')).status).toBe(200)
    expect((await send('GET', '/v1/models')).status).toBe(429)
  })

  it('can use a custom limiter', async () => {
    const asked: unknown[] = []
    const rateLimiter = {
      consume: async (key: string, perMinute: number) => (asked.push([key, perMinute]), { ok: false, retryAfter: 5 }),
      adjust: () => undefined,
    }
    const { send, keyId } = await testGateway({ rateLimiter, rateLimit: 7 })
    const response = await send('GET', '/v1/models')
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5'])
    expect(asked).toEqual([[keyId, 7]])
  })

  it('headers are exposed to allowed origins', async () => {
    const { send } = await testGateway({ rateLimit: 1, cors: { origins: ['https://app.example'] } })
    const init = { headers: { origin: 'https://app.example' } }
    await send('GET', '/v1/models', undefined, init)
    const response = await send('GET', '/v1/models', undefined, init)
    expect(response.status).toBe(429)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(response.headers.get('access-control-expose-headers')).toContain('retry-after')
  })
})

describe("OpenAI's headers of the rate limit", () => {
  const names = ['limit', 'remaining', 'reset'].map((name) => `x-ratelimit-${name}-requests`)
  const told = ({ headers }: Response) => names.map((name) => headers.get(name))

  it('say what is left of the minute, also where nothing is', async () => {
    const { send, chat, clock } = await testGateway({ rateLimit: 3 })
    expect(told(await send('GET', '/v1/models'))).toEqual(['3', '2', '1m0s'])
    clock.now += 12_500
    expect(told(await chat({ stream: true }))).toEqual(['3', '1', '48s'])
    expect(told(await chat({ messages: [] }))).toEqual(['3', '0', '48s'])
    const refused = await chat()
    expect([refused.status, ...told(refused)]).toEqual([429, '3', '0', '48s'])
  })

  it('count each of several calls', async () => {
    const router = createRouter({ providers: [anthropic({ apiKey: 'x', transport: fakeAnthropic().transport })] })
    const { chat } = await testGateway({ rateLimit: 10, router })
    expect(told(await chat({ model: 'claude-haiku-4-5', n: 4 }))).toEqual(['10', '6', '1m0s'])
    const tooMany = await chat({ model: 'claude-haiku-4-5', n: 11 })
    expect([tooMany.status, ...told(tooMany)]).toEqual([429, '10', '5', '1m0s'])
  })

  it('are absent without a key, and where the limiter does not tell', async () => {
    const { gateway } = await testGateway()
    expect(told(await gateway.fetch(new Request('https://gw.example/health')))).toEqual([null, null, null])
    const rateLimiter = { consume: () => ({ ok: true, retryAfter: 60 }), adjust: () => undefined }
    const { send } = await testGateway({ rateLimiter, rateLimit: 3 })
    expect(told(await send('GET', '/v1/models'))).toEqual(['3', null, '1m0s'])
  })
})
