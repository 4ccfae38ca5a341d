// Longer than 250 lines: one function, and one route table that all cases call.
import { ApiError } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/support/events.js'
import { fetchShell } from './shells/fetch-shell.js'
import type { HandlerOptions } from './handler.js'
import { createHandler } from './handler.js'
import type { RequestLog } from './request-log.js'
import type { Call, Route } from './operation.js'
import { operation, route, sse, withStatus } from './operation.js'

type Run = (input: { params: unknown; query: unknown; body: unknown }, call: Call, actor: string) => unknown

const json = { 'content-type': 'application/json' }

/** A handler with one route whose `run` is given, and what its hooks were told. */
function setUp(
  run: Run,
  fields: Partial<Route<string>['operation']> = {},
  options: Partial<HandlerOptions<string>> = {},
) {
  const logs: RequestLog[] = []
  const accesses: string[] = []
  const one = operation<string, string>({
    id: 'test',
    summary: '',
    access: 'open',
    ...fields,
    run: (actor, input, call) => run(input, call, actor),
  })
  const { handle } = createHandler<string>({
    routes: [route('POST', '/things', one, { status: 201 }), route('GET', '/things/{id}', one)],
    authenticate: (_, { access }) => (accesses.push(access), 'ada'),
    errorBody: ({ type, code, message }) => ({ error: { type, code, message } }),
    onRequest: (log) => logs.push(log),
    ...options,
  })
  const shell = fetchShell(handle)
  const send = (method: string, path: string, init: RequestInit = {}) =>
    shell(new Request(`https://gw.example${path}`, { method, ...init }), { ip: '10.0.0.1' })
  return { send, logs, accesses }
}

const requestId = (response: Response): string => response.headers.get('x-request-id')!

describe('an answer', () => {
  it('is JSON with the status of its route', async () => {
    const { send } = setUp(() => ({ ok: 'ü' }))
    const response = await send('POST', '/things')
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.json()).toEqual({ ok: 'ü' })
    expect((await send('GET', '/things/7')).status).toBe(200)
  })

  it('can have another status', async () => {
    const response = await setUp(() => withStatus(503, { status: 'draining' })).send('GET', '/things/7')
    expect([response.status, await response.json()]).toEqual([503, { status: 'draining' }])
  })

  it('can be a stream', async () => {
    const response = await setUp(() => sse(eventsOf({ a: 1 }))).send('GET', '/things/7')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store, no-transform',
      vary: 'Cookie, Authorization',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
      'x-request-id': requestId(response),
    })
    expect(await response.text()).toBe('data: {"a":1}\n\ndata: [DONE]\n\n')
  })

  it('has the headers that its operation sets, which override its own', async () => {
    const { send } = setUp((_, call) => {
      call.setHeader('cache-control', 'no-store')
      return sse(eventsOf({ a: 1 }))
    })
    expect((await send('GET', '/things/7')).headers.get('cache-control')).toBe('no-store')
    // What one answer is given is not the next one's.
    const plain = await setUp(() => sse(eventsOf({ a: 1 }))).send('GET', '/things/7')
    expect(plain.headers.get('cache-control')).toBe('private, no-store, no-transform')
  })

  it('has a generated request id, never the one that was sent', async () => {
    const ids: string[] = []
    const { send } = setUp((_, call) => (ids.push(call.requestId), null))
    const sent = { 'x-request-id': 'x'.repeat(200) }
    const responses = [await send('GET', '/things/7', { headers: sent }), await send('GET', '/things/7')]
    expect(responses.map(requestId)).toEqual(ids)
    expect(new Set(ids).size).toBe(2)
    expect(ids.every(isUuid)).toBe(true)
  })
})

describe('the input of an operation', () => {
  it('comes from path, query and body, validated by schemas', async () => {
    const inputs: unknown[] = []
    const schema = (name: string) => v.object({ [name]: v.string() })
    const { send } = setUp((input) => (inputs.push(input), null), {
      query: v.object({ q: v.optional(v.string()) }),
    })
    await send('GET', '/things/a%2Fb?q=1&q=2&r=3')
    await send('GET', '/things/7')
    expect(inputs).toEqual([
      { params: { id: 'a/b' }, query: { q: '2' }, body: undefined },
      { params: { id: '7' }, query: {}, body: undefined },
    ])
    const withBody = setUp((input) => (inputs.push(input), null), { body: schema('name') })
    await withBody.send('POST', '/things', { body: '{"name":"x","more":1}', headers: json })
    expect(inputs[2]).toEqual({ params: {}, query: undefined, body: { name: 'x', more: 1 } })
  })

  it('is refused with path and reason', async () => {
    const { send } = setUp(() => null, { body: v.object({ list: v.array(v.object({ n: v.number() })) }) })
    const post = async (body: string) => (await send('POST', '/things', { body, headers: json })).json()
    const refused = (message: string) => ({ error: { type: 'invalid_request_error', code: 'invalid_body', message } })
    expect(await post('{"list":[{"n":1},{"n":"x"}]}')).toEqual(refused('list.1.n must be a number, not "x"'))
    expect(await post('{}')).toEqual(refused('list is missing'))
    expect(await post('[]')).toEqual(refused('The request body must be an object, not an array'))
    expect(await post('"text"')).toEqual(refused('The request body must be an object, not "text"'))
  })

  it('is refused with a short message, for a value of any length', async () => {
    const { send } = setUp(() => null, { body: v.object({ n: v.number() }) })
    const body = JSON.stringify({ n: 'x'.repeat(10_000) })
    expect(await (await send('POST', '/things', { body, headers: json })).json()).toMatchObject({
      error: { message: 'n must be a number' },
    })
  })

  it('is limited in size, depth, fields and values by options', async () => {
    const options = { bodyLimit: 10, jsonDepth: 2, jsonFields: 0, jsonValues: 5 }
    const { send } = setUp(() => null, { body: v.unknown() }, options)
    const status = async (body: string) => (await send('POST', '/things', { body, headers: json })).status
    expect(await status('[[1,2,3]]')).toBe(201)
    expect(await status('[[1,2,3,4]]')).toBe(413)
    for (const body of ['[[[1]]]', '{"a":1}', '[[],[],[]]']) expect(await status(body)).toBe(400)
  })

  it('threat 215: of many large ones that come at once, each is parsed in a turn of the event loop of its own', async () => {
    let turn = 0
    let counting = setImmediate(function count() {
      turn++
      counting = setImmediate(count)
    })
    const turns: number[] = []
    const { send } = setUp(() => turns.push(turn), { body: v.unknown() })
    const body = `["${'x'.repeat(16_384)}"]`
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send('POST', '/things', { body, headers: json })),
    )
    clearImmediate(counting)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(turns).size).toBe(20)
  })

  it('threat 51: has 1,000 fields of its own at most', async () => {
    const { send } = setUp(() => null, { body: v.unknown() })
    const fields = (n: number) => JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, i])))
    const status = async (body: string) => (await send('POST', '/things', { body, headers: json })).status
    expect(await status(fields(1_000))).toBe(201)
    expect(await status(fields(1_001))).toBe(400)
    expect(await status(`{"metadata":${fields(1_001)}}`)).toBe(201)
  })

  it('is not read for an operation without a body', async () => {
    const { send } = setUp(() => null)
    expect((await send('POST', '/things', { body: 'no JSON', headers: { 'content-type': 'text/plain' } })).status).toBe(
      201,
    )
  })

  it('is parsed after authentication', async () => {
    const steps: string[] = []
    const authenticate = () => {
      steps.push('authenticate')
      throw new ApiError(401, 'authentication_error', 'Who?', { code: 'invalid_api_key' })
    }
    const { send } = setUp(() => steps.push('run'), { access: 'key', body: v.object({}) }, { authenticate })
    expect((await send('POST', '/things', { body: 'no JSON' })).status).toBe(401)
    expect(steps).toEqual(['authenticate'])
  })
})

describe('the caller', () => {
  it('is authenticated for the access of the operation and passed to it', async () => {
    const actors: string[] = []
    const { send, accesses } = setUp((_, __, actor) => (actors.push(actor), null), { access: 'key' })
    await send('GET', '/things/7')
    expect(accesses).toEqual(['key'])
    expect(actors).toEqual(['ada'])
  })

  it('is not authenticated without a route', async () => {
    const { send, accesses } = setUp(() => null, { access: 'key' })
    await send('GET', '/nothing')
    await send('PUT', '/things')
    expect(accesses).toEqual([])
  })

  it('disconnecting is reported to the operation', async () => {
    const controller = new AbortController()
    let disconnected = false
    const { send } = setUp((_, call) => (call.onDisconnect(() => (disconnected = true)), null))
    await send('GET', '/things/7', { signal: controller.signal })
    expect(disconnected).toBe(false)
    controller.abort()
    expect(disconnected).toBe(true)
  })
})

describe('the request log', () => {
  it('has one line per request, with the route and not the path', async () => {
    const { send, logs } = setUp((_, call) => {
      call.log({ model: 'm', tokens: 1 })
      call.log({ tokens: 2 })
      return null
    })
    const responses = [await send('GET', '/things/secret?q=secret'), await send('GET', '/secret')]
    expect(logs).toEqual([
      {
        model: 'm',
        tokens: 2,
        request_id: requestId(responses[0]!),
        method: 'GET',
        route: '/things/{id}',
        status: 200,
        duration_ms: expect.any(Number) as number,
        ip: '10.0.0.1',
      },
      {
        request_id: requestId(responses[1]!),
        method: 'GET',
        route: '',
        status: 404,
        error_type: 'not_found_error',
        error_code: 'not_found',
        duration_ms: expect.any(Number) as number,
        ip: '10.0.0.1',
      },
    ])
  })

  it.each([
    ['{"list":[{"n":1},{"SECRET":"x"}]}', 'list[1]'],
    ['{}', 'list'],
    ['{"list":[],"SECRET":1}', undefined],
    ['"SECRET"', undefined],
  ])('names the field of a body that is refused: %s', async (body, field) => {
    const list = v.array(v.record(v.string(), v.number()))
    const { send, logs } = setUp(() => null, { body: v.strictObject({ list }) })
    expect((await send('POST', '/things', { body, headers: json })).status).toBe(400)
    expect(logs[0]!['error_field']).toBe(field)
    expect(JSON.stringify(logs)).not.toContain('SECRET')
  })

  it.each([
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', false],
    ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', false],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-secret', false],
  ])('has the traceparent of its caller, %s: %s', async (traceparent, told) => {
    const { send, logs } = setUp(() => null)
    await send('GET', '/things/7', { headers: { traceparent } })
    expect(logs[0]!['traceparent']).toBe(told ? traceparent : undefined)
  })

  it('has the line of a stream after the stream has ended', async () => {
    const { send, logs } = setUp((_, call) => {
      call.log({ stream: true })
      return sse(eventsOf({ a: 1 }))
    })
    const response = await send('GET', '/things/7')
    expect(logs).toEqual([])
    await response.text()
    expect(logs).toMatchObject([{ status: 200, stream: true, request_id: requestId(response) }])
  })

  it('has the line of a stream that the client cancelled', async () => {
    const { send, logs } = setUp(() => sse(eventsOf(...Array.from({ length: 1_000 }, () => ({ a: 1 })))))
    const response = await send('GET', '/things/7')
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(logs).toHaveLength(1)
  })
})

describe('CORS', () => {
  it('is off by default and can be enabled for origins', async () => {
    const headers = { origin: 'https://app.example' }
    const off = await setUp(() => null).send('GET', '/things/7', { headers })
    expect([off.headers.get('access-control-allow-origin'), off.headers.get('vary')]).toEqual([
      null,
      'Cookie, Authorization',
    ])
    const { send } = setUp(() => null, {}, { cors: { origins: ['https://app.example'] } })
    const on = await send('GET', '/things/7', { headers })
    expect(on.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(on.headers.get('access-control-expose-headers')).toContain('retry-after')
    const preflight = await send('OPTIONS', '/things', { headers })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
    expect((await send('GET', '/nothing', { headers })).headers.get('access-control-allow-origin')).toBe(headers.origin)
  })
})
