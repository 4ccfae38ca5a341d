import { ApiError } from '@turnpike/core'
import { isStream } from './held-reply.js'

/** Positions of bytes, from 0, both ends included. */
export interface Range {
  start: number
  end: number
}

/** Stored bytes as a GET answers with them: whole, in part or, where the client has them already, not at all. */
export interface Content {
  /** Media type. */
  type: string
  /** Bytes of the whole. */
  size: number
  /** Entity tag in quotes; with `W/` before it where equal tags do not mean equal bytes. */
  etag?: string
  /** When it was last changed, in milliseconds since the epoch. */
  lastModified?: number
  /** Other headers, by lower-case name, such as `cache-control`. */
  headers?: Record<string, string>
  /**
   * Opens the bytes of the range, or all; not called where none are sent. An error of opening them is answered; what throws on the way ends the
   * connection.
   */
  read(range?: Range): ContentBody | Promise<ContentBody>
}

type ContentBody = string | Uint8Array | AsyncIterable<Uint8Array>

/** What a reply to a request for stored bytes consists of. */
export interface ContentReply {
  status: 200 | 206 | 304
  headers: Record<string, string>
  body?: ContentBody
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** Whether If-None-Match names this entity tag, or any where there is none (RFC 9110, section 13.1.2: weak tags are compared, too). */
export const hasTag = (ifNoneMatch: string, etag: string | undefined): boolean =>
  ifNoneMatch.trim() === '*' ||
  (etag !== undefined && ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag)))

/** As headers have it: without milliseconds. */
const secondOf = (time: number): number => Math.trunc(time / 1000) * 1000

/** Whether If-Match names this entity tag, or any (RFC 9110, section 13.1.1: weak tags are never equal). */
const isMatch = (ifMatch: string, etag: string | undefined): boolean =>
  ifMatch.trim() === '*' || (etag?.startsWith('"') === true && ifMatch.split(',').some((tag) => tag.trim() === etag))

/** 412 for a request whose condition does not hold. */
const preconditionFailed = (message: string): ApiError =>
  new ApiError(412, 'invalid_request_error', message, { code: 'invalid_body' })

/**
 * Checks the condition of a change: that what it changes is what the client has read.
 * @param ifMatch the header; undefined = there is no condition
 * @param etag the entity tag of what is stored, in quotes
 * @throws ApiError 412
 * @example requireMatch(call.header('if-match'), `"${version}"`)
 */
export function requireMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch !== undefined && !isMatch(ifMatch, etag))
    throw preconditionFailed(`This was changed since it was read: its ETag is ${etag} now`)
}

/** Whether the client's conditions hold (RFC 9110, sections 13.1.1 and 13.1.4: a date counts only without tags). */
function isWanted(header: (name: string) => string | undefined, { etag, lastModified }: Content): boolean {
  const tags = header('if-match')
  if (tags !== undefined) return isMatch(tags, etag)
  const since = Date.parse(header('if-unmodified-since') ?? '')
  return lastModified === undefined || Number.isNaN(since) || secondOf(lastModified) <= since
}

/** Whether the client has the bytes already (RFC 9110, sections 13.1.2 and 13.1.3: a date counts only without tags). */
function isFresh(header: (name: string) => string | undefined, { etag, lastModified }: Content): boolean {
  const tags = header('if-none-match')
  if (tags !== undefined) return hasTag(tags, etag)
  const since = Date.parse(header('if-modified-since') ?? '')
  return lastModified !== undefined && secondOf(lastModified) <= since
}

/** Whether a part may be sent: the client's other parts are of the same bytes (RFC 9110, section 13.1.5: weak tags never are). */
function mayResume(ifRange: string | undefined, { etag, lastModified }: Content): boolean {
  if (ifRange === undefined) return true
  if (ifRange.includes('"')) return ifRange === etag && !ifRange.startsWith('W/')
  return lastModified !== undefined && secondOf(lastModified) === Date.parse(ifRange)
}

/**
 * The range that a header asks for; undefined = all, also for several ranges and for what is malformed, which a server may ignore
 * (RFC 9110, section 14.2). The last bytes of none are all (section 14.1.2).
 * @throws ApiError 416 where the bytes end before the range begins
 */
function parseRange(header: string, size: number): Range | undefined {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header) ?? []
  if (first === undefined || (first === '' && last === '')) return undefined
  if (first === '' && size === 0 && Number(last) > 0) return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return undefined
  if (start >= size)
    throw new ApiError(416, 'invalid_request_error', `The range begins after the last of ${size} bytes`, {
      code: 'invalid_body',
      headers: { 'content-range': `bytes */${size}` },
    })
  return { start, end }
}

/** What follows the bytes that a head has announced would be read as the next answer. @throws where there are more or fewer */
async function* exactly(body: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let left = length
  for await (const piece of body) {
    left -= piece.length
    if (left < 0) break
    yield piece
  }
  if (left !== 0) throw new Error(`The stored bytes are not the ${length} that they should be`)
}

/**
 * Answers with stored bytes (RFC 9110, sections 13.2.2 and 14): 304 where the client has them, 206 for a range, 200 for all.
 * HEAD has the headers of GET, without a range.
 * @throws ApiError 412 where they are not those that the client demands; 416; an error of opening the bytes
 */
export async function contentReply(
  method: string,
  header: (name: string) => string | undefined,
  content: Content,
): Promise<ContentReply> {
  const { type, size, etag, lastModified, read } = content
  const validators: Record<string, string> = {}
  if (etag !== undefined) validators['etag'] = etag
  if (lastModified !== undefined) validators['last-modified'] = new Date(lastModified).toUTCString()
  if (!isWanted(header, content)) throw preconditionFailed('The stored bytes are not those that the request demands')
  if (isFresh(header, content)) return { status: 304, headers: { ...validators, ...content.headers } }
  const wanted = method === 'GET' ? header('range') : undefined
  const range = wanted !== undefined && mayResume(header('if-range'), content) ? parseRange(wanted, size) : undefined
  const length = range ? range.end - range.start + 1 : size
  const headers: Record<string, string> = {
    'content-type': type,
    'accept-ranges': 'bytes',
    'content-length': String(length),
  }
  if (range) headers['content-range'] = `bytes ${range.start}-${range.end}/${size}`
  Object.assign(headers, validators, content.headers)
  if (method === 'HEAD') return { status: 200, headers }
  const body = await read(range)
  return { status: range ? 206 : 200, headers, body: isStream(body) ? exactly(body, length) : body }
}
