/** Content encodings of answers (RFC 9110, 8.4), on Node. @module */
import type { Signal } from '@turnpike/core'
import { Pieces, readerOf } from '@turnpike/core/internal'
import type { Transform } from 'node:stream'
import { finished, pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflateRaw } from 'node:zlib'
import type { TransportResponse } from './transport.js'
import { withoutEncoding } from './transport.js'

/** Most encodings of one answer: each takes memory, and a header has room for thousands. */
const MOST = 4

/** Deflate without its zlib header, which some servers leave out: the low half of the first byte tells. */
async function* withoutZlibHeader(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let skip: number | undefined
  for await (const piece of source) {
    skip ??= (piece[0]! & 15) === 8 ? 2 : 0
    yield piece.subarray(skip)
    skip -= Math.min(skip, piece.length)
  }
}

type Step = Transform | typeof withoutZlibHeader

/** What undoes each encoding, by its name in the header. */
const decoders = new Map<string, () => Step[]>([
  ['gzip', () => [createGunzip()]],
  ['x-gzip', () => [createGunzip()]],
  ['deflate', () => [withoutZlibHeader, createInflateRaw()]],
  ['br', () => [createBrotliDecompress()]],
  ['identity', () => []],
])

/**
 * An answer with its body decoded, piece by piece as it is read; as it is where an encoding is not known.
 * Aborting stops it for the signal's reason. A body that is damaged, or ends within an encoding, fails as one whose connection breaks.
 */
export function decoded(response: TransportResponse, encoding: string, signal: Signal): TransportResponse {
  // They are listed in the order in which they were applied.
  const names = encoding.toLowerCase().split(',').toReversed()
  const steps = names.map((name) => decoders.get(name.trim()))
  if (steps.length > MOST || steps.includes(undefined)) return response
  const { status, header, body } = response
  const source = Readable.from(body)
  const streams = [source, ...steps.flatMap((make) => make!())]
  const last = streams.at(-1) as Readable
  // The last one's reader is told what goes wrong. The types take no list that is not spelt out.
  if (streams.length > 1) pipeline(streams as Transform[], () => undefined)
  const abort = (): void => void last.destroy(signal.reason as Error)
  signal.addEventListener('abort', abort)
  finished(last, () => {
    signal.removeEventListener('abort', abort)
    // By itself a pipeline lets a source go only when it brings something.
    source.destroy()
  })
  return {
    status,
    header: withoutEncoding(header),
    body: new Pieces(readerOf(last[Symbol.asyncIterator]()), () => void last.destroy()),
  }
}
