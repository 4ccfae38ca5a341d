import { ApiError, StorageError } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/support/events.js'
import { fetchShell } from './shells/fetch-shell.js'
import type { HandlerOptions } from './handler.js'
import { createHandler, toApiError } from './handler.js'
import { operation, route, sse } from './operation.js'
import type { RequestLog } from './request-log.js'

const secret = 'secret /etc/passwd https://upstream'

/** A handler with two routes whose `run` is given, and what its hooks were told. */
function setUp(run: () => unknown, options: Partial<HandlerOptions<null>> = {}) {
  const logs: RequestLog[] = []
  const errors: { error: unknown; request_id: string }[] = []
  const one = operation<null, string>({ id: 'test', summary: '', access: 'open', run })
  const servable = createHandler<null>({
    routes: [route('POST', '/things', one), route('GET', '/things/{id}', one)],
    authenticate: () => null,
    errorBody: ({ type, code, message }) => ({ error: { type, code, message } }),
    onRequest: (log) => logs.push(log),
    onError: (error, { request_id }) => errors.push({ error, request_id }),
    ...options,
  })
  const shell = fetchShell(servable.handle)
  const send = (method: string, path: string) => shell(new Request(`https://gw.example${path}`, { method }))
  return { send, servable, logs, errors }
}

const requestId = (response: Response): string => response.headers.get('x-request-id')!

describe('other methods', () => {
  it('HEAD answers as GET without a body', async () => {
    const { send, logs } = setUp(() => ({ ok: true }))
    const [head, get] = [await send('HEAD', '/things/7'), await send('GET', '/things/7')]
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    expect(logs[0]).toMatchObject({ method: 'HEAD', route: '/things/{id}' })
    const missing = await send('HEAD', '/nothing')
    expect([missing.status, await missing.text()]).toEqual([404, ''])
  })

  it('OPTIONS lists the methods of a path', async () => {
    const { send } = setUp(() => null)
    const answers = [await send('OPTIONS', '/things'), await send('OPTIONS', '/things/7')]
    expect(answers.map(({ status, headers }) => [status, headers.get('allow')])).toEqual([
      [204, 'POST, OPTIONS'],
      [204, 'GET, HEAD, OPTIONS'],
    ])
    expect(await answers[0]!.text()).toBe('')
    expect(answers.map(requestId).every(isUuid)).toBe(true)
    expect((await send('OPTIONS', '/nothing')).status).toBe(404)
  })

  it.each([
    ['GET', '/things', 'POST, OPTIONS'],
    ['HEAD', '/things', 'POST, OPTIONS'],
    ['DELETE', '/things/7', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and lists the methods', async (method, path, allow) => {
    const response = await setUp(() => null).send(method, path)
    expect([response.status, response.headers.get('allow'), isUuid(requestId(response))]).toEqual([405, allow, true])
    const message = `This path takes ${allow}`
    const body = { error: { type: 'method_not_allowed', code: 'method_not_allowed', message } }
    expect(await response.text()).toBe(method === 'HEAD' ? '' : JSON.stringify(body))
  })

  it('an unknown path is 404', async () => {
    const response = await setUp(() => null).send('GET', '/nothing')
    expect([response.status, isUuid(requestId(response)), await response.json()]).toEqual([
      404,
      true,
      { error: { type: 'not_found_error', code: 'not_found', message: 'There is nothing at /nothing' } },
    ])
  })

  it('an optional exchange without a route returns null', async () => {
    const { servable, logs } = setUp(() => null)
    const exchange = { method: 'GET', header: () => undefined, query: '', optional: true, ip: () => '' }
    expect(await servable.handle({ ...exchange, path: '/nothing' } as never)).toBeNull()
    expect(await servable.handle({ ...exchange, path: '/things/7' } as never)).toMatchObject({ status: 200 })
    expect(logs).toHaveLength(1)
  })
})

describe('an error', () => {
  const limit = new ApiError(429, 'rate_limit_error', 'Slow down', {
    code: 'rate_limit_exceeded',
    retryAfter: 7,
    shouldRetry: false,
    headers: { 'x-extra': 'y' },
  })

  it('has status, body and headers', async () => {
    const { send, errors } = setUp(() => Promise.reject(limit))
    const response = await send('GET', '/things/7')
    expect(response.status).toBe(429)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'retry-after': '7',
      'x-should-retry': 'false',
      'x-extra': 'y',
      'cache-control': 'private, no-store',
      vary: 'Cookie, Authorization',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId(response),
    })
    expect(await response.json()).toEqual({
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Slow down' },
    })
    expect(errors).toEqual([])
  })

  it.each([new Error(secret), secret, undefined, { message: secret }])(
    'that is unknown is a 500 without details: %s',
    async (thrown) => {
      const { send, errors, logs } = setUp(() => {
        throw thrown
      })
      const response = await send('GET', '/things/7')
      expect([response.status, await response.json()]).toEqual([
        500,
        { error: { type: 'server_error', code: 'internal_error', message: 'The server had an internal error' } },
      ])
      expect(JSON.stringify([...response.headers])).not.toContain('secret')
      expect(errors).toEqual([{ error: thrown, request_id: requestId(response) }])
      expect(logs).toMatchObject([{ status: 500, request_id: requestId(response) }])
    },
  )

  it('of authentication is answered too', async () => {
    const { send, errors } = setUp(() => null, { authenticate: () => Promise.reject(new Error(secret)) })
    const response = await send('GET', '/things/7')
    expect([response.status, requestId(response)]).toEqual([500, errors[0]!.request_id])
  })

  it('because a value cannot be serialised as JSON is a 500', async () => {
    const loop: { self?: object } = {}
    loop.self = loop
    expect((await setUp(() => loop).send('GET', '/things/7')).status).toBe(500)
  })

  it('within a stream is an error event, and reported to the host', async () => {
    const error = new Error(secret)
    const { send, errors, logs } = setUp(() => sse(eventsOf({ a: 1 }, error)))
    const response = await send('GET', '/things/7')
    expect(await response.text()).toBe(
      'data: {"a":1}\n\ndata: {"error":{"type":"server_error","code":"internal_error","message":"The server had an internal error"}}\n\n',
    )
    expect(errors).toEqual([{ error, request_id: requestId(response) }])
    expect(logs).toHaveLength(1)
  })

  it('outside of a request is built by refuse', () => {
    const { servable } = setUp(() => null)
    const reply = servable.refuse(limit)
    expect(reply).toMatchObject({ status: 429, headers: { 'retry-after': '7', 'x-extra': 'y' } })
    expect(isUuid(String(reply.headers['x-request-id']))).toBe(true)
    expect(reply.body).toBe('{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Slow down"}}')
  })

  it('is an ApiError itself, or one with the error as its cause', () => {
    expect(toApiError(limit)).toBe(limit)
    expect(toApiError('x')).toMatchObject({ status: 500, code: 'internal_error', cause: 'x' })
  })

  it.each(['onRequest', 'onError'] as const)('in the hook %s of the host does not affect the answer', async (hook) => {
    const broken = () => {
      throw new Error('The log is full')
    }
    const { send } = setUp(() => Promise.reject(new Error('x')), { [hook]: broken })
    expect((await send('GET', '/things/7')).status).toBe(500)
  })
})

describe('a storage that went away', () => {
  it.each([
    ['POST', '/things', 'none', '2', null],
    // Who sends it again may do it twice, such as adding credits.
    ['POST', '/things', 'unknown', null, 'false'],
    ['GET', '/things/7', 'unknown', '2', null],
  ] as const)('is for %s %s with outcome %s a 503', async (method, path, outcome, retryAfter, shouldRetry) => {
    const { send } = setUp(() => {
      throw new StorageError('away', outcome)
    })
    const { status, headers } = await send(method, path)
    expect([status, headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([503, retryAfter, shouldRetry])
  })
})
