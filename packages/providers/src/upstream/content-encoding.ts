/** Decodes content encodings of responses (RFC 9110, 8.4) on Node. @module */
import type { Signal } from '@turnpike/core'
import { Pieces, readerOf } from '@turnpike/core/helpers'
import type { Transform } from 'node:stream'
import { finished, pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflateRaw } from 'node:zlib'
import type { TransportResponse } from './transport.js'
import { withoutEncoding } from './transport.js'

/** Maximum number of encodings of a response: each needs memory, and a header has room for thousands. */
const MOST = 4

/** Strips the zlib header of deflate, if present: some servers omit it. It is recognized by the low four bits of the first byte. */
async function* withoutZlibHeader(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let skip: number | undefined
  for await (const piece of source) {
    skip ??= (piece[0]! & 15) === 8 ? 2 : 0
    yield piece.subarray(skip)
    skip -= Math.min(skip, piece.length)
  }
}

type Step = Transform | typeof withoutZlibHeader

/** The decoding steps of each encoding by its name in `content-encoding`. */
const decoders = new Map<string, () => Step[]>([
  ['gzip', () => [createGunzip()]],
  ['x-gzip', () => [createGunzip()]],
  ['deflate', () => [withoutZlibHeader, createInflateRaw()]],
  ['br', () => [createBrotliDecompress()]],
  ['identity', () => []],
])

/**
 * Decodes the body of a response as it is read; returns the response unchanged if an encoding is unknown.
 * Aborting destroys the body with the signal's reason. A corrupt or truncated body fails like a broken connection.
 */
export function decoded(response: TransportResponse, encoding: string, signal: Signal): TransportResponse {
  // The header lists encodings in the order in which they were applied.
  const names = encoding.toLowerCase().split(',').toReversed()
  const steps = names.map((name) => decoders.get(name.trim()))
  if (steps.length > MOST || steps.includes(undefined)) return response
  const { status, header, body } = response
  const source = Readable.from(body)
  const streams = [source, ...steps.flatMap((make) => make!())]
  const last = streams.at(-1) as Readable
  // Errors reach the reader of the last stream. The types of `pipeline` accept no array of unknown length.
  if (streams.length > 1) pipeline(streams as Transform[], () => undefined)
  const abort = (): void => void last.destroy(signal.reason as Error)
  signal.addEventListener('abort', abort)
  finished(last, () => {
    signal.removeEventListener('abort', abort)
    // A pipeline alone would not destroy the source until its next piece arrives.
    source.destroy()
  })
  return {
    status,
    header: withoutEncoding(header),
    body: new Pieces(readerOf(last[Symbol.asyncIterator]()), () => void last.destroy()),
  }
}
