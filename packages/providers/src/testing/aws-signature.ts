/** Verifies signatures of AWS (SigV4), step by step as AWS's "Create a signed AWS API request" has it. @module */
import type { FakeRequest } from './fake-upstream.js'

const utf8 = new TextEncoder()

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

const sha256 = async (data: Uint8Array): Promise<string> =>
  hex(await crypto.subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>))

async function hmac(key: ArrayBuffer | Uint8Array<ArrayBuffer>, text: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return crypto.subtle.sign('HMAC', imported, utf8.encode(text))
}

/** Each segment of a path is encoded once more than it is sent, but for S3; of RFC 3986, only unreserved characters stay. */
const canonicalPath = (path: string): string =>
  path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/')

/** The parts of the header `authorization`; undefined if it is no signature. */
export function signatureOf(header = '') {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      header,
    )
  if (!found) return undefined
  const [, accessKeyId = '', date = '', region = '', service = '', signedHeaders = '', signature = ''] = found
  return { accessKeyId, date, region, service, signedHeaders, signature }
}

/** The signature that a request should have. @param host the host that it was sent to */
export async function expectedSignature(
  { method, path, headers, bytes }: FakeRequest,
  host: string,
  secretAccessKey: string,
): Promise<string> {
  const { date, region, service, signedHeaders } = signatureOf(headers['authorization'])!
  const [pathname = '', query = ''] = path.split('?')
  const names = signedHeaders.split(';')
  const lines = names.map((name) => `${name}:${(name === 'host' ? host : (headers[name] ?? '')).trim()}\n`)
  const canonical = [method, canonicalPath(pathname), query, lines.join(''), signedHeaders, await sha256(bytes)].join(
    '\n',
  )
  const scope = `${date}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, await sha256(utf8.encode(canonical))].join('\n')
  let key: ArrayBuffer | Uint8Array<ArrayBuffer> = utf8.encode(`AWS4${secretAccessKey}`)
  for (const part of [date, region, service, 'aws4_request']) key = await hmac(key, part)
  return hex(await hmac(key, text))
}
