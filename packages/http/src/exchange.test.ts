import { describe, expect, it } from 'vitest'
import { clientIp } from './exchange.js'

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
