import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/**
 * Whether a request has the signature that AWS asks for, in its headers or its query.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export function isSigned({ method, url, headers }: IncomingMessage, secret: string): boolean {
  const [path, search = ''] = url!.split('?')
  const query = search.split('&').map((pair) => pair.split('=').map(decodeURIComponent) as [string, string?])
  const inQuery: Record<string, string | undefined> = Object.fromEntries(query)
  const inHeader: Record<string, string | undefined> = Object.fromEntries(
    (headers.authorization ?? '').split(/[ ,]+/).map((part) => [part.split('=')[0], part.replace(/^[^=]*=/, '')]),
  )
  const isInQuery = inQuery['X-Amz-Signature'] !== undefined
  const time = isInQuery ? inQuery['X-Amz-Date'] : headers['x-amz-date']
  const scope = (isInQuery ? inQuery['X-Amz-Credential'] : inHeader['Credential'])?.split('/').slice(1)
  const names = isInQuery ? inQuery['X-Amz-SignedHeaders'] : inHeader['SignedHeaders']
  if (!scope || !names) return false
  const request = [
    method,
    path,
    query
      .filter(([name]) => name !== 'X-Amz-Signature' && name !== '')
      .map(([name, value = '']) => `${encode(name)}=${encode(value)}`)
      .toSorted()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    isInQuery ? 'UNSIGNED-PAYLOAD' : headers['x-amz-content-sha256'],
  ].join('\n')
  const digest = createHash('sha256').update(request).digest('hex')
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope.join('/'), digest].join('\n')).toString('hex')
  return signature === (isInQuery ? inQuery['X-Amz-Signature'] : inHeader['Signature'])
}
