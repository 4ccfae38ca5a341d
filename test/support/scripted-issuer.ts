import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An issuer, for tests, that does what it is told, and checks nothing. */
export interface ScriptedIssuer {
  url: string
  /** The paths that were asked for, and the bodies. */
  asked: { path: string; body: string; authorization: string | undefined }[]
  /** Of the ID token, beside those that a good one has. */
  claims: { iss?: string; aud?: string | string[]; [name: string]: unknown }
  /** More claims of the endpoint for them. */
  userinfo: Record<string, unknown>
  /** Of the metadata, in place of the good ones. */
  metadata: Record<string, unknown>
  /** Answers in place of it. */
  answer: ((path: string, response: ServerResponse) => boolean) | undefined
  /** Signs with another key than the one that it tells. */
  isForging: boolean
  close(): Promise<void>
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/** Made once: that takes longer than a test. */
const pairs = Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])

/** Starts an issuer. @param path of the issuer below its host; default none */
export async function scriptedIssuer(path = ''): Promise<ScriptedIssuer> {
  const [good, other] = await pairs
  const jwk = { ...(await exportJWK(good.publicKey)), kid: '1', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request)
      const at = request.url!
      issuer.asked.push({ path: at, body, authorization: request.headers.authorization })
      if (issuer.answer?.(at, response)) return
      response.setHeader('content-type', 'application/json').end(JSON.stringify(await answerOf(at)))
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

  const answerOf = async (at: string): Promise<object> => {
    if (at.endsWith('/.well-known/openid-configuration'))
      return {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        userinfo_endpoint: `${url}/claims`,
        id_token_signing_alg_values_supported: ['RS256'],
        ...issuer.metadata,
      }
    if (at.endsWith('/keys')) return { keys: [jwk] }
    if (at.endsWith('/claims'))
      return { sub: 'ada', email: 'claims@ai.example', email_verified: true, ...issuer.userinfo }
    const { iss = url, aud = 'client', ...claims } = issuer.claims
    const token = new SignJWT({ iss, aud, sub: 'ada', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: '1' })
      .setIssuedAt()
      .setExpirationTime('5m')
    const id_token = await token.sign((issuer.isForging ? other : good).privateKey)
    return { access_token: 'access', token_type: 'Bearer', id_token }
  }
  const issuer: ScriptedIssuer = {
    url,
    asked: [],
    claims: {},
    userinfo: {},
    metadata: {},
    answer: undefined,
    isForging: false,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}
