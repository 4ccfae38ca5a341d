import { decodeProtectedHeader } from 'jose'
import { expect, it } from 'vitest'
import type { SignedIn, World } from './world.js'
import { worldSuite } from './world.js'

const MINUTE = 60_000

/** platform.md 2.3, items 148 and 149. */
worldSuite('keys that sign tokens', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const account = async (as: SignedIn): Promise<number> => (await ask('GET', '/api/account', { as })).status

  it('#148 publishes public keys only', async () => {
    const { status, body, headers } = await ask<{ keys: object[] }>('GET', '/.well-known/jwks.json')
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=600'])
    expect(body.keys.length).toBeGreaterThanOrEqual(2)
    for (const key of body.keys) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    }
  })

  it('#149 takes tokens of an older key until they expire', async () => {
    await world().advance(11 * MINUTE)
    const ada = await world().signedIn()
    expect(await world().call('rotate')).toBe(true)
    // The next key has to be published before it is used.
    expect(await world().call('rotate')).toBe(false)
    expect(await account(ada)).toBe(200)
    const bob = await world().signedIn()
    expect(decodeProtectedHeader(bob.access).kid).not.toBe(decodeProtectedHeader(ada.access).kid)
    await world().advance(14 * MINUTE)
    expect([await account(ada), await account(bob)]).toEqual([200, 200])
    await world().advance(MINUTE)
    expect(await account(ada)).toBe(401)
  })
})
