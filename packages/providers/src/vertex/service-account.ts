import { fromBase64, isObject, toBase64, unset } from '@turnpike/core/helpers'
import { errors } from '../google/errors.js'
import type { Token } from '../upstream/kept-token.js'
import { TOKEN_TIMEOUT_MS } from '../upstream/kept-token.js'
import type { Transport } from '../upstream/transport.js'
import { callJson } from '../upstream/upstream.js'

/** The key of a service account, as Google's JSON file has it. Further fields are not read. */
export interface ServiceAccountKey {
  client_email: string
  /** PKCS #8, in PEM. */
  private_key: string
  private_key_id?: string
  /** Default `https://oauth2.googleapis.com/token`. */
  token_uri?: string
  project_id?: string
  [field: string]: unknown
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** The longest that Google accepts. */
const LIFETIME_S = 3600

const PEM = /^\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s\\]+)-----END PRIVATE KEY-----[\s\\n]*$/

const TYPE = 'service_account'
const TOKEN_URI = 'https://oauth2.googleapis.com/token'
/** Where the assertion may be sent: without TLS only to the own machine. */
const ADDRESS = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])/

/** Checks a key. @throws TypeError, which does not contain it */
export function checkServiceAccount(key: unknown): asserts key is ServiceAccountKey {
  if (!isObject(key) || (key['type'] ?? TYPE) !== TYPE)
    throw new TypeError(
      'vertex: the option "credentials" must be the key of a service account; "token" is for all others',
    )
  for (const field of ['client_email', 'private_key'])
    if (typeof key[field] !== 'string' || key[field] === '') throw unset('vertex', `credentials.${field}`)
  if (!PEM.test(key['private_key'] as string))
    throw new TypeError('vertex: the option "credentials.private_key" must be a PEM of PKCS #8 ("BEGIN PRIVATE KEY")')
  if (!ADDRESS.test((key['token_uri'] as string | undefined) ?? TOKEN_URI))
    throw new TypeError('vertex: the option "credentials.token_uri" must begin with https://')
}

/** The lines of the private key: however it is wrapped, or its line breaks are written, it consists of them. */
export const linesOf = ({ private_key }: ServiceAccountKey): string[] => PEM.exec(private_key)![1]!.split(/\\n|\s/)

const utf8 = new TextEncoder()

const base64url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Makes the assertion by which a service account asks for a token (RFC 7523), signed with RS256. @param audience where it is sent @param seconds now */
async function assertionOf(account: ServiceAccountKey, audience: string, seconds: number): Promise<string> {
  const { client_email, private_key_id } = account
  const head = { alg: 'RS256', typ: 'JWT', kid: private_key_id }
  const claims = { iss: client_email, scope: SCOPE, aud: audience, iat: seconds, exp: seconds + LIFETIME_S }
  const text = [head, claims].map((part) => base64url(utf8.encode(JSON.stringify(part)))).join('.')
  // In variables of the environment, line breaks often are `\n`.
  const der = fromBase64(linesOf(account).join(''))
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
  return `${text}.${base64url(new Uint8Array(await crypto.subtle.sign(algorithm, key, utf8.encode(text))))}`
}

/** Asks Google for the token of a service account (OAuth 2.0 for service accounts). @throws UpstreamError */
export async function askForToken(key: ServiceAccountKey, provider: string, transport: Transport): Promise<Token> {
  const { token_uri: uri = TOKEN_URI } = key
  const assertion = await assertionOf(key, uri, Math.floor(Date.now() / 1000))
  const form = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return callJson(
    { id: provider, baseURL: uri, headers, errors, transport },
    { path: '', body: form.toString(), notes: [] },
    { signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS) },
    () => undefined,
    (answer) => {
      const { access_token, expires_in } = answer as { access_token?: unknown; expires_in?: unknown }
      if (typeof access_token !== 'string' || typeof expires_in !== 'number')
        throw new TypeError('The answer has no token')
      return { token: access_token, seconds: expires_in }
    },
  )
}
