import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints, paths, requestOf } from '../endpoints/endpoints.js'
import type { Owner, Sent } from '../platform/requests.js'
import { documented, newOwner, requestsOf } from '../platform/requests.js'
import type { World } from '../platform/world.js'
import { chat, startWorld } from '../platform/world.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'

/** A good request of each route of the gateway. */
const requestsOfGateway = (owner: Owner): Record<string, Sent> => {
  const fixed = documented('gateway').filter((route) => route.startsWith('GET ') && !route.includes('{'))
  const posts = endpoints.map((name) => [`POST ${paths[name]}`, { path: paths[name], body: requestOf(name) }] as const)
  return {
    ...Object.fromEntries(fixed.map((route) => [route, { path: route.slice('GET '.length) }])),
    ...Object.fromEntries(posts),
    'GET /v1/models/{model}': { path: '/v1/models/gpt-4o' },
    'POST /v1/users': { path: '/v1/users', body: { name: 'Eve' } },
    'GET /v1/users/{id}': { path: `/v1/users/${owner.id}` },
    'GET /v1/users/{id}/usage': { path: `/v1/users/${owner.id}/usage` },
    'GET /admin/usage': { path: '/admin/usage?by=user&hours=1' },
    'GET /admin/usage/hours': { path: `/admin/usage/hours?by=user&id=${owner.id}` },
    'POST /admin/providers/{id}/probe': { path: '/admin/providers/openai/probe' },
    'POST /admin/balancer/simulate': { path: '/admin/balancer/simulate', body: chat },
    'DELETE /admin/keys/{id}': { path: `/admin/keys/${owner.keyId}` },
    'GET /admin/failed-requests/{id}': { path: `/admin/failed-requests/${owner.keyId}` },
    'DELETE /v1/users/{id}': { path: `/v1/users/${owner.id}` },
  }
}

describe(`threat 32: a storage that fails, on ${runtime}`, () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld('watched', { RATE_LIMITER: 'memory' })
    // A list of users has more to read than any way lets through.
    for (let i = 0; i < 12; i++) await newOwner(world)
  })
  afterAll(() => world.kill())

  /** What ends the owner's account, sign-in or key comes last. */
  const isLast = (route: string): boolean => /^DELETE .*(admin|users|account|auth)/.test(route)

  async function answerOf(route: string, { path, body }: Sent, owner: Owner) {
    const form = body instanceof FormData ? new Response(body) : undefined
    const stop = new AbortController()
    const response = await fetch(world.url + path, {
      method: route.split(' ')[0]!,
      headers: {
        authorization: `Bearer ${/^\/(api|\.well-known)\//.test(path) ? owner.access : owner.key}`,
        ...(body && { 'content-type': form ? form.headers.get('content-type')! : 'application/json' }),
      },
      ...(body && { body: form ? await form.arrayBuffer() : JSON.stringify(body) }),
      signal: stop.signal,
    })
    // It does not end.
    const text = path === '/admin/events' && response.ok ? '' : await response.text()
    stop.abort()
    return { status: response.status, id: response.headers.get('x-request-id'), text }
  }

  const error = {
    type: expect.any(String) as string,
    message: expect.any(String) as string,
    code: expect.any(String) as string,
  }

  const ways = [
    ...[0, 1].flatMap((after) => ['getItem', 'setItem'].map((method) => ({ method, after }))),
    ...[2, 3, 5, 8].map((after) => ({ method: 'getItem', after })),
  ]
  it.each(sample(ways, 2))(
    'is told of by each route in its error body, where $method fails after $after calls',
    async ({ method, after }) => {
      const owner = await newOwner(world, 'admin')
      const requests = { ...requestsOfGateway(owner), ...requestsOf(owner) }
      const routes = Object.keys(requests)
      expect(routes.toSorted()).toEqual([...documented('gateway'), ...documented('platform')].toSorted())
      let failed = 0
      for (const route of routes.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))) {
        await world.call('breakDriver', method, after)
        const { status, id, text } = await answerOf(route, requests[route]!, owner)
        await world.call('breakDriver')
        expect([route, text]).toEqual([route, expect.not.stringMatching(/sda1|secret|StorageError|\bat .*:\d+:\d+/)])
        expect([route, id]).toEqual([route, expect.stringMatching(uuidv7Pattern)])
        if (status < 400) continue
        if (status >= 500) failed++
        // It tells so in its own words.
        if (route === 'GET /health') continue
        const isPlatform = /^\S+ \/(api|\.well-known)\//.test(route)
        expect([route, JSON.parse(text)]).toEqual([route, { error: isPlatform ? expect.any(String) : error }])
      }
      expect(failed).toBeGreaterThan(0)
    },
  )

  it('leaves a server that answers again', async () => {
    const owner = await newOwner(world)
    expect((await world.ask('GET', '/health')).status).toBe(200)
    expect((await world.ask('GET', '/api/account', { as: owner })).status).toBe(200)
  })
})
