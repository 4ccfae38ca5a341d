import { fileURLToPath } from 'node:url'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const { publicKey, privateKey } = await generateKeyPair('RS256')

let server: Server
beforeAll(async () => {
  const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const script = fileURLToPath(new URL('jwks-server.mjs', import.meta.url))
  server = await startServer({ JWKS: JSON.stringify({ keys: [key] }) }, { script })
})
afterAll(() => server.stop())

/** What a request with a token that makes these claims is answered with. */
async function account(claims: object): Promise<[status: number, user: Record<string, unknown>]> {
  const token = await new SignJWT({ iss: 'https://idp.example', aud: 'turnpike', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(privateKey)
  const response = await fetch(`${server.url}/api/account`, { headers: { authorization: `Bearer ${token}` } })
  return [response.status, (await response.json()) as Record<string, unknown>]
}

describe(`threat 55: what an identity provider lets its users say of themselves, on ${runtime}`, () => {
  it('makes nobody an administrator whose id it is', async () => {
    expect((await account({ sub: 'admin' }))[0]).toBe(401)
  })

  it('takes no e-mail that is not verified', async () => {
    const evil = { sub: 'evil', email: 'boss@example.org', email_verified: false }
    expect(await account(evil)).toMatchObject([200, { id: 'evil', email: '', role: 'user' }])
    const boss = { sub: 'boss', email: 'boss@example.org', email_verified: true }
    expect(await account(boss)).toMatchObject([200, { id: 'boss', email: 'boss@example.org' }])
  })

  it('stores nothing that a body could not have, and answers', async () => {
    const claims = { email: `${'a'.repeat(3_000)}@example.org`, given_name: 'A\n', family_name: 'x'.repeat(300) }
    for (let i = 0; i < 2; i++)
      expect(await account({ sub: 'odd', ...claims })).toMatchObject([
        200,
        { email: '', first_name: '', last_name: '' },
      ])
  })
})
