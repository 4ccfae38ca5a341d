/** Decodes content encodings of responses (RFC 9110, 8.4) on Node. @module */
import type { Memory, Signal } from '@turnpike/core'
import { Pieces, readerOf } from '@turnpike/core/helpers'
import { finished, pipeline, Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflateRaw } from 'node:zlib'
import type { TransportResponse } from './transport.js'
import { withoutEncoding } from './transport.js'

/** Maximum number of encodings of a response: each takes memory, and multiplies the work of a few bytes by a thousand. */
const MOST = 2

/** Strips the zlib header of deflate, if present: some servers omit it. It is recognized by the low four bits of the first byte. */
async function* withoutZlibHeader(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let skip: number | undefined
  for await (const piece of source) {
    skip ??= (piece[0]! & 15) === 8 ? 2 : 0
    yield piece.subarray(skip)
    skip -= Math.min(skip, piece.length)
  }
}

/** Most bytes of its output that a Brotli decoder keeps (RFC 7932, section 9.1). Those of the other encodings keep 32 KiB. */
const BROTLI_WINDOW = 16 * 1024 * 1024

/** Takes what a Brotli decoder keeps of its output from the memory of the request. */
function counted(memory: Memory | undefined): Transform {
  let left = BROTLI_WINDOW
  return new Transform({
    transform(piece: Buffer, _, done) {
      const kept = Math.min(piece.length, left)
      left -= kept
      try {
        if (kept > 0) memory?.take(kept)
        done(null, piece)
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

/** Most bytes between two encodings: few may become gigabytes there, of which nothing comes out that is counted. */
const MOST_BETWEEN = 64 * 1024 * 1024

function between(): Transform {
  let left = MOST_BETWEEN
  return new Transform({
    transform(piece: Buffer, _, done) {
      left -= piece.length
      if (left < 0) done(new Error(`An encoded answer has more than ${MOST_BETWEEN} bytes within it`))
      else done(null, piece)
    },
  })
}

type Step = Transform | typeof withoutZlibHeader

/** The decoding steps of each encoding by its name in `content-encoding`. */
const decoders = new Map<string, (memory: Memory | undefined) => Step[]>([
  ['gzip', () => [createGunzip()]],
  ['x-gzip', () => [createGunzip()]],
  ['deflate', () => [withoutZlibHeader, createInflateRaw()]],
  ['br', (memory) => [createBrotliDecompress(), counted(memory)]],
  ['identity', () => []],
])

/**
 * Decodes the body of a response as it is read; returns the response unchanged if an encoding is unknown.
 * Aborting destroys the body with the signal's reason. A corrupt or truncated body fails like a broken connection.
 */
export function decoded(
  response: TransportResponse,
  encoding: string,
  signal: Signal,
  memory?: Memory,
): TransportResponse {
  // The header lists encodings in the order in which they were applied.
  const names = encoding.toLowerCase().split(',').toReversed()
  const steps = names.map((name) => decoders.get(name.trim()))
  if (steps.length > MOST || steps.includes(undefined)) return response
  const { status, header, body } = response
  const source = Readable.from(body)
  const streams = [source, ...steps.flatMap((make, i) => [...(i > 0 ? [between()] : []), ...make!(memory)])]
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
