import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createMiddleware } from '@hattip/adapter-node'
import type { Gateway } from '@turnpike/gateway'
import type { Application, RequestHandler } from 'express'
import express from 'express'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { gatewaySuite } from './gateway-suite.js'
import type { Host, Setup } from './setup.js'
import { serve, setUp } from './setup.js'
import { sample } from '../support/scope.js'

/** How an Express application takes a gateway in. */
interface Way {
  name: string
  use(app: Application, gateway: Gateway): void
  prefix?: string
  ownBodies?: boolean
}

/** Under `exactOptionalPropertyTypes`, which few projects set, the adapter's type of `request.ip` is not Express's. */
const throughHattip = (gateway: Gateway): RequestHandler =>
  createMiddleware(gateway.hattip, { origin: 'http://localhost', alwaysCallNext: false }) as RequestHandler

const ways: Way[] = [
  { name: 'Express through gateway.node', use: (app, gateway) => app.use(gateway.node) },
  {
    name: 'Express through HatTip',
    use: (app, gateway) => app.use(throughHattip(gateway)),
  },
  {
    name: 'Express after express.json()',
    use: (app, gateway) => app.use(express.json()).use(gateway.node),
    ownBodies: true,
  },
  {
    name: 'Express after express.json() through HatTip',
    use: (app, gateway) =>
      app
        .use(express.json())
        // Keeps the adapter from wrapping a body that is read already, which it cannot.
        .use((request: IncomingMessage & { rawBody?: null }, _, next) => {
          request.rawBody = null
          next()
        })
        .use(throughHattip(gateway)),
    ownBodies: true,
  },
  {
    name: 'Express below a prefix',
    use: (app, gateway) => app.use('/ai', gateway.node),
    prefix: '/ai',
  },
  {
    name: 'Express below a prefix through HatTip',
    use: (app, gateway) => app.use('/ai', throughHattip(gateway)),
    prefix: '/ai',
  },
]

for (const { name, use, ...options } of sample(ways, 2))
  gatewaySuite(
    name,
    (gateway) => {
      const app = express()
      use(app, gateway)
      return serve(app)
    },
    { ...options, ownNotFound: true },
  )

describe.each(ways)('$name, beside routes of the host', ({ use, prefix = '' }) => {
  const notFound = vi.fn()
  const failed = vi.fn()
  let setup: Setup
  let host: Host
  beforeAll(async () => {
    setup = await setUp()
    const app = express()
    use(app, setup.gateway)
    app
      .get('/mine', (_, response) => response.end('mine'))
      .post('/mine', (request, response) => void text(request).then((body) => response.end(`mine: ${body}`)))
      .use((request, response) => {
        notFound(request.method, request.url)
        response.writeHead(404).end('not mine')
      })
      .use((error: Error, _request: IncomingMessage, response: ServerResponse, _next: unknown) => {
        failed(error.message)
        response.writeHead(500).end('my fault')
      })
    host = await serve(app)
  })
  beforeEach(() => {
    notFound.mockClear()
    failed.mockClear()
  })
  afterAll(() => host.close())

  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(host.url + path, {
      ...init,
      headers: { authorization: `Bearer ${setup.key}`, ...(init.headers as Record<string, string>) },
    })
  const textOf = async (response: Promise<Response>): Promise<[number, string]> => {
    const { status, text } = await response.then(async (r) => ({ status: r.status, text: await r.text() }))
    return [status, text]
  }

  it('does not handle paths of the host', async () => {
    expect(await textOf(call('/mine'))).toEqual([200, 'mine'])
    const response = await call('/mine')
    expect(response.headers.get('x-request-id')).toBeNull()
    await response.text()
    const body = 'a body that nobody has read before'
    expect(await textOf(call('/mine', { method: 'POST', body, headers: { 'content-type': 'text/plain' } }))).toEqual([
      200,
      `mine: ${body}`,
    ])
  })

  it('leaves unknown paths to the host', async () => {
    expect(await textOf(call('/nothing', { method: 'PUT' }))).toEqual([404, 'not mine'])
    expect(await textOf(call(`${prefix}/v1/nothing?a=b`))).toEqual([404, 'not mine'])
    expect(notFound.mock.calls).toEqual([
      ['PUT', '/nothing'],
      ['GET', `${prefix}/v1/nothing?a=b`],
    ])
  })

  it('does not call next after it has answered', async () => {
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
    const post = (value: object): Promise<Response> =>
      call(`${prefix}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(value),
      })
    const responses = await Promise.all([
      call(`${prefix}/`),
      call(`${prefix}/v1/models`),
      call(`${prefix}/v1/models`, { method: 'HEAD' }),
      call(`${prefix}/v1/models`, { method: 'OPTIONS' }),
      call(`${prefix}/v1/models/none`),
      call(`${prefix}/v1/models`, { method: 'DELETE' }),
      fetch(`${host.url}${prefix}/v1/models`),
      post({ ...body, n: 0 }),
      post(body),
      post({ ...body, stream: true }),
    ])
    await Promise.all(responses.map((response) => response.text()))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 204, 404, 405, 401, 400, 200, 200])
    expect(notFound).not.toHaveBeenCalled()
    expect(failed).not.toHaveBeenCalled()
  })
})

describe('Express after express.json()', () => {
  let host: Host
  let setup: Setup
  beforeAll(async () => {
    setup = await setUp()
    host = await serve(express().use(express.json()).use(setup.gateway.node))
  })
  afterAll(() => host.close())

  const post = (init: RequestInit): Promise<Response> =>
    fetch(`${host.url}/v1/chat/completions`, {
      method: 'POST',
      ...init,
      headers: { authorization: `Bearer ${setup.key}`, ...(init.headers as Record<string, string>) },
    })

  it.each([
    { title: 'an empty body', init: { headers: { 'content-type': 'application/json' }, body: '' } },
    { title: 'no body', init: {} },
  ])('answers 400 to $title', async ({ init }) => {
    const response = await post(init)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  it('sends the upstream what the client sent', async () => {
    const content = 'Ça va 🙂 "quoted" \\ \u0000 \n'
    const messages = [{ role: 'user', content }]
    const body = { model: 'gpt-4o-mini', messages, seed: 12_345, store: true, metadata: { a: 'é' } }
    const response = await post({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    expect(response.status).toBe(200)
    expect(setup.upstream.requests.at(-1)!.body).toEqual(body)
  })
})
