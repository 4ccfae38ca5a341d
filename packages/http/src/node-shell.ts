import type { ApiError } from '@turnpike/core'
import { concat, extend, microtask, readerOf } from '@turnpike/core/internal'
import { cutShort, tooLarge, tooSlow, unstalled } from './body.js'
import { BODY_IDLE_MS } from './conventions.js'
import type { Exchange, Handler, Reply, ShellOptions } from './exchange.js'
import { clientIp, originOf } from './exchange.js'

/** The part of node:http's IncomingMessage that the shell uses; a structural type, so that `@types/node` is not required. */
export interface NodeRequest {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  socket: { remoteAddress?: string | undefined; encrypted?: boolean }
  complete: boolean
  readableEnded: boolean
  readableLength: number
  /** The parsed body, where middleware such as `express.json()` has consumed the stream. */
  body?: unknown
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  removeAllListeners(event: string): unknown
  read(): Uint8Array | null
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>
  resume(): unknown
}

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
  /** Set by `writeHead` if the response uses the chunked transfer coding; absent for HTTP/2. */
  chunkedEncoding?: boolean
  /** Null while an earlier response on the connection is pending. */
  socket?: NodeSocket | null
  end(chunk?: string | Uint8Array): unknown
  destroy(): unknown
}

/** A connect-style middleware or request listener of node:http. */
export type NodeListener = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/** How long the rest of a refused body is read and discarded, so that the client receives the response and not a connection reset. */
const LINGER_MS = 1_000

const utf8 = new TextEncoder()

/** The bytes of a body that middleware has already parsed. */
const parsedBody = (body: unknown): Uint8Array =>
  body instanceof Uint8Array ? body : utf8.encode(typeof body === 'string' ? body : JSON.stringify(body ?? ''))

function readBytes(request: NodeRequest, limit: number, idleMs: number): Uint8Array | Promise<Uint8Array> {
  const length = Number(request.headers['content-length'])
  if (length > limit) return Promise.reject(tooLarge(limit))
  if (request.readableEnded) {
    const body = parsedBody(request.body)
    return body.length > limit ? Promise.reject(tooLarge(limit)) : body
  }
  // The whole body arrived with the head: read it without events and timers. `resume` consumes the end of the stream, which sets `complete`.
  if (request.complete || request.readableLength === length) {
    const body = request.read() ?? new Uint8Array()
    request.resume()
    return body.length > limit ? Promise.reject(tooLarge(limit)) : body
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const refuse = (error: ApiError): void => {
      clearTimeout(timer)
      request.removeAllListeners('data')
      reject(error)
    }
    const wait = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => refuse(tooSlow()), idleMs)
    }
    wait()
    request.on('data', (chunk: Uint8Array) => {
      size += chunk.length
      if (size > limit) return refuse(tooLarge(limit))
      chunks.push(chunk)
      wait()
    })
    request.on('end', () => {
      clearTimeout(timer)
      resolve(concat(chunks, size))
    })
    // Not `error`: it is only emitted if it has a listener, and `close` always follows it.
    request.on('close', () => {
      if (!request.readableEnded) refuse(cutShort())
    })
  })
}

function toExchange(
  request: NodeRequest,
  response: NodeResponse,
  optional: boolean,
  { trustedHops = 0, bodyIdleMs = BODY_IDLE_MS }: ShellOptions,
): Exchange {
  // The absolute form of a request target is allowed (RFC 9112, section 3.2.2); scheme and authority are ignored.
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*\/?/i, '/')
  const mark = url.indexOf('?')
  const header = (name: string): string | undefined => {
    const value = request.headers[name]
    return typeof value === 'object' ? value.join(', ') : value
  }
  return {
    method: request.method ?? 'GET',
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    header,
    // Ending the iterator must not close the connection, because the response is still to be sent.
    body: () => unstalled(request.iterator({ destroyOnReturn: false }), bodyIdleMs),
    bytes: (limit) => readBytes(request, limit, bodyIdleMs),
    onDisconnect(listener) {
      if (response.destroyed) listener()
      else
        response.on('close', () => {
          if (!response.writableFinished) listener()
        })
    },
    ip: () => clientIp(request.socket.remoteAddress, header('x-forwarded-for'), trustedHops),
    origin: () => originOf(request.socket.encrypted ? 'https' : 'http', header, trustedHops),
    optional,
  }
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
function stream(response: NodeResponse, body: AsyncIterable<string | Uint8Array>): Promise<void> {
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

/** Responds while the client is still sending: the whole response at once, the end of the connection up to `LINGER_MS` later. */
function lingeringEnd(request: NodeRequest, response: NodeResponse, body: Uint8Array): void {
  response.write(body)
  const timer = setTimeout(() => response.end(), LINGER_MS)
  response.once('close', () => clearTimeout(timer))
  request.on('end', () => response.end())
  request.resume()
}

function send(request: NodeRequest, response: NodeResponse, { status, headers, body }: Reply): Promise<void> | void {
  // A streamed body is read even if the client has disconnected, so that it ends and its usage record is written.
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    if (!response.destroyed) response.writeHead(status, headers)
    return stream(response, body)
  }
  if (response.destroyed) return
  if (body === undefined) {
    response.writeHead(status, headers)
    response.end()
    return
  }
  // A Buffer, because node:http would flatten a string twice: to count its bytes, and after prepending the head.
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const { length } = bytes
  if (request.complete) {
    response.writeHead(status, extend(headers, { 'content-length': length }))
    response.end(bytes)
  } else {
    response.writeHead(status, extend(headers, { 'content-length': length, connection: 'close' }))
    lingeringEnd(request, response, bytes)
  }
}

/** Resolves in the next turn of the event loop. node:http sets `complete` on a body that arrived with its head only after its listeners have run. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function trySend(request: NodeRequest, response: NodeResponse, reply: Reply): Promise<void> | void {
  try {
    return send(request, response, reply)
  } catch {
    // The head cannot be written, so the connection is closed.
    response.destroy()
  }
}

/**
 * Serves node:http: as a request listener, or as connect-style middleware that calls `next` for paths that no route matches.
 * Rejects only if `next` throws.
 */
export function nodeShell(handle: Handler, options: ShellOptions = {}): NodeListener {
  return (request, response, next) =>
    handle(toExchange(request, response, next !== undefined, options)).then((reply) => {
      if (!reply) return next!()
      if (request.complete) return trySend(request, response, reply)
      // If the body arrived with the head, `complete` is set one turn later, and the connection can be kept alive.
      return nextTurn().then(() => trySend(request, response, reply))
    })
}
