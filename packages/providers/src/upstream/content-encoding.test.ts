import type { Memory } from '@turnpike/core'
import { Pieces } from '@turnpike/core/helpers'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { decoded } from './content-encoding.js'
import type { TransportResponse } from './transport.js'
import { undiciTransport } from '../undici.js'

const text = 'Hello, wörld! '.repeat(500)
const utf8 = new TextDecoder()

/** An answer in these pieces, and whether it was cancelled. */
function answerOf(encoding: string, pieces: (Uint8Array | Promise<Uint8Array> | Error)[], memory?: Memory) {
  const state = { stopped: false, read: 0 }
  const body = new Pieces<Uint8Array>(
    (onResult, onError) => {
      const piece = pieces[state.read]
      if (piece === undefined) onResult({ done: true, value: undefined })
      else if (piece instanceof Error) onError(piece)
      else void Promise.resolve(piece).then((value) => onResult({ done: false, value }), onError)
      state.read++
    },
    () => {
      state.stopped = true
    },
  )
  const headers: Record<string, string> = {
    'content-type': 'text/plain',
    'content-length': '9',
    'content-encoding': encoding,
  }
  const controller = new AbortController()
  const answer = { status: 200, header: (name: string) => headers[name], body }
  return { state, controller, response: decoded(answer, encoding, controller.signal, memory) }
}

async function read({ body }: TransportResponse): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const bytewise = (bytes: Uint8Array): Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte))

const encodings: [encoding: string, encode: (bytes: Uint8Array | string) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['gzip, br', (bytes) => brotliCompressSync(gzipSync(bytes))],
  ['deflate ,gzip', (bytes) => gzipSync(deflateRawSync(bytes))],
  ['identity, gzip', gzipSync],
]

describe('an answer', () => {
  it.each(encodings)('that is encoded by %s is decoded, in one piece and byte by byte', async (encoding, encode) => {
    const bytes = encode(text)
    for (const pieces of [[bytes], bytewise(bytes)]) {
      const { response } = answerOf(encoding, pieces)
      expect(await read(response)).toBe(text)
      expect(['content-type', 'content-length', 'content-encoding'].map(response.header)).toEqual([
        'text/plain',
        undefined,
        undefined,
      ])
    }
  })

  it.each(encodings)('that ends within %s fails', async (encoding, encode) => {
    const bytes = encode('Hello, world!')
    for (let end = 0; end < bytes.length; end++) {
      const outcome = await read(answerOf(encoding, [bytes.subarray(0, end)]).response).catch(() => 'failed')
      // The text is complete without the checksum of zlib, the last 4 bytes.
      if (encode !== deflateSync || end < bytes.length - 4) expect([end, outcome]).toEqual([end, 'failed'])
      else expect(outcome).toBe('Hello, world!')
    }
  })

  it.each(encodings)('whose connection breaks within %s fails with that', async (encoding, encode) => {
    const broken = new Error('ECONNRESET')
    const { response } = answerOf(encoding, [encode(text).subarray(0, 40), broken])
    await expect(read(response)).rejects.toBe(broken)
  })

  it.each(['gzip', 'deflate', 'br'])('that is not %s fails', async (encoding) => {
    await expect(read(answerOf(encoding, [Buffer.from('\x7f{"not": "encoded"}')]).response)).rejects.toThrow()
  })

  it('takes from the memory of its request what a Brotli decoder keeps, which is 16 MiB at most', async () => {
    const megabytes = 20
    const bytes = brotliCompressSync(Buffer.alloc(megabytes << 20), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } })
    let taken = 0
    const { response } = answerOf('br', [bytes], { take: (bytes) => void (taken += bytes) })
    expect((await read(response)).length).toBe(megabytes << 20)
    expect(taken).toBe(16 << 20)
  })

  it('threat 27: whose encodings have gigabytes between them, of which nothing comes out, fails', async () => {
    const members = (count: number): Buffer =>
      brotliCompressSync(Buffer.alloc(count * 20, gzipSync('')), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    const decodedOf = (count: number): Promise<string> => read(answerOf('gzip, br', [members(count)]).response)
    expect(members(4_000_000).length).toBeLessThan(100_000)
    await expect(decodedOf(4_000_000)).rejects.toThrow('more than 67108864 bytes within it')
    expect(await decodedOf(1_000)).toBe('')
  })

  it.each(['zstd', 'compress', 'gzip, zstd', '__proto__', '', 'gzip,gzip,gzip'])(
    'in the unknown encoding, or more than two, "%s" stays as it is',
    async (encoding) => {
      const { response } = answerOf(encoding, [Buffer.from('bytes')])
      expect(await read(response)).toBe('bytes')
      expect(response.header('content-encoding')).toBe(encoding)
    },
  )

  it.each([
    ['gzip', createGzip({ flush: constants.Z_SYNC_FLUSH })],
    ['deflate', createDeflate({ flush: constants.Z_SYNC_FLUSH })],
    ['deflate', createDeflateRaw({ flush: constants.Z_SYNC_FLUSH })],
    ['br', createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
  ] as const)('is given out by %s as far as it was flushed', async (encoding, encoder) => {
    const flushed = async (words: string): Promise<Uint8Array> => {
      await new Promise<unknown>((resolve) => encoder.write(words, resolve))
      return encoder.read() as Uint8Array
    }
    const pieces: Promise<Uint8Array>[] = []
    const sends: ((piece: Promise<Uint8Array>) => void)[] = []
    for (let i = 0; i < 3; i++) pieces.push(new Promise((resolve) => sends.push(resolve)))
    const { body } = answerOf(encoding, pieces).response
    const iterator = body[Symbol.asyncIterator]()
    for (const [i, send] of sends.entries()) {
      send(flushed(`data: ${i}\n\n`))
      expect(utf8.decode((await iterator.next()).value)).toBe(`data: ${i}\n\n`)
    }
    await iterator.return!()
  })

  it.each(encodings)('in %s is stopped at once while a piece is awaited', async (encoding, encode) => {
    const { response, state } = answerOf(encoding, [encode(text).subarray(0, 30), new Promise(() => undefined)])
    const iterator = response.body[Symbol.asyncIterator]()
    const next = iterator.next().catch(() => 'failed')
    await iterator.return!()
    expect(await next).toBe('failed')
    await vi.waitFor(() => expect(state.stopped).toBe(true))
  })

  it.each(encodings)('in %s is stopped where nobody reads it', async (encoding, encode) => {
    const { response, state } = answerOf(encoding, [encode(text), new Promise(() => undefined)])
    await response.body[Symbol.asyncIterator]().return!()
    await vi.waitFor(() => expect(state.stopped).toBe(true))
  })

  it.each(encodings)(
    'that is damaged within %s is stopped, whether more would come or not',
    async (encoding, encode) => {
      const damaged = encode(text)
      damaged.fill(0xff, 10)
      const { response, state } = answerOf(encoding, [damaged, Buffer.alloc(100, 0xff), new Promise(() => undefined)])
      await expect(read(response)).rejects.toThrow()
      await vi.waitFor(() => expect(state.stopped).toBe(true))
    },
  )

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ] as const)('that would fill the memory is inflated by %s as it is read', async (encoding, encode) => {
    const bomb = encode(Buffer.alloc(2 ** 22))
    const { response, state } = answerOf(encoding, [bomb, new Promise(() => undefined)])
    let size = 0
    for await (const piece of response.body) {
      size += piece.length
      if (size > 100_000) break
    }
    expect(size).toBeLessThan(200_000)
    await vi.waitFor(() => expect(state.stopped).toBe(true))
  })
})

it.each(encodings)('%s: an abort stops what is being inflated, and lets go of the signal', async (encoding, encode) => {
  const reason = new Error('left')
  const { response, state, controller } = answerOf(encoding, [
    encode(Buffer.alloc(2 ** 20)),
    new Promise(() => undefined),
  ])
  const removed = vi.spyOn(controller.signal, 'removeEventListener')
  const iterator = response.body[Symbol.asyncIterator]()
  await iterator.next()
  controller.abort(reason)
  await expect(iterator.next()).rejects.toBe(reason)
  await vi.waitFor(() => expect(state.stopped).toBe(true))
  expect(removed).toHaveBeenCalledOnce()
})

describe('undiciTransport', () => {
  const closes: (() => void)[] = []
  afterEach(() => {
    for (const close of closes.splice(0)) close()
  })

  /** A server that responds with `bytes`, and the number of its connections. */
  async function serve(encoding: string, bytes: Uint8Array, ends = true) {
    const state = { connections: 0, open: 0 }
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding })
      response.write(bytes)
      if (ends) response.end()
    })
    server.on('connection', (socket) => {
      state.connections++
      state.open++
      socket.on('close', () => state.open--)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closes.push(() => server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const transport = undiciTransport({ connections: 1 })
    const controller = new AbortController()
    return {
      state,
      controller,
      send: () => transport({ url, method: 'POST', headers: {}, body: '{}', signal: controller.signal }),
    }
  }

  it.each(encodings)('decodes %s', async (encoding, encode) => {
    const { state, send } = await serve(encoding, encode(text))
    for (let i = 0; i < 3; i++) expect(await read(await send())).toBe(text)
    expect(state.connections).toBe(1)
  })

  it('stops decoding when it is aborted, for the reason of the signal', async () => {
    const { state, controller, send } = await serve('gzip', gzipSync(text).subarray(0, 30), false)
    const reason = new Error('left')
    const { body } = await send()
    const iterator = body[Symbol.asyncIterator]()
    const next = iterator.next()
    controller.abort(reason)
    await expect(next).rejects.toBe(reason)
    await vi.waitFor(() => expect(state.open).toBe(0))
  })
})
