import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { undiciTransport } from './undici.js'

/** Answers each request with these bytes, and ends the connection when its reader has not read for a while. */
async function serve(
  head: string,
  body: string,
  end: (socket: Socket) => void = (socket) => socket.end(),
  before = '',
) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(`${before}HTTP/1.1 200 OK\r\n${head}\r\n${body}`, 'latin1')
      setTimeout(() => end(socket), 50)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { signal } = new AbortController()
  const { body: pieces } = await undiciTransport()({
    url: `http://127.0.0.1:${port}/`,
    method: 'GET',
    headers: {},
    signal,
  })
  return pieces
}

/** The length of a body that is read slowly; what it fails with is behind it. */
async function read(pieces: AsyncIterable<Uint8Array>): Promise<[length: number, error?: string]> {
  let length = 0
  try {
    await new Promise((resolve) => setTimeout(resolve, 200))
    for await (const piece of pieces) length += piece.length
    return [length]
  } catch (error) {
    return [length, (error as Error).message]
  }
}

describe('threat 172: a connection that ends while its answer waits for a reader', () => {
  const close = 'connection: close\r\n'
  const sizes = [65_537, 131_072, 200_000, 700_000]

  it.each(sizes)('is the end of an answer of %i bytes', async (size) => {
    const body = 'a'.repeat(size)
    const forms: [head: string, body: string][] = [
      ['', body],
      [`${close}content-length: ${size}\r\n`, body],
      [`${close}transfer-encoding: chunked\r\n`, `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ]
    for (const form of forms) expect(await read(await serve(...form))).toEqual([size])
  })

  it.each(sizes)('fails an answer that is cut off after %i bytes', async (size) => {
    const body = 'a'.repeat(size)
    const forms: [head: string, body: string][] = [
      [`${close}content-length: ${size + 1}\r\n`, body],
      [`${close}transfer-encoding: chunked\r\n`, `${(size + 1).toString(16)}\r\n${body}`],
    ]
    for (const form of forms) expect(await read(await serve(...form))).toEqual([size, expect.any(String)])
  })

  it.each(sizes)('fails an answer that is reset after %i bytes', async (size) => {
    const head = `${close}content-length: ${size + 1}\r\n`
    const pieces = await serve(head, 'a'.repeat(size), (socket) => socket.resetAndDestroy())
    expect(await read(pieces)).toEqual([expect.any(Number), expect.any(String)])
  })
})

it.each([
  ['103 Early Hints', 20],
  ['102 Processing', 20],
])('threat 187: an upstream sends %s, %i times at most', async (status, most) => {
  const early = (count: number) => `HTTP/1.1 ${status}\r\nlink: </a>\r\n\r\n`.repeat(count)
  const answer = (count: number) => serve('content-length: 2\r\n', 'ok', undefined, early(count))
  expect(await read(await answer(most))).toEqual([2])
  await expect(answer(most + 1)).rejects.toThrow('heads without an answer')
})

it.each<[pieces: number, size: number, fails: boolean]>([
  [10_000, 1, false],
  [10_001, 1, true],
  [20_000, 40, false],
  [20_000, 4, true],
])(
  'threat 189: a body in %i pieces of %i bytes, which cost far more than what is in them',
  async (pieces, size, fails) => {
    const body = `${`${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`.repeat(pieces)}0\r\n\r\n`
    const [length, error] = await read(await serve('transfer-encoding: chunked\r\n', body))
    expect(error).toBe(fails ? 'The upstream sends its answer in too many small pieces' : undefined)
    if (!fails) expect(length).toBe(pieces * size)
  },
)

it.each([
  ['gzip', () => createGzip({ flush: constants.Z_SYNC_FLUSH })],
  [
    'br',
    () =>
      createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
      }),
  ],
])('reads a long stream whose tokens are flushed one by one by %s', async (encoding, encoder) => {
  const token = (i: number) => `data: {"choices":[{"index":0,"delta":{"content":" word ${i % 500}"}}]}\n\n`
  const tokens = Array.from({ length: 11_000 }, (_, i) => token(i))
  const compressed: Buffer[] = []
  for await (const piece of Readable.from(tokens).pipe(encoder())) compressed.push(piece as Buffer)
  const chunks = compressed.map((piece) => `${piece.length.toString(16)}\r\n${piece.toString('latin1')}\r\n`)
  const head = `content-encoding: ${encoding}\r\ntransfer-encoding: chunked\r\n`
  expect(compressed.length).toBeGreaterThan(10_000)
  expect(await read(await serve(head, `${chunks.join('')}0\r\n\r\n`))).toEqual([tokens.join('').length])
})
