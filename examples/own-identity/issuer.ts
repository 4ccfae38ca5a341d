import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWTPayload } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** Stands in for an identity provider such as Auth0 or Keycloak: it publishes its key as a JWKS and signs access tokens with it. */
export async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const kid = 'key-1'
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }] })
  const server = createServer((request, response) => {
    if (request.url !== '/.well-known/jwks.json') return void response.writeHead(404).end()
    response.setHeader('content-type', 'application/json').end(jwks)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The issuer of Auth0 ends with a slash, too.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  return {
    url,
    /** An access token that is valid for an hour. */
    mint: (claims: JWTPayload): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
        .setIssuer(url)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
  }
}
