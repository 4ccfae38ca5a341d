import type { Identified, User } from '@turnpike/core'
import { ApiError, changeBalance, createUser, getUser } from '@turnpike/core'
import type { Authenticator, LocalRequest, Reply } from '@turnpike/http'
import { localExchange } from '@turnpike/http'
import { describe, expect, it, vi } from 'vitest'
import type { TestOptions } from '../../../test/support/gateway.js'
import { chunk, completion, COST, streamed, testGateway } from '../../../test/support/gateway.js'
import { storeTags } from '../../../test/support/tags.js'
import { conventionRoutes } from './admin-routes.js'
import { requestEvents } from './records/request-events.js'

/** A gateway that is called in this process by a signed-in user, in front of an upstream that answers with {@link completion}. */
async function setUp(options: TestOptions = {}, fields: Partial<User> = {}) {
  const at = await testGateway({ upstream: () => completion(), ...options })
  const user = await createUser(at.kv, { id: 'ada', ...fields })
  const authenticate = vi.fn<Authenticator['authenticate']>(() => ({ userId: 'ada', via: 'custom' }))
  const { handle } = at.gateway.as({ authenticate })
  const request = (method: string, path: string, more: Partial<LocalRequest> = {}): Promise<Reply> =>
    handle(localExchange({ method, path, ...more })).then((reply) => reply!)
  const ask = (fields: object = {}, more: Partial<LocalRequest> = {}): Promise<Reply> => {
    const messages = [{ role: 'user', content: 'Hi' }]
    return request('POST', '/v1/chat/completions', {
      body: JSON.stringify({ model: 'gpt-4o', messages, ...fields }),
      ...more,
    })
  }
  const records = async (id = 'ada') => (await at.gateway.ledger.records(id)).items
  return { ...at, user, authenticate, request, ask, records }
}

const parsed = ({ body }: Reply): unknown => JSON.parse(body as string)
const read = async ({ body }: Reply): Promise<string> => {
  let text = ''
  for await (const piece of body as AsyncIterable<string>) text += piece
  return text
}

describe('a user who is signed in elsewhere', () => {
  it('is answered, and pays, without a key', async () => {
    const { ask, records, gateway, kv } = await setUp()
    const own = await storeTags(kv, 'ada')
    const reply = await ask({}, { headers: { 'X-Task-ID': own.task } })
    expect([reply.status, parsed(reply)]).toMatchObject([200, { choices: [{ message: { content: 'Hello' } }] }])
    expect(await records()).toMatchObject([
      { request_id: reply.headers['x-request-id'], user_id: 'ada', key_id: '', task_id: own.task, in_project: true },
    ])
    for (const [of, id] of [
      ['user', 'ada'],
      ['project', own.project],
    ] as const)
      expect(await gateway.ledger.totals(of, id)).toMatchObject({ requests: 1, cost_nano_usd: COST })
    expect((await kv.list(['usage-total', 'key'])).items).toEqual([])
    expect((await kv.list(['last-used'])).items.map(({ key }) => key)).toEqual([['last-used', 'user', 'ada']])
  })

  it('has fields that nobody documents dropped where there is a budget or credits are enforced', async () => {
    const user = { budget: { usd: 1 } }
    for (const [options, fields, sent] of [
      [{}, {}, true],
      [{}, user, false],
      [{ balancePolicy: 'enforce' }, {}, false],
      [{ balancePolicy: 'enforce', extraFields: ['route'] }, {}, true],
    ] as const) {
      const { ask, kv, sent: body } = await setUp(options as TestOptions, fields)
      await changeBalance(kv, 'ada', () => ({ credit_coins: 1_000 }))
      const reply = await ask({ route: 'fallback' })
      expect(reply.status).toBe(200)
      expect([body()!['route'], reply.headers['x-gateway-warnings']]).toEqual(
        sent ? ['fallback', undefined] : [undefined, 'dropped=route'],
      )
    }
  })

  it('keeps the thoughts of earlier answers, as clients of OpenRouter and LiteLLM send them back', async () => {
    const { ask, kv } = await setUp({ balancePolicy: 'enforce' })
    await changeBalance(kv, 'ada', () => ({ credit_coins: 1_000 }))
    const detail = { type: 'reasoning.text', text: 'Hm', signature: 's', id: null, format: 'x', index: 0 }
    const said = {
      role: 'assistant',
      content: 'Yes',
      reasoning_details: [detail, { type: 'reasoning.encrypted', data: 'x' }],
      thinking_blocks: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'redacted_thinking', data: 'x' },
      ],
    }
    const user = { role: 'user', content: 'Hi' }
    const warnings = async (message: object) =>
      (await ask({ messages: [user, message, user] })).headers['x-gateway-warnings']
    // The adapter leaves them out for a model of OpenAI, whole.
    const adapter = 'messages.reasoning_details,messages.thinking_blocks'
    expect(await warnings(said)).toBe(`dropped=${adapter}`)
    expect(await warnings({ ...said, reasoning_details: [{ ...detail, route: 'x' }] })).toBe(
      `dropped=messages.reasoning_details.route,${adapter}`,
    )
  })

  it('is streamed the pieces of an answer', async () => {
    const { ask, records } = await setUp({
      upstream: () => streamed(chunk('He'), chunk('llo'), chunk('', 'stop'), '[DONE]'),
    })
    const reply = await ask({ stream: true })
    expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
    const text = await read(reply)
    expect(text).toMatch(/^data: .*"He".*\n\ndata: .*"llo"[^]*data: \[DONE\]\n\n$/)
    expect(await records()).toMatchObject([{ key_id: '', outcome: 'complete' }])
  })

  it('stops the upstream by leaving', async () => {
    const upstream = () => streamed(chunk('He'), new Promise(() => undefined))
    const { ask, records, signals } = await setUp({ upstream })
    const controller = new AbortController()
    const reply = await ask({ stream: true }, { signal: controller.signal })
    const pieces = (reply.body as AsyncIterable<string>)[Symbol.asyncIterator]()
    expect((await pieces.next()).value).toContain('"He"')
    controller.abort()
    await pieces.return!()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(await records()).toMatchObject([{ outcome: 'client_abort' }])
  })

  it('is logged and told of like a caller with a key', async () => {
    const events = requestEvents()
    const { ask, logs } = await setUp({ events })
    await ask()
    const told = { user_id: 'ada', route: '/v1/chat/completions', status: 200, model: 'gpt-4o', outcome: 'complete' }
    for (const one of [logs.at(-1), events.recent().at(-1)]) {
      expect(one).toMatchObject(told)
      expect(one!['key_id']).toBeUndefined()
    }
  })
})

describe('routes', () => {
  it('that make requests on account of a user are open to one', async () => {
    const { request } = await setUp()
    expect(parsed(await request('GET', '/v1/models'))).toMatchObject({ object: 'list' })
    expect((await request('GET', '/v1/models/gpt-4o')).status).toBe(200)
    expect((await request('GET', '/v1/nothing')).status).toBe(404)
  })

  it('for users, usage and administrators and open ones are not there, also for an administrator', async () => {
    const { gateway, kv, request, key, authenticate } = await setUp({ routes: [conventionRoutes] }, { role: 'admin' })
    const others = gateway.routes.filter(({ operation: { access } }) => access !== 'key')
    expect(others.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/v1/users', '/v1/users/{id}', '/v1/users/{id}/usage', '/admin/metrics', '/health', '/']),
    )
    for (const { method, path } of others) {
      const reply = await request(method, path.replace('{id}', 'ada'), { headers: { authorization: `Bearer ${key}` } })
      expect([reply.status, parsed(reply)], `${method} ${path}`).toMatchObject([404, { error: { code: 'not_found' } }])
    }
    expect(authenticate).not.toHaveBeenCalled()
    expect(await getUser(kv, 'ada')).not.toBeNull()
  })
})

describe('the authentication', () => {
  it.each([
    new ApiError(401, 'authentication_error', 'Sign in', {
      code: 'invalid_api_key',
      headers: { 'www-authenticate': 'Bearer' },
    }),
    new ApiError(403, 'permission_error', 'Another site', { code: 'forbidden' }),
    new ApiError(429, 'rate_limit_error', 'Slower', { code: 'rate_limit_exceeded', retryAfter: 7 }),
  ])('may refuse: $status', async (error) => {
    const { ask, authenticate, upstream, key } = await setUp()
    authenticate.mockRejectedValue(error)
    const reply = await ask({}, { headers: { authorization: `Bearer ${key}` } })
    const { type, message, code } = error
    expect([reply.status, parsed(reply)]).toEqual([error.status, { error: { type, message, code } }])
    expect(reply.headers).toMatchObject({
      'x-request-id': expect.any(String) as string,
      ...(error.retryAfter !== undefined && { 'retry-after': '7' }),
      ...error.headers,
    })
    expect(upstream.requests).toEqual([])
  })

  it('that fails is a 500 without its message', async () => {
    const { ask, authenticate, errors } = await setUp()
    const error = new Error('secret')
    authenticate.mockRejectedValue(error)
    const reply = await ask()
    expect([reply.status, parsed(reply)]).toMatchObject([500, { error: { code: 'internal_error' } }])
    expect(reply.body).not.toContain('secret')
    expect(errors).toEqual([error])
  })

  it('is that of this handler alone', async () => {
    const { chat, authenticate } = await setUp()
    expect((await chat()).status).toBe(200)
    expect((await chat({}, { headers: { authorization: '' } })).status).toBe(401)
    expect(authenticate).not.toHaveBeenCalled()
  })
})

const transcript = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"text":"Hi"}' })

/** A form with a recording, as a page of any site can make a browser send it. */
const recording = (headers: Record<string, string> = {}) => {
  const body = new FormData()
  body.append('model', 'whisper-1')
  body.append('file', new Blob(['RIFF']), 'a.wav')
  return new Request('https://app.example/v1/audio/transcriptions', { method: 'POST', headers, body })
}

describe('a credential that a browser may send by itself', () => {
  const own = { 'sec-fetch-site': 'same-origin' }
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }

  it.each<[via: Identified['via'], headers: Record<string, string>, status: number]>([
    [undefined, foreign, 403],
    [undefined, { origin: 'https://evil.example' }, 403],
    [undefined, {}, 403],
    [undefined, own, 200],
    [undefined, { origin: 'https://app.example' }, 200],
    [undefined, { ...foreign, origin: 'https://console.example' }, 200],
    ['cookie', foreign, 403],
    ['bearer', foreign, 200],
    ['custom', foreign, 200],
  ])('%s, with %o, is %i', async (via, headers, status) => {
    const { gateway, records, upstream } = await setUp({ upstream: transcript })
    const authenticate = () => ({ userId: 'ada', ...(via && { via }) })
    const { fetch } = gateway.as({ authenticate }, { trustedOrigins: ['https://console.example'] })
    const response = await fetch(recording({ cookie: 'sid=1', ...headers }))
    expect(response.status).toBe(status)
    if (status === 403) expect(await response.json()).toMatchObject({ error: { code: 'forbidden' } })
    expect([upstream.requests.length, (await records()).length]).toEqual(status === 403 ? [0, 0] : [1, 1])
  })

  it('goes by the origin of baseUrl behind a proxy', async () => {
    const { gateway } = await setUp()
    const identity = { authenticate: () => ({ userId: 'ada' }) }
    const { fetch } = gateway.as(identity, { baseUrl: 'https://outside.example' })
    const post = (origin: string) =>
      fetch(new Request('http://inside/v1/embeddings', { method: 'POST', headers: { origin }, body: '' }))
    expect([(await post('https://outside.example')).status, (await post('https://evil.example')).status]).toEqual([
      400, 403,
    ])
  })
})

describe('somebody', () => {
  it('whom the identity does not know is 401', async () => {
    const { ask, authenticate, upstream } = await setUp()
    authenticate.mockReturnValue(null)
    const reply = await ask()
    expect([reply.status, parsed(reply)]).toMatchObject([401, { error: { code: 'invalid_api_key' } }])
    authenticate.mockReturnValue({ userId: 'nobody', via: 'custom' })
    expect((await ask()).status).toBe(401)
    authenticate.mockReturnValue({ userId: '', via: 'custom', profile: {} })
    expect((await ask()).status).toBe(401)
    expect(upstream.requests).toEqual([])
  })

  it('new is made by the first request, with the budget of the profile', async () => {
    const { ask, authenticate, kv } = await setUp()
    const profile = { email: 'bob@example.org', provider: 'shop', budget: { usd: 0, per: 'month' as const } }
    authenticate.mockReturnValue({ userId: 'bob', via: 'custom', profile })
    const reply = await ask()
    expect([reply.status, parsed(reply)]).toMatchObject([403, { error: { code: 'budget_exceeded' } }])
    expect(await getUser(kv, 'bob')).toMatchObject({ ...profile, role: 'user' })
  })

  it('whose e-mail another user has is made without it, and that is logged', async () => {
    const { ask, authenticate, kv, logs } = await setUp({}, { email: 'ada@example.org' })
    authenticate.mockReturnValue({ userId: 'bob', via: 'custom', profile: { email: 'ADA@example.org' } })
    expect((await ask()).status).toBe(200)
    expect(await getUser(kv, 'bob')).toMatchObject({ email: null })
    expect(logs.at(-1)).toMatchObject({ user_id: 'bob', email_taken: true })
    await ask()
    expect(logs.at(-1)).not.toHaveProperty('email_taken')
  })

  it('whose budget is none is not made', async () => {
    const { ask, authenticate, kv, errors } = await setUp()
    authenticate.mockReturnValue({ userId: 'bob', via: 'custom', profile: { budget: { usd: -1 } } })
    expect((await ask()).status).toBe(500)
    expect(errors).toEqual([new TypeError('createUser: budget.usd: Invalid value: Expected >=0 but received -1')])
    expect(await getUser(kv, 'bob')).toBeNull()
  })
})

describe('limits', () => {
  it('are those of count: each request, and its calls where it needs several', async () => {
    const { gateway, user } = await setUp()
    const count = vi.fn(() => Promise.resolve())
    const { handle } = gateway.as({ authenticate: () => ({ userId: 'ada', via: 'custom' }) }, { count })
    await handle(localExchange({ method: 'GET', path: '/v1/models' }))
    expect(count.mock.calls).toEqual([[user, 1]])
    count.mockRejectedValue(new ApiError(429, 'rate_limit_error', 'Slower', { code: 'rate_limit_exceeded' }))
    expect(await handle(localExchange({ method: 'GET', path: '/v1/models' }))).toMatchObject({ status: 429 })
  })

  it('threat 40: of fields of a body are lower than those of keys', async () => {
    const { ask, chat } = await setUp()
    const fields = { metadata: Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`f${i}`, 'x'])) }
    const reply = await ask(fields)
    expect([reply.status, parsed(reply)]).toMatchObject([
      400,
      { error: { message: 'The request body has more than 25000 fields' } },
    ])
    expect((await chat(fields)).status).toBe(200)
  })

  it('of keys do not apply', async () => {
    const consume = vi.fn(() => Promise.resolve({ ok: false, retryAfter: 1 }))
    const { ask } = await setUp({ rateLimiter: { consume, adjust: () => undefined } })
    expect((await ask()).status).toBe(200)
    expect(consume).not.toHaveBeenCalled()
  })

  it('by the budget of the user apply', async () => {
    const { ask } = await setUp({}, { budget: { usd: (2 * COST) / 1e9 } })
    const replies: Reply[] = []
    for (let i = 0; i < 3; i++) replies.push(await ask({ max_tokens: 3 }))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 403])
    expect(parsed(replies[2]!)).toMatchObject({ error: { code: 'budget_exceeded' } })
  })

  it('by the credits of the user apply', async () => {
    const { kv, ask } = await setUp({ balancePolicy: 'enforce' })
    expect(parsed(await ask())).toMatchObject({ error: { code: 'insufficient_credits' } })
    await changeBalance(kv, 'ada', () => ({ credit_coins: 1 }))
    expect((await ask()).status).toBe(200)
  })

  it('of concurrent requests count each user, and keys apart', async () => {
    const upstream = () => streamed(chunk('Hi'), new Promise(() => undefined))
    const { gateway, kv, ask, chat } = await setUp({ upstream, maxConcurrentPerKey: 2 })
    for (let i = 0; i < 2; i++) expect((await ask({ stream: true })).status).toBe(200)
    const reply = await ask({ stream: true })
    expect([reply.status, parsed(reply)]).toMatchObject([
      429,
      { error: { message: 'This user is limited to 2 requests at a time' } },
    ])
    await createUser(kv, { id: 'bob' })
    const { handle } = gateway.as({ authenticate: () => ({ userId: 'bob', via: 'custom' }) })
    expect(await handle(localExchange({ method: 'GET', path: '/v1/models' }))).toMatchObject({ status: 200 })
    expect((await chat({ stream: true })).status).toBe(200)
  })

  it('of all concurrent requests are the same for both handlers', async () => {
    const upstream = () => streamed(chunk('Hi'), new Promise(() => undefined))
    const { ask, chat } = await setUp({ upstream, maxInFlight: 2 })
    expect((await ask({ stream: true })).status).toBe(200)
    expect((await chat({ stream: true })).status).toBe(200)
    expect(parsed(await ask({ stream: true }))).toMatchObject({ error: { code: 'overloaded' } })
    expect((await chat({ stream: true })).status).toBe(503)
  })

  it('of origins are its own', async () => {
    const { request, send, gateway, authenticate } = await setUp({ cors: { origins: ['https://app.example'] } })
    const headers = { origin: 'https://app.example' }
    expect((await request('GET', '/v1/models', { headers })).headers).not.toHaveProperty('access-control-allow-origin')
    const { handle } = gateway.as({ authenticate }, { cors: { origins: ['https://console.example'] } })
    const origin = 'https://console.example'
    const reply = await handle(localExchange({ method: 'GET', path: '/v1/models', headers: { origin } }))
    expect(reply!.headers).toMatchObject({ 'access-control-allow-origin': origin })
    const response = await send('GET', '/v1/models', undefined, { headers })
    expect(response.headers.get('access-control-allow-origin')).toBe(headers.origin)
  })
})
