import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documented } from '../platform/requests.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

let server: Server
let adminToken: string
beforeAll(async () => {
  // No ADMIN_TOKEN.
  server = await startServer()
  const { access_token } = await post<{ access_token: string }>('/api/auth', {
    email: 'admin@localhost',
    password: 'the password of the tests',
  })
  adminToken = access_token
})
afterAll(() => server.stop())

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

async function post<T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return (await response.json()) as T
}

/** A user of a role, with an access token and, where they may have one, a gateway key. */
async function person(role: 'user' | 'developer') {
  const [email, password] = [`${role}@example.org`, 'correct horse battery staple']
  await post('/api/users', { email, password, role }, bearer(adminToken))
  const { access_token } = await post<{ access_token: string }>('/api/auth', { email, password })
  const { key } = await post<{ key?: string }>('/api/keys', { name: 'k', rateLimit: 600 }, bearer(access_token))
  return { access: access_token, key }
}

describe(`threat 30: what administrators are told and may do, on ${runtime}`, () => {
  /** The routes for administrators, typed by hand. */
  const routes = [
    'GET /v1/users',
    'POST /v1/users',
    'DELETE /v1/users/{id}',
    'GET /health/providers',
    'GET /admin/metrics',
    'GET /admin/providers',
    'GET /admin/pricing',
    'GET /admin/users/summary',
    'GET /admin/balancer',
    'POST /admin/providers/{id}/probe',
    'GET /admin/providers/types',
    'POST /admin/providers',
    'POST /admin/providers/probe',
    'PATCH /admin/providers/{id}',
    'DELETE /admin/providers/{id}',
    'GET /admin/groups',
    'PUT /admin/groups/{name}',
    'DELETE /admin/groups/{name}',
    'GET /admin/prices',
    'PUT /admin/prices/{model}',
    'DELETE /admin/prices/{model}',
    'GET /admin/server',
    'POST /admin/balancer/simulate',
    'GET /admin/usage',
    'GET /admin/usage/hours',
    'GET /admin/keys',
    'DELETE /admin/keys/{id}',
    'GET /admin/audit',
    'GET /admin/events',
    'GET /admin/failed-requests',
    'GET /admin/failed-requests/{id}',
    'GET /metrics',
    'POST /api/users',
    'GET /api/users',
    'GET /api/users/{id}',
    'PATCH /api/users/{id}',
    'PUT /api/users/{id}/password',
    'POST /api/users/{id}/password-link',
    'POST /api/invitations',
    'GET /api/invitations',
    'DELETE /api/invitations/{id}',
    'GET /api/users/{id}/sign-ins',
    'DELETE /api/users/{id}/sign-ins',
    'DELETE /api/users/{id}/sign-ins/{signInId}',
    'DELETE /api/users/{id}',
    'POST /api/users/{id}/restore',
    'GET /api/users/{id}/balance',
    'PATCH /api/users/{id}/balance',
    'POST /api/users/{id}/balance',
  ]
  const ADMIN_ID = '00000000-0000-7000-8000-000000000001'

  async function statuses(
    headers: Record<string, string>,
    of = routes,
    on = server,
  ): Promise<Record<number, string[]>> {
    const seen: Record<number, string[]> = {}
    for (const route of of) {
      const [method, path] = route.replace('{id}', ADMIN_ID).split(' ') as [string, string]
      const hasBody = ['POST', 'PUT', 'PATCH'].includes(method)
      const response = await fetch(on.url + path, {
        method,
        headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
        ...(hasBody && { body: '{}' }),
      })
      await response.body?.cancel()
      ;(seen[response.status] ??= []).push(route)
    }
    return seen
  }

  it('are all of these', () => {
    const open = ['GET /v1/users/{id}', 'GET /v1/users/{id}/usage']
    const surface = [...documented('gateway', { withOverlay: true }), ...documented('platform')].filter((route) =>
      / \/(admin|metrics|health\/|v1\/users|api\/(users|invitations))/.test(route),
    )
    expect(surface.filter((route) => !open.includes(route)).toSorted()).toEqual(routes.toSorted())
  })

  const tokens = [
    '',
    'undefined',
    'null',
    'admin-token',
    'true',
    '0',
    'admin',
    'gw-',
    'Bearer',
    '[object Object]',
    '{}',
  ]
  it.each(sample(tokens, 4))('are 401 where no token is set and %o is given', async (token) => {
    expect(await statuses(bearer(token))).toEqual({ 401: routes })
    expect(await statuses({ authorization: token })).toEqual({ 401: routes })
  })

  it('are 401 without a credential, wherever a request says that it comes from', async () => {
    for (const headers of [
      {},
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-real-ip': '127.0.0.1', 'x-admin': 'true', 'x-user-role': 'admin' },
      { 'x-original-url': '/health', 'x-rewrite-url': '/health' },
      { cookie: 'session=admin; __Host-session=admin' },
      { authorization: 'Basic YWRtaW46YWRtaW4=' },
    ] as Record<string, string>[])
      expect(await statuses(headers)).toEqual({ 401: routes })
  })

  it('are no others by another spelling of their paths', async () => {
    for (const path of [
      '//admin/metrics',
      '/./admin/metrics',
      '/v1/../admin/metrics',
      '/admin//metrics',
      '/admin/metrics/',
      '/ADMIN/metrics',
      '/%61dmin/metrics',
      '/admin%2fmetrics',
      '/admin/metrics;x',
      '/api/../admin/metrics',
      '/api//users',
      '/api/users/',
    ]) {
      const response = await fetch(server.url + path)
      await response.body?.cancel()
      expect([path, [401, 404].includes(response.status)]).toEqual([path, true])
    }
  })

  it('are refused to users and developers, by token or key', async () => {
    const [user, developer] = [await person('user'), await person('developer')]
    const [gateway, platform] = [routes, routes].map((all, i) =>
      all.filter((route) => route.includes(' /api/') === (i === 1)),
    )
    for (const token of [user.access, developer.access]) expect(await statuses(bearer(token))).toEqual({ 403: routes })
    expect(await statuses(bearer(developer.key!))).toEqual({ 403: gateway, 401: platform })
    expect(user.key).toBeUndefined()
  })

  it('threat 199: are two to the token of Prometheus, which is limited like others', async () => {
    const METRICS_TOKEN = 'metrics-token-of-the-tests'
    const monitored = await startServer({ METRICS_TOKEN, TRUSTED_HOPS: '1' })
    const [two, others] = [['GET /health/providers', 'GET /metrics'], [] as string[]]
    for (const route of routes) if (!two.includes(route)) others.push(route)
    const ask = (of: string[], address: string, token = METRICS_TOKEN) =>
      statuses({ ...bearer(token), 'x-forwarded-for': address }, of, monitored)
    try {
      expect(await ask(two, '192.0.2.0')).toEqual({ 200: two })
      for (let i = 0; i < others.length; i += 20) {
        const some = others.slice(i, i + 20)
        expect(await ask(some, `192.0.2.${i}`)).toEqual({ 401: some })
      }
      expect(await ask(Array(31).fill(two[1]), '192.0.2.200', 'a-guess-of-a-token')).toEqual({
        401: Array(30).fill(two[1]),
        429: [two[1]],
      })
      expect(await ask(two, '192.0.2.200')).toEqual({ 429: two })
      expect(await ask(two, '192.0.2.201')).toEqual({ 200: two })
    } finally {
      await monitored.stop()
    }
  })

  it.each<[what: string, limits: object]>([
    ['models', { models: ['gpt-4o-mini'] }],
    ['a budget', { budget: { usd: 1 } }],
    ['tokens a minute', { tokenLimit: 1_000 }],
  ])('threat 46: an administrator’s key that was made for less, with %s, are refused', async (_, limits) => {
    const made = (of: object) =>
      post<{ id: string; key: string }>('/api/keys', { name: 'k', rateLimit: 600, ...of }, bearer(adminToken))
    const { key } = await made(limits)
    const [gateway, platform] = [routes, routes].map((all, i) =>
      all.filter((route) => route.includes(' /api/') === (i === 1)),
    )
    expect(await statuses(bearer(key))).toEqual({ 403: gateway, 401: platform })
    // It reads its owner, as every key does, and nobody else.
    const other = await post<{ id: string }>('/v1/users', {}, bearer(server.key))
    for (const rest of ['', '/usage']) {
      const read = (id: string, token: string) =>
        fetch(`${server.url}/v1/users/${id}${rest}`, { headers: bearer(token) })
      const answers = [await read(ADMIN_ID, key), await read(other.id, key), await read(other.id, server.key)]
      expect(answers.map(({ status }) => status)).toEqual([200, 404, 200])
    }
    // A key without such limits is an administrator's.
    const { key: full } = await made({})
    expect((await fetch(`${server.url}/admin/keys`, { headers: bearer(full) })).status).toBe(200)
  })
})

describe(`threat 31: clickjacking, on ${runtime}`, () => {
  it('has nothing to frame: what is HTML may not be', async () => {
    const paths = [...documented('gateway'), ...documented('platform')].map((route) => route.split(' ')[1]!)
    const others = [
      '/admin',
      '/admin/',
      '/admin/index.html',
      '/docs',
      '/login',
      '/index.html',
      '/favicon.ico',
      '/api',
      '/<b>',
    ]
    const types = new Set<string>()
    const framable: string[] = []
    for (const path of new Set([...paths, ...others]))
      for (const token of ['', adminToken, server.key]) {
        const stop = new AbortController()
        const response = await fetch(server.url + path.replace(/\{\w+\}/, '%3Cscript%3E'), {
          headers: { accept: 'text/html,*/*;q=0.1', ...(token !== '' && bearer(token)) },
          signal: stop.signal,
        })
        const type = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
        types.add(type)
        const policy = response.headers.get('content-security-policy') ?? ''
        if (!/json|event-stream|^text\/plain/.test(type) && !/frame-ancestors 'none'/.test(policy)) framable.push(path)
        stop.abort()
      }
    expect(framable).toEqual([])
    expect(types).toContain('application/json')
  })
})
