import { microtask, readerOf } from '@turnpike/core/helpers'

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
  emit(event: 'close'): unknown
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

/** Bytes that are written at once at most, so that the time-out below sees a slow client take a large chunk. */
const PIECE = 64 * 1024

/** Closes the connection where the client has not taken what was written within `ms`. @returns a function that stops the time-out */
function closeAfter(response: NodeResponse, ms: number): () => void {
  const timer = setTimeout(() => response.destroy(), ms)
  return () => clearTimeout(timer)
}

/** Ends a response, and closes the connection where the client takes nothing of its last bytes for `idleMs`. */
export function endWithin(response: NodeResponse, idleMs: number, last?: string | Uint8Array): void {
  response.end(last)
  // Without a socket, an earlier response is pending, which has a time-out of its own.
  if (!response.writableFinished && response.socket) response.once('close', closeAfter(response, idleMs))
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Sends a whole body. */
export function sendWhole(response: NodeResponse, bytes: Uint8Array | undefined, idleMs: number): Promise<void> | void {
  if (bytes && bytes.length > PIECE) return stream(response, once(bytes), idleMs)
  endWithin(response, idleMs, bytes)
}

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
 * Streams a body to the client, with backpressure, and closes the connection where the client takes nothing for `idleMs`. node:http splits each chunk into four deferred writes, which costs more CPU than the
 * gateway spends on the chunk. The chunked coding is therefore done here, with one write to the socket per chunk, unless middleware such
 * as compression has replaced `response.write`. Callbacks in place of `for await`, which would double the cost.
 */
export function stream(
  response: NodeResponse,
  body: AsyncIterable<string | Uint8Array>,
  idleMs: number,
): Promise<void> {
  const framed = response.chunkedEncoding === true && response.write === nodeWrite
  if (framed) response.chunkedEncoding = false
  const chunks = body[Symbol.asyncIterator]()
  const read = readerOf(chunks)
  return new Promise((resolve) => {
    let begun = false
    /** The writer whose `drain` event is awaited. */
    let full: NodeWriter | undefined
    let stopTimeout: () => void
    /** What is left of a large chunk. */
    let rest: Uint8Array | undefined

    const goOn = (): void => {
      if (!full) return
      stopTimeout()
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
      if (chunk.length > PIECE) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
        rest = bytes.subarray(PIECE)
        chunk = bytes.subarray(0, PIECE)
      }
      // The first chunk goes through node:http, which writes the head before it.
      const socket = (framed && begun && response.socket) || undefined
      begun = true
      socket?.cork()
      const to = socket ?? response
      if (framed ? writeChunk(to, chunk) : to.write(chunk)) pull()
      else {
        full = to
        to.once('drain', goOn)
        stopTimeout = closeAfter(response, idleMs)
      }
      // Chunks that follow in the same microtask, such as the last one, are sent in the same write.
      if (socket) microtask(uncork)
    }
    const onChunk = ({ done, value }: IteratorResult<string | Uint8Array, undefined>): void => {
      try {
        if (done) {
          endWithin(response, idleMs, framed ? '0\r\n\r\n' : undefined)
          end()
        } else if (response.destroyed) void Promise.resolve(chunks.return?.()).then(end, fail)
        else write(value)
      } catch {
        fail()
      }
    }
    const pull = (): void => {
      if (!rest) return read(onChunk, fail)
      const value = rest
      rest = undefined
      onChunk({ done: false, value })
    }

    response.once('close', goOn)
    pull()
  })
}
