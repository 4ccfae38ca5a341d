import type { FakeUpstream } from '@turnpike/providers/testing'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Transform } from 'node:stream'
import { createBrotliCompress, createDeflate, createDeflateRaw, createGzip } from 'node:zlib'

/** How answers are compressed: what `content-encoding` says, and what does it, in that order. */
export interface Compression {
  encoding: string
  steps: (() => Transform)[]
}

export const compressions: Record<string, Compression> = {
  gzip: { encoding: 'gzip', steps: [createGzip] },
  deflate: { encoding: 'deflate', steps: [createDeflate] },
  'deflate without a header': { encoding: 'deflate', steps: [createDeflateRaw] },
  br: { encoding: 'br', steps: [createBrotliCompress] },
  'gzip, br': { encoding: 'gzip, br', steps: [createGzip, createBrotliCompress] },
}

export interface CompressingProxy {
  url: string
  /** What it does from the next answer on. */
  compression: Compression
  /** How many bytes of each compressed body are sent; the answer then ends in good order. Default all. */
  cut: number
  /** Connections that are open. */
  readonly open: number
  /** `accept-encoding` of the requests so far. */
  asked: (string | undefined)[]
  close(): Promise<void>
}

/** What a compressor has for the bytes, as far as they can be told, or all of its end. */
async function compressed(step: Transform, bytes: Uint8Array | 'end'): Promise<Buffer> {
  const pieces: Buffer[] = []
  const take = (piece: Buffer): void => void pieces.push(piece)
  step.on('data', take)
  if (bytes === 'end') await once(step.end(), 'end')
  else {
    step.write(bytes)
    await new Promise<void>((resolve) => (step as unknown as { flush(done: () => void): void }).flush(resolve))
  }
  step.off('data', take)
  return Buffer.concat(pieces)
}

/** A proxy before a fake upstream that compresses every answer, whether it was asked to or not, and flushes after each piece. */
export async function compressingProxy(upstream: FakeUpstream): Promise<CompressingProxy> {
  let open = 0

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { compression, cut } = proxy
    const left = new AbortController()
    response.on('close', () => left.abort())
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const headers = request.headers as Record<string, string>
    proxy.asked.push(headers['accept-encoding'])
    const answer = await upstream.transport({
      url: `http://upstream${request.url}`,
      method: request.method as 'POST',
      headers,
      body: new Response(Buffer.concat(pieces)).body!,
      signal: left.signal,
    })
    response.writeHead(answer.status, {
      'content-type': answer.header('content-type'),
      'content-encoding': compression.encoding,
    })
    let sent = 0
    const send = (bytes: Uint8Array): void => {
      if (sent < cut) response.write(bytes.subarray(0, cut - sent))
      sent += bytes.length
    }
    const steps = compression.steps.map((make) => make())
    for await (const piece of answer.body) {
      let bytes = piece
      for (const step of steps) bytes = await compressed(step, bytes)
      send(bytes)
    }
    for (const [i, step] of steps.entries()) {
      let bytes = await compressed(step, 'end')
      for (const next of steps.slice(i + 1)) bytes = await compressed(next, bytes)
      send(bytes)
    }
    response.end()
  }

  const server = createServer((request, response) => {
    // The gateway left.
    forward(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    open++
    socket.on('close', () => open--)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxy: CompressingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    compression: compressions['gzip']!,
    cut: Infinity,
    asked: [],
    get open() {
      return open
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return proxy
}
