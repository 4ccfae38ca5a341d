import { describe, expect, it } from 'vitest'
import { corsHeaders } from './cors.js'
import type { Exchange } from './shells/exchange.js'

const allowed = { origins: ['https://app.example', 'http://localhost:3000'] }

const headersOf = (method: string, headers: Record<string, string>, cors: { origins: string[] } = allowed) => {
  const exchange = { method, header: (name: string) => headers[name] } as Exchange
  return corsHeaders(exchange, cors, ['POST', 'GET'])
}

describe('corsHeaders', () => {
  it('adds no header without allowed origins', () => {
    expect(headersOf('POST', { origin: 'https://app.example' }, { origins: [] })).toEqual({})
  })

  it.each([undefined, 'https://evil.example', 'null', 'https://app.example.evil.org', 'https://APP.example', '*'])(
    'allows nothing to origin %s',
    (origin) => expect(headersOf('POST', { ...(origin && { origin }) })).toEqual({ vary: 'origin' }),
  )

  it('allows a call from a listed origin, and exposes headers', () => {
    expect(headersOf('POST', { origin: 'http://localhost:3000' })).toEqual({
      vary: 'origin',
      'access-control-allow-origin': 'http://localhost:3000',
      'access-control-expose-headers':
        'x-request-id, retry-after, x-should-retry, x-gateway-warnings, x-gateway-fallback, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, link, etag, x-message-id, x-reply-id',
    })
  })

  it('answers a preflight', () => {
    const asked = { origin: 'https://app.example', 'access-control-request-headers': 'authorization,x-stainless-lang' }
    expect(headersOf('OPTIONS', asked)).toEqual({
      vary: 'origin',
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'POST, GET',
      'access-control-allow-headers': 'authorization,x-stainless-lang',
      'access-control-max-age': '600',
    })
    expect(headersOf('OPTIONS', { origin: 'https://app.example' })).not.toHaveProperty('access-control-allow-headers')
  })
})
