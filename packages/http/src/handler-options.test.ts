import { ApiError } from '@turnpike/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/support/events.js'
import { fetchShell } from './shells/fetch-shell.js'
import type { HandlerOptions } from './handler.js'
import { createHandler } from './handler.js'
import type { Call, Operation } from './operation.js'
import { content, operation, route, sse } from './operation.js'

type Run = (body: unknown, call: Call) => unknown

/** A handler with one operation whose `run` is given. */
function setUp(run: Run, fields: Partial<Operation<null>> = {}, options: Partial<HandlerOptions<null>> = {}) {
  const one = operation<null, string>({
    id: 'test',
    summary: '',
    access: 'open',
    ...fields,
    run: (_, { body }, call) => run(body, call),
  })
  const { handle, refuse } = createHandler<null>({
    routes: [route('POST', '/things', one), route('GET', '/things', one)],
    authenticate: () => null,
    errorBody: ({ message }) => ({ error: message }),
    ...options,
  })
  const shell = fetchShell(handle, { trustedHops: 1 })
  const send = (method: string, init: RequestInit = {}, path = '/things') =>
    shell(new Request(`https://x.example${path}`, { method, ...init }), { ip: '10.0.0.1' })
  const post = (body: string) => send('POST', { body, headers: { 'content-type': 'application/json' } })
  return { send, post, refuse }
}

describe('aliases of fields', () => {
  const bodies: unknown[] = []
  const { post } = setUp((body) => (bodies.push(body), null), {
    body: v.object({ teamType: v.string(), color: v.optional(v.string()) }),
    aliases: { team_type: 'teamType', colour: 'color' },
  })

  it.each([
    ['are read where the field is absent', '{"team_type":"a","colour":"red"}', { teamType: 'a', color: 'red' }],
    ['give way to the field', '{"team_type":"a","teamType":"b"}', { teamType: 'b' }],
    ['are not needed', '{"teamType":"b"}', { teamType: 'b' }],
  ])('%s', async (_, body, expected) => {
    expect((await post(body)).status).toBe(200)
    expect(bodies.pop()).toMatchObject(expected)
  })

  it.each([
    ['{"teamType":null,"team_type":"a"}', 'teamType must be a string, not null'],
    ['{"team_type":5}', 'teamType must be a string, not 5'],
    ['null', 'The request body must be an object, not null'],
    ['[]', 'The request body must be an object, not an array'],
    ['"team_type"', 'The request body must be an object, not "team_type"'],
  ])('are validated as the field: %s', async (body, reason) => {
    const response = await post(body)
    expect([response.status, await response.json()]).toEqual([400, { error: reason }])
  })

  it('are own fields only', async () => {
    const inherited = setUp((body) => body, {
      body: v.looseObject({}),
      aliases: { constructor: 'made', x: 'toString' },
    })
    const response = await inherited.post('{"x":1}')
    expect(await response.json()).toEqual({ x: 1, toString: 1 })
  })
})

describe('an array as body', () => {
  const object = { a: v.optional(v.string()) }

  it.each([
    ['an object', v.object(object)],
    ['a loose object', v.looseObject(object)],
    ['a strict object', v.strictObject(object)],
    ['a piped object', v.pipe(v.object(object), v.metadata({ title: 'x' }))],
  ])('is refused where the schema is %s', async (_, body) => {
    const { post } = setUp(() => null, { body })
    for (const text of ['[]', '[{"a":"x"}]']) {
      const response = await post(text)
      expect([response.status, await response.json()]).toEqual([
        400,
        { error: 'The request body must be an object, not an array' },
      ])
    }
    expect((await post('{}')).status).toBe(200)
  })

  it('is taken where the schema is an array', async () => {
    const { post } = setUp((body) => body, { body: v.array(v.number()) })
    expect(await (await post('[1,2]')).json()).toEqual([1, 2])
  })
})

describe('headers of every answer', () => {
  const of = (response: Response) => [
    response.status,
    response.headers.get('cache-control'),
    response.headers.get('vary'),
    response.headers.get('x-content-type-options'),
    response.headers.get('x-request-id')?.length,
  ]
  const all = (status: number) => [status, 'private, no-store', 'Cookie, Authorization', 'nosniff', 36]

  it('are those of answers and errors of all kinds', async () => {
    const { send, post } = setUp(() => ({}), { body: v.object({}) })
    expect(of(await post('{}'))).toEqual(all(200))
    expect(of(await post('no JSON'))).toEqual(all(400))
    expect(of(await send('PUT'))).toEqual(all(405))
    expect(of(await send('OPTIONS'))).toEqual(all(204))
    expect(of(await send('GET', {}, '/nothing'))).toEqual(all(404))
    const thrown = new ApiError(401, 'authentication_error', 'Who?', {
      code: 'invalid_api_key',
      headers: { 'www-authenticate': 'Bearer' },
    })
    const refusing = setUp(() => null, {}, { authenticate: () => Promise.reject(thrown) })
    const refused = await refusing.send('GET')
    expect(of(refused)).toEqual(all(401))
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    const failing = setUp(() => {
      throw new Error('secret')
    })
    expect(of(await failing.send('HEAD'))).toEqual(all(500))
  })

  it('are those of streams and stored content, which may have others', async () => {
    const streaming = setUp(() => sse(eventsOf({ a: 1 })))
    expect(of(await streaming.send('GET'))).toEqual([
      200,
      'private, no-store, no-transform',
      'Cookie, Authorization',
      'nosniff',
      36,
    ])
    const kept = { 'cache-control': 'public, immutable' }
    const read = () => new Uint8Array(1)
    const immutable = setUp(() => content({ type: 'text/plain', size: 1, headers: kept, read }))
    expect(of(await immutable.send('GET'))).toEqual([200, 'public, immutable', 'Cookie, Authorization', 'nosniff', 36])
    const stored = setUp(() => content({ type: 'text/plain', size: 1, etag: '"e"', read }))
    expect(of(await stored.send('GET'))).toEqual(all(200))
    expect(of(await stored.send('GET', { headers: { 'if-none-match': '"e"' } }))).toEqual(all(304))
  })

  it('are those of input that never became a request', () => {
    const { refuse } = setUp(() => null)
    const error = new ApiError(400, 'invalid_request_error', 'Bad', {
      code: 'invalid_body',
      headers: { 'x-more': '1' },
    })
    const { status, headers: refused } = refuse(error)
    expect(status).toBe(400)
    const vary = 'Cookie, Authorization'
    const sniffing = { 'x-content-type-options': 'nosniff' }
    expect(refused).toMatchObject({ 'cache-control': 'private, no-store', vary, ...sniffing, 'x-more': '1' })
    expect(refused['x-request-id']).toHaveLength(36)
  })

  it('can be overridden by an operation, for one answer', async () => {
    let count = 0
    const { send } = setUp((_, call) => {
      if (count++ === 0) call.setHeader('cache-control', 'max-age=600')
      return null
    })
    expect((await send('GET')).headers.get('cache-control')).toBe('max-age=600')
    expect(of(await send('GET'))).toEqual(all(200))
  })

  it('vary with the origin as well, where pages of others may call', async () => {
    const { send } = setUp(() => null, {}, { cors: { origins: ['https://app.example'] } })
    const response = await send('GET', { headers: { origin: 'https://app.example' } })
    expect(response.headers.get('vary')).toBe('origin, Cookie, Authorization')
    expect(of(await setUp(() => null).send('GET'))).toEqual(all(200))
  })
})

describe('a call', () => {
  it('has the method and the address of its client, past trusted proxies', async () => {
    const { send } = setUp((_, { method, ip }) => ({ method, ip: ip() }))
    expect(await (await send('POST')).json()).toEqual({ method: 'POST', ip: '10.0.0.1' })
    const headers = { 'x-forwarded-for': '6.6.6.6, 7.7.7.7' }
    expect(await (await send('GET', { headers })).json()).toEqual({ method: 'GET', ip: '7.7.7.7' })
  })

  it('has the method HEAD, which runs as GET', async () => {
    const methods: string[] = []
    const { send } = setUp((_, { method }) => (methods.push(method), null))
    await send('HEAD')
    expect(methods).toEqual(['HEAD'])
  })
})

describe('threat 49: the memory of bodies that are parsed', () => {
  const hold = (body: string, memory: number) => {
    const ends: (() => void)[] = []
    const { post } = setUp(
      () => new Promise((resolve) => ends.push(() => resolve({}))),
      { body: v.any() },
      { bodyMemory: memory },
    )
    return { send: () => post(body), ends }
  }

  it.each([
    ['three times their text', JSON.stringify('x'.repeat(180_000)), 550_000],
    ['112 bytes for each array in a list', JSON.stringify(Array.from({ length: 4_500 }, () => [])), 560_000],
    ['262 bytes for each field', JSON.stringify(Array.from({ length: 2_000 }, () => ({ a: 1 }))), 580_000],
  ])('is %s, and is given back', async (_, body, cost) => {
    const { send, ends } = hold(body, cost / 0.8)
    const first = send()
    await expect.poll(() => ends).toHaveLength(1)
    expect((await send()).status).toBe(503)
    ends[0]!()
    expect((await first).status).toBe(200)
    const second = send()
    await expect.poll(() => ends).toHaveLength(2)
    ends[1]!()
    expect((await second).status).toBe(200)
    expect((await hold(body, 500_000).send()).status).toBe(503)
  })

  it('is nothing for short ones', async () => {
    const { send, ends } = hold(JSON.stringify({ text: 'x'.repeat(10_000) }), 40_000)
    const answer = send()
    await expect.poll(() => ends).toHaveLength(1)
    ends[0]!()
    expect((await answer).status).toBe(200)
  })
})

describe('threat 49: the memory of a stream whose client has left', () => {
  it('is held until the upstream has been read to its end, and what comes later is not kept', async () => {
    const held: number[] = []
    let drained = (): void => undefined
    let tell: ((batch: string) => void) | undefined
    const run: Run = () =>
      sse({
        read: (onResult) => void (tell = (value) => onResult({ done: false, value })),
        encode: (batch) => batch as string,
        complete: async () => '',
        fail: async (error) => error,
        disconnect: () => new Promise<void>((resolve) => (drained = resolve)),
      })
    let all = 0
    const memory = (_: string, bytes: number) => void held.push((all += bytes))
    const { post } = setUp(run, { body: v.any() }, { memory })
    const { body } = await post(JSON.stringify('x'.repeat(100_000)))
    const reader = body!.getReader()
    void reader.read()
    await expect.poll(() => tell).toBeDefined()
    tell!('data: 1\n\n')
    const before = all
    expect(before).toBeGreaterThan(300_000)
    const next = reader.read()
    const left = reader.cancel()
    tell!('x'.repeat(1_000_000))
    await next
    await expect.poll(() => drained.length).toBe(1)
    expect(all).toBeGreaterThanOrEqual(before)
    drained()
    await left
    await expect.poll(() => all).toBe(0)
  })
})
