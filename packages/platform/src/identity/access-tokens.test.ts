import type { CryptoKey, JWTHeaderParameters, JWTPayload } from 'jose'
import { base64url, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { accessTokens } from './access-tokens.js'

const NOW = 1_800_000_000

describe('threat 22: JWT confusion', () => {
  let keys: { publicKey: CryptoKey; privateKey: CryptoKey }
  let shared: CryptoKey
  let tokens: ReturnType<typeof accessTokens>
  beforeAll(async () => {
    keys = await generateKeyPair('ES256', { extractable: true })
    shared = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify'])
    const found: Record<string, CryptoKey> = { k: keys.publicKey, shared }
    tokens = accessTokens(
      {
        active: async () => ({ kid: 'k', key: keys.privateKey }),
        find: async (kid) => (Object.hasOwn(found, kid) ? found[kid] : undefined),
        jwks: async () => ({ keys: [] }),
        rotate: async () => false,
      },
      { issuer: 'here', audience: 'us', seconds: 900, now: () => NOW * 1_000 },
    )
  })

  const header: JWTHeaderParameters = { alg: 'ES256', typ: 'at+jwt', kid: 'k' }
  const claims: JWTPayload = { iss: 'here', aud: 'us', sub: 'ada', sid: 's', iat: NOW, exp: NOW + 900 }
  /** A token that is signed by the right key. */
  const signed = (otherClaims: JWTPayload, otherHeader: Partial<JWTHeaderParameters> = {}): Promise<string> =>
    new SignJWT({ ...claims, ...otherClaims })
      .setProtectedHeader({ ...header, ...otherHeader } as JWTHeaderParameters)
      .sign(keys.privateKey)

  it('takes what it signs', async () => {
    const expected = { sub: 'ada', sid: 's', exp: NOW + 900 }
    expect(await tokens.verify(await signed({}))).toEqual(expected)
    expect(await tokens.verify((await tokens.sign({ sub: 'ada', sid: 's', role: 'user' })).token)).toEqual(expected)
  })

  it.each<[what: string, claims: JWTPayload, header?: Partial<JWTHeaderParameters>]>([
    ['another type', {}, { typ: 'JWT' }],
    ['no type', {}, { typ: undefined as never }],
    ['no key id', {}, { kid: undefined as never }],
    ['the id of another key', {}, { kid: 'l' }],
    ['an id from the prototype', {}, { kid: '__proto__' }],
    ['another issuer', { iss: 'there' }],
    ['no issuer', { iss: undefined as never }],
    ['another audience', { aud: 'them' }],
    ['no audience', { aud: undefined as never }],
    ['no subject', { sub: undefined as never }],
    ['no sign-in', { sid: undefined }],
    ['a sign-in that is no text', { sid: 1 }],
    ['no expiry', { exp: undefined as never }],
    ['an expiry that is past', { exp: NOW }],
    ['no time of issue', { iat: undefined as never }],
    ['a time of issue in the future', { iat: NOW + 61, exp: NOW + 900 }],
    ['a time before which it is not valid', { nbf: NOW + 120 }],
  ])('refuses %s, signed by the right key', async (_, otherClaims, otherHeader) => {
    expect(await tokens.verify(await signed(otherClaims, otherHeader))).toBeNull()
  })

  it('accepts a token of a clock that is 60 seconds ahead', async () => {
    expect(await tokens.verify(await signed({ iat: NOW + 60 }))).not.toBeNull()
  })

  it('refuses other algorithms, whatever they take for a key', async () => {
    const part = (value: object): string => base64url.encode(JSON.stringify(value))
    const [, body, signature] = (await signed({})).split('.') as [string, string, string]
    const secrets = [
      new TextEncoder().encode(await exportSPKI(keys.publicKey)),
      new TextEncoder().encode(JSON.stringify(await exportJWK(keys.publicKey))),
      base64url.decode((await exportJWK(keys.publicKey)).x!),
    ]
    for (const secret of secrets) {
      const token = await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256' }).sign(secret)
      expect(await tokens.verify(token)).toBeNull()
    }
    for (const alg of ['none', 'None', 'NONE', 'ES384', 'RS256', 'EdDSA', ''])
      for (const end of ['', signature])
        expect(await tokens.verify(`${part({ ...header, alg })}.${body}.${end}`)).toBeNull()
  })

  it('refuses another algorithm even by a key of the set', async () => {
    const token = new SignJWT(claims).setProtectedHeader({ ...header, alg: 'HS256', kid: 'shared' }).sign(shared)
    expect(await tokens.verify(await token)).toBeNull()
  })

  it('refuses keys that a token brings along', async () => {
    const other = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(other.publicKey)
    for (const more of [{ jwk }, { jku: 'https://evil.example/jwks.json' }, { x5u: 'https://evil.example/' }]) {
      const token = await new SignJWT(claims).setProtectedHeader({ ...header, ...more }).sign(other.privateKey)
      expect(await tokens.verify(token)).toBeNull()
    }
  })
})
