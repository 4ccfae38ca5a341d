import type { Memory } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { concat, excess, inSmallPieces, jsonCount, PIECE_COST } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import { BODY_BYTES_PER_S, BODY_IDLE_MS } from '../conventions.js'
import type { ShellOptions } from '../shells/exchange.js'

/** 413 for a body over the limit. */
export const tooLarge = (limit: number): ApiError =>
  new ApiError(413, 'invalid_request_error', `The request body is larger than ${limit} bytes`, {
    code: 'request_too_large',
  })

/** 400 for a body that the client did not finish sending. */
export const cutShort = (cause?: unknown): ApiError => invalid('The request body was cut short', { cause })

/** 408 for a request that does not arrive in time. */
export const tooSlow = (): ApiError =>
  new ApiError(408, 'invalid_request_error', 'The request took too long to arrive', { code: 'invalid_body' })

/** Waits for a promise. @throws ApiError 408 where it does not settle within `ms` */
export const within = <T>(ms: number, promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), ms)
    promise.finally(() => clearTimeout(timer)).then(resolve, reject)
  })

/** How slowly a body may arrive. */
export interface Pace {
  /** Milliseconds that it may fall behind: also the longest pause. */
  idleMs: number
  /** Bytes a second that it has to arrive at. */
  bytesPerS: number
}

/** 400 for a body whose pieces cost far more than what is in them. */
const tooManyPieces = (): ApiError => invalid('The request body arrives in too many small pieces; send larger ones')

/** How long the rest of a body may be waited for, while it arrives. Only time that is spent waiting for the client counts. */
export class Patience {
  /** In milliseconds. */
  left: number
  private pieces = 0
  private bytes = 0
  constructor(private readonly pace: Pace) {
    this.left = pace.idleMs
  }
  /** `bytes` arrived after `ms` of waiting. @throws ApiError 400 for too many small pieces */
  arrived(bytes: number, ms: number): void {
    const { idleMs, bytesPerS } = this.pace
    this.bytes += bytes
    if (inSmallPieces(++this.pieces, this.bytes)) throw tooManyPieces()
    this.left = Math.min(idleMs, this.left - ms + (bytes * 1000) / bytesPerS)
  }
}

/** The pace that the options of a shell ask for. */
export const paceOf = ({ bodyIdleMs = BODY_IDLE_MS, bodyBytesPerS = BODY_BYTES_PER_S }: ShellOptions): Pace => ({
  idleMs: bodyIdleMs,
  bytesPerS: bodyBytesPerS,
})

/** A body that has to keep a pace. @throws ApiError 408 where it does not, 400 where it is cut short */
export async function* paced(body: AsyncIterable<Uint8Array>, pace: Pace): AsyncGenerator<Uint8Array> {
  const patience = new Patience(pace)
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const begin = performance.now()
      const { done, value } = await within(patience.left, chunks.next()).catch((error: unknown) => {
        throw ApiError.is(error) ? error : cutShort(error)
      })
      if (done) return
      patience.arrived(value.length, performance.now() - begin)
      yield value
    }
  } finally {
    // Not awaited: it may wait for the chunk that does not arrive.
    void chunks.return?.().catch(() => undefined)
  }
}

/** Reads a whole body chunk by chunk and stops at the limit. */
export async function collect(body: AsyncIterable<Uint8Array>, limit: number, memory?: Memory): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    memory?.take(PIECE_COST + chunk.length)
    chunks.push(chunk)
  }
  return concat(chunks, size)
}

export const invalidJson = (message: string): ApiError => invalid(message, { code: 'invalid_json' })

/** Drops a byte-order mark, as RFC 8259, section 8.1, lets it be ignored. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * A JSON body as a value.
 * @param count gets how many values and fields it has
 * @throws ApiError 400 `invalid_json` for what is not UTF-8, not JSON, nested deeper than `depth` or of more than 400,000 values or 100,000 fields
 */
export function parseJson(bytes: Uint8Array, depth: number, count = jsonCount()): unknown {
  if (bytes.length === 0) throw invalidJson('The request body is empty; a JSON object is expected')
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalidJson('The request body is not valid UTF-8')
  }
  const tooMuch = excess(text, depth, count)
  if (tooMuch) throw invalidJson(`The request body ${tooMuch}`)
  try {
    return JSON.parse(text)
  } catch {
    throw invalidJson('The request body is not valid JSON')
  }
}

/** @throws ApiError 400 for a compressed body */
export function requireIdentity(contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity')
    throw invalid(`Content-Encoding "${contentEncoding}" is not supported; send the body uncompressed`)
}

const jsonType = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i

/** @throws ApiError 400 where the headers announce a body that is not plain JSON */
export function requireJson(contentType: string | undefined, contentEncoding: string | undefined): void {
  requireIdentity(contentEncoding)
  if (contentType !== undefined && !jsonType.test(contentType)) throw invalid('Content-Type must be application/json')
}
