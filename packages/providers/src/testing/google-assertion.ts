/** Verifies the assertion of a service account (RFC 7523), as Google's token endpoint does. @module */
import { fromBase64 } from '@turnpike/core/helpers'
import { parseJson } from '../upstream/json.js'

const utf8 = new TextEncoder()
const text = new TextDecoder()

const bytesOf = (part: string): Uint8Array<ArrayBuffer> =>
  fromBase64(
    part
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .padEnd(Math.ceil(part.length / 4) * 4, '='),
  )

const jsonOf = (part: string): Record<string, unknown> =>
  (parseJson(text.decode(bytesOf(part))) ?? {}) as Record<string, unknown>

/** Why an assertion is not accepted; undefined if it is. @param publicKey SPKI in base64 @param audience where it was sent */
export async function assertionProblem(
  assertion: string,
  { email, publicKey }: { email: string; publicKey: string },
  audience: string,
): Promise<string | undefined> {
  const [head = '', claims = '', signature = ''] = assertion.split('.')
  if (jsonOf(head)['alg'] !== 'RS256') return 'Invalid JWT: the algorithm must be RS256.'
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('spki', fromBase64(publicKey), algorithm, false, ['verify'])
  if (!(await crypto.subtle.verify(algorithm, key, bytesOf(signature), utf8.encode(`${head}.${claims}`))))
    return 'Invalid JWT Signature.'
  const { iss, aud, scope, iat, exp } = jsonOf(claims) as Record<string, string> & { iat?: number; exp?: number }
  if (iss !== email) return 'Invalid grant: account not found'
  if (aud !== audience) return 'Invalid JWT: failed audience check.'
  if (!scope?.split(' ').includes('https://www.googleapis.com/auth/cloud-platform')) return 'Invalid scope.'
  const now = Date.now() / 1000
  if (!(Number(iat) <= now + 60 && Number(exp) > now && Number(exp) - Number(iat) <= 3600))
    return 'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.'
  return undefined
}
