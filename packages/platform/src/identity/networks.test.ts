import { describe, expect, it } from 'vitest'
import { networksOf } from './networks.js'

describe('networksOf', () => {
  it.each([
    ['198.51.100.7', ['198.51.100.7', '198.51.100.0/24']],
    ['::ffff:198.51.100.7', ['198.51.100.7', '198.51.100.0/24']],
    [
      '2001:db8:12ab:34cd::9',
      ['2001:db8:12ab:34cd::/64', '2001:db8:12ab:3400::/56', '2001:db8:12ab:0::/48', '2001:db8:0:0::/32'],
    ],
  ])('of %s are %j', (ip, names) => expect(networksOf(ip).map(({ name }) => name)).toEqual(names))
})
