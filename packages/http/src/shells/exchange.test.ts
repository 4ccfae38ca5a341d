import { describe, expect, it } from 'vitest'
import { clientIp, originOf } from './exchange.js'

describe('clientIp', () => {
  it.each<[peer: string | undefined, forwarded: string | undefined, hops: number, ip: string]>([
    ['10.0.0.1', undefined, 0, '10.0.0.1'],
    [undefined, undefined, 0, ''],
    ['10.0.0.1', '1.1.1.1', 0, '10.0.0.1'],
    ['10.0.0.1', undefined, 1, '10.0.0.1'],
    ['10.0.0.1', '', 1, '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1', 1, '1.1.1.1'],
    ['10.0.0.1', '6.6.6.6, 1.1.1.1', 1, '1.1.1.1'],
    ['10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2', 2, '1.1.1.1'],
    ['10.0.0.1', '6.6.6.6,2001:db8::1 ,10.0.0.2', 2, '2001:db8::1'],
    ['10.0.0.1', '1.1.1.1', 5, '1.1.1.1'],
  ])('of peer %s, forwarded for %s, behind %i proxies is %s', (peer, forwarded, hops, ip) =>
    expect(clientIp(peer, forwarded, hops)).toBe(ip),
  )
})

describe('originOf', () => {
  it.each([
    ['http', { host: 'api.example' }, 0, 'http://api.example'],
    ['https', { host: 'api.example:8443' }, 0, 'https://api.example:8443'],
    ['http', { host: 'api.example', 'x-forwarded-proto': 'https' }, 0, 'http://api.example'],
    ['http', { host: 'api.example', 'x-forwarded-proto': 'https' }, 1, 'https://api.example'],
    ['http', { host: 'api.example', 'x-forwarded-proto': 'https, http' }, 1, 'http://api.example'],
    ['http', { host: 'api.example', 'x-forwarded-proto': 'javascript' }, 1, 'http://api.example'],
    ['http', {}, 0, 'http://localhost'],
    ['http', { host: 'a b' }, 0, 'http://localhost'],
    ['http', { host: 'name:password@evil.example/path' }, 0, 'http://evil.example'],
  ])('of %s, %j and %i proxies is %s', (scheme, headers: Record<string, string>, hops, origin) => {
    expect(originOf(scheme, (name) => headers[name], hops)).toBe(origin)
  })
})
