import { microtask, readerOf } from '@turnpike/core/internal'

/** A writable stream: a ServerResponse or its socket. */
interface NodeWriter {
  write(chunk: string | Uint8Array): boolean
  write(chunk: string, encoding: 'latin1' | 'utf8'): boolean
  once(event: string, listener: () => void): unknown
  removeListener(event: string, listener: () => void): unknown
}

interface NodeSocket extends NodeWriter {
  cork(): void
  uncork(): void
}

/** The part of node:http's ServerResponse that the shell uses. */
export interface NodeResponse extends NodeWriter {
  destroyed: boolean
  writableFinished: boolean
  on(event: 'close', listener: () => void): unknown
  writeHead(status: number, headers: Record<string, string | number | string[]>): unknown
  flushHeaders(): void
  /** Set by `writeHead` if the response uses the chunked transfer coding; absent for HTTP/2. */
  chunkedEncoding?: boolean
  /** Null while an earlier response on the connection is pending. */
  socket?: NodeSocket | null
  end(chunk?: string | Uint8Array): unknown
  destroy(): unknown
}

/** The original `write` of node:http; undefined on other runtimes. */
const nodeWrite = globalThis.process?.getBuiltinModule?.('node:http').OutgoingMessage.prototype.write

/** Writes a non-empty chunk in the chunked transfer coding (RFC 9112, section 7.1). */
function writeChunk(to: NodeWriter, chunk: string | Uint8Array): boolean {
  if (typeof chunk !== 'string') {
    to.write(`${chunk.length.toString(16)}\r\n`)
    to.write(chunk)
    return to.write('\r\n')
  }
  const size = Buffer.byteLength(chunk)
  return to.write(`${size.toString(16)}\r\n${chunk}\r\n`, size === chunk.length ? 'latin1' : 'utf8')
}

/**
 * Streams a body to the client, with backpressure. node:http splits each chunk into four deferred writes, which costs more CPU than the
 * gateway spends on the chunk. The chunked coding is therefore done here, with one write to the socket per chunk, unless middleware such
 * as compression has replaced `response.write`. Callbacks in place of `for await`, which would double the cost.
 */
export function stream(response: NodeResponse, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  const framed = response.chunkedEncoding === true && response.write === nodeWrite
  if (framed) response.chunkedEncoding = false
  const chunks = body[Symbol.asyncIterator]()
  const read = readerOf(chunks)
  return new Promise((resolve) => {
    let begun = false
    /** The writer whose `drain` event is awaited. */
    let full: NodeWriter | undefined

    const goOn = (): void => {
      if (!full) return
      full.removeListener('drain', goOn)
      full = undefined
      pull()
    }
    const end = (): void => {
      response.removeListener('close', goOn)
      resolve()
    }
    const fail = (): void => {
      // A missing last chunk shows the client that the body is incomplete.
      response.destroy()
      end()
    }
    const uncork = (): void => response.socket?.uncork()
    const write = (chunk: string | Uint8Array): void => {
      // A chunk of length 0 would end the body.
      if (chunk.length === 0) return pull()
      // The first chunk goes through node:http, which writes the head before it.
      const socket = (framed && begun && response.socket) || undefined
      begun = true
      socket?.cork()
      const to = socket ?? response
      if (framed ? writeChunk(to, chunk) : to.write(chunk)) pull()
      else (full = to).once('drain', goOn)
      // Chunks that follow in the same microtask, such as the last one, are sent in the same write.
      if (socket) microtask(uncork)
    }
    const onChunk = ({ done, value }: IteratorResult<string | Uint8Array, undefined>): void => {
      try {
        if (done) {
          response.end(framed ? '0\r\n\r\n' : undefined)
          end()
        } else if (response.destroyed) void Promise.resolve(chunks.return?.()).then(end, fail)
        else write(value)
      } catch {
        fail()
      }
    }
    const pull = (): void => read(onChunk, fail)

    response.once('close', goOn)
    pull()
  })
}
