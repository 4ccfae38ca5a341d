import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SignedIn, World } from '../platform/world.js'
import { chat, startWorld } from '../platform/world.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const ORIGIN = 'https://app.example'

describe(`threat 20: CORS, on ${runtime}`, () => {
  let allowing: World
  let closed: World
  let ada: SignedIn
  let key: string
  beforeAll(async () => {
    ;[allowing, closed] = await Promise.all([
      startWorld('memory', { RATE_LIMITER: 'memory', CORS_ORIGIN: ORIGIN }),
      startWorld('memory', { RATE_LIMITER: 'memory' }),
    ])
    ada = await allowing.signedIn('developer', true)
    key = (await allowing.newKey(ada, { name: 'k', rateLimit: 1_000_000 })).body.key!
  })
  afterAll(() => Promise.all([allowing.kill(), closed.kill()]))

  /** The headers of an answer that are about other origins, and `vary`. */
  const about = (headers: Headers): Record<string, string> =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

  /** One request of each surface: to answer, to fail, and to find nothing. */
  const requests = (): [method: string, path: string, options: { as?: SignedIn | string; body?: unknown }][] => [
    ['GET', '/v1/models', { as: key }],
    ['POST', '/v1/chat/completions', { as: key, body: chat }],
    ['POST', '/v1/chat/completions', { as: key, body: { ...chat, stream: true } }],
    ['POST', '/v1/chat/completions', { body: chat }],
    ['GET', '/v1/nothing', {}],
    ['GET', '/health', {}],
    ['GET', '/metrics', {}],
    ['GET', '/api/account', { as: ada }],
    ['GET', '/api/account', {}],
    ['GET', '/api/nothing', {}],
    ['POST', '/api/auth', { body: { email: ada.email, password: 'a wrong password' } }],
    ['GET', '/.well-known/jwks.json', {}],
  ]
  const vary = 'origin, Cookie, Authorization'

  const others = [
    'null',
    '*',
    'https://app.example.evil.org',
    'https://evil-app.example',
    'https://evil.example?https://app.example',
    'https://xapp.example',
    'https://sub.app.example',
    'https://app.exampl',
    'https://appxexample',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example:443',
    'https://APP.example',
    'https://app.example/',
    'https://app.example, https://evil.example',
    'https://user@app.example',
    'file://',
  ]
  it.each(sample(others, 9))('allows nothing to the origin %s', async (origin) => {
    for (const [method, path, options] of requests()) {
      const { headers } = await allowing.ask(method, path, { ...options, headers: { origin } })
      expect([path, about(headers)]).toEqual([path, { vary }])
      const preflight = { origin, 'access-control-request-method': method }
      const { headers: answered } = await allowing.ask('OPTIONS', path, { headers: preflight })
      expect([path, about(answered)]).toEqual([path, { vary }])
    }
  })

  it('allows the one that is listed to read answers and their headers, without cookies', async () => {
    for (const [method, path, options] of requests()) {
      const { headers } = await allowing.ask(method, path, { ...options, headers: { origin: ORIGIN } })
      expect([path, about(headers)]).toEqual([
        path,
        {
          vary,
          'access-control-allow-origin': ORIGIN,
          'access-control-expose-headers':
            'x-request-id, retry-after, x-should-retry, x-gateway-warnings, x-gateway-fallback, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, link, etag, x-message-id, x-reply-id',
        },
      ])
    }
  })

  it('allows it in a preflight what it asks for, without a credential', async () => {
    for (const [path, methods] of [
      ['/v1/chat/completions', 'POST'],
      ['/api/account', 'GET, DELETE'],
    ] as const) {
      const wanted = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
      const answer = await allowing.ask('OPTIONS', path, { headers: { origin: ORIGIN, ...wanted } })
      expect([answer.status, about(answer.headers)]).toEqual([
        204,
        {
          vary,
          'access-control-allow-origin': ORIGIN,
          'access-control-allow-methods': methods,
          'access-control-allow-headers': 'authorization',
          'access-control-max-age': '600',
        },
      ])
    }
  })

  it('tells caches that answers differ, also where no origin is sent', async () => {
    for (const [method, path, options] of requests()) {
      const { headers } = await allowing.ask(method, path, options)
      expect([path, about(headers)]).toEqual([path, { vary }])
    }
  })

  it('is off unless origins are listed', async () => {
    for (const [method, path] of requests())
      for (const asked of [method, 'OPTIONS']) {
        const headers = { origin: ORIGIN, 'access-control-request-method': method }
        const answer = await closed.ask(asked, path, { headers, ...(asked === 'POST' && { body: {} }) })
        const { vary: _, ...rest } = about(answer.headers)
        expect([path, rest]).toEqual([path, {}])
      }
  })

  it('does not let a page of a listed origin act by cookie', async () => {
    const headers = { cookie: ada.cookie!, origin: ORIGIN }
    expect((await allowing.ask('POST', '/api/sessions', { body: {}, headers })).status).toBe(403)
  })
})
