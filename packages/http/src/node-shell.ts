import type { ApiError } from '@turnpike/core'
import { concat, extend, microtask, readerOf } from '@turnpike/core/internal'
import { cutShort, tooLarge, tooSlow, unstalled } from './body.js'
import { BODY_IDLE_MS } from './conventions.js'
import type { Exchange, Handler, Reply, ShellOptions } from './exchange.js'
import { clientIp } from './exchange.js'

/** The part of node:http's IncomingMessage that the shell reads; structural, so that no Node types are needed elsewhere. */
export interface NodeRequest {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  socket: { remoteAddress?: string | undefined }
  complete: boolean
  readableEnded: boolean
  readableLength: number
  /** What a body parser that ran before us left. */
  body?: unknown
  on(event: 'data', listener: (piece: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  removeAllListeners(event: string): unknown
  read(): Uint8Array | null
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>
  resume(): unknown
}

/** What takes bytes: a ServerResponse, or its socket. */
interface NodeWriter {
  write(piece: string | Uint8Array): boolean
  write(piece: string, encoding: 'latin1' | 'utf8'): boolean
  once(event: string, listener: () => void): unknown
  removeListener(event: string, listener: () => void): unknown
}

interface NodeSocket extends NodeWriter {
  cork(): void
  uncork(): void
}

/** The part of node:http's ServerResponse that the shell writes. */
export interface NodeResponse extends NodeWriter {
  destroyed: boolean
  writableFinished: boolean
  on(event: 'close', listener: () => void): unknown
  writeHead(status: number, headers: Record<string, string | number | string[]>): unknown
  /** Set by `writeHead` where pieces are to be framed; HTTP/2 has none. */
  chunkedEncoding?: boolean
  /** Null where an earlier answer on the connection has not ended. */
  socket?: NodeSocket | null
  end(piece?: string | Uint8Array): unknown
  destroy(): unknown
}

/** A connect-style middleware or request listener of node:http. */
export type NodeListener = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/** How long the rest of a refused body is read and thrown away, so that the client sees the answer and not a reset. */
const LINGER_MS = 1_000

const utf8 = new TextEncoder()

/** A body that another body parser has already consumed, in the form it left it. */
const parsedBody = (body: unknown): Uint8Array =>
  body instanceof Uint8Array ? body : utf8.encode(typeof body === 'string' ? body : JSON.stringify(body ?? ''))

function readBytes(request: NodeRequest, limit: number, idleMs: number): Uint8Array | Promise<Uint8Array> {
  const length = Number(request.headers['content-length'])
  if (length > limit) return Promise.reject(tooLarge(limit))
  if (request.readableEnded) {
    const body = parsedBody(request.body)
    return body.length > limit ? Promise.reject(tooLarge(limit)) : body
  }
  // A body that came with its head is all there by now: no events, no timers. What is left to read is its end, without which it is not `complete`.
  if (request.complete || request.readableLength === length) {
    const body = request.read() ?? new Uint8Array()
    request.resume()
    return body.length > limit ? Promise.reject(tooLarge(limit)) : body
  }
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = []
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
    request.on('data', (piece: Uint8Array) => {
      size += piece.length
      if (size > limit) return refuse(tooLarge(limit))
      pieces.push(piece)
      wait()
    })
    request.on('end', () => {
      clearTimeout(timer)
      resolve(concat(pieces, size))
    })
    // An `error` precedes it, but only if it has a listener.
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
  // A target in absolute form is allowed (RFC 9112, section 3.2.2); only its path counts.
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
    // The connection must outlive the iterator, because the answer is still to be sent.
    body: () => unstalled(request.iterator({ destroyOnReturn: false }), bodyIdleMs),
    bytes: (limit) => readBytes(request, limit, bodyIdleMs),
    onLeave(listener) {
      if (response.destroyed) listener()
      else
        response.on('close', () => {
          if (!response.writableFinished) listener()
        })
    },
    ip: () => clientIp(request.socket.remoteAddress, header('x-forwarded-for'), trustedHops),
    optional,
  }
}

/** node:http's own; undefined in other runtimes. */
const nodeWrite = globalThis.process?.getBuiltinModule?.('node:http').OutgoingMessage.prototype.write

/** Writes one piece, which is not empty, in the chunked coding (RFC 9112, section 7.1). */
function writeChunk(to: NodeWriter, piece: string | Uint8Array): boolean {
  if (typeof piece !== 'string') {
    to.write(`${piece.length.toString(16)}\r\n`)
    to.write(piece)
    return to.write('\r\n')
  }
  const size = Buffer.byteLength(piece)
  return to.write(`${size.toString(16)}\r\n${piece}\r\n`, size === piece.length ? 'latin1' : 'utf8')
}

/**
 * Writes a body piece by piece, as the client takes it. node:http makes four writes of a piece that it frames, and puts each off to the
 * end of the turn, which costs more than the gateway's own work on it. So it is framed here and goes to the socket in one write, unless
 * somebody such as a compressing middleware has put a `write` of his own in the way. By hand, because `for await` costs as much again.
 */
function stream(response: NodeResponse, body: AsyncIterable<string | Uint8Array>): Promise<void> {
  const byHand = response.chunkedEncoding === true && response.write === nodeWrite
  if (byHand) response.chunkedEncoding = false
  const pieces = body[Symbol.asyncIterator]()
  const read = readerOf(pieces)
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
      // Without the closing chunk the client can tell that the body is not whole.
      response.destroy()
      end()
    }
    const uncork = (): void => response.socket?.uncork()
    const write = (piece: string | Uint8Array): void => {
      // An empty chunk would be the end.
      if (piece.length === 0) return pull()
      // The first piece takes the head along.
      const socket = (byHand && begun && response.socket) || undefined
      begun = true
      socket?.cork()
      const to = socket ?? response
      if (byHand ? writeChunk(to, piece) : to.write(piece)) pull()
      else (full = to).once('drain', goOn)
      // What follows at once, as the end does the last piece, leaves in the same write.
      if (socket) microtask(uncork)
    }
    const onPiece = ({ done, value }: IteratorResult<string | Uint8Array, undefined>): void => {
      try {
        if (done) {
          response.end(byHand ? '0\r\n\r\n' : undefined)
          end()
        } else if (response.destroyed) void Promise.resolve(pieces.return?.()).then(end, fail)
        else write(value)
      } catch {
        fail()
      }
    }
    const pull = (): void => read(onPiece, fail)

    response.once('close', goOn)
    pull()
  })
}

/** Answers while the client still sends: the whole answer at once, the end of the connection a moment later. */
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
  // Encoded once: node:http would flatten a string to count its bytes, and again behind the head that it puts before it.
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

/** node:http tells of the end of a body that came with its head only after what the head and the bytes set off. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function trySend(request: NodeRequest, response: NodeResponse, reply: Reply): Promise<void> | void {
  try {
    return send(request, response, reply)
  } catch {
    // The head cannot be written. The client is told by the end of the connection.
    response.destroy()
  }
}

/**
 * Serves node:http: as a request listener, or as connect-style middleware that passes on what no route of ours answers.
 * Rejects only where `next` throws.
 */
export function nodeShell(handle: Handler, options: ShellOptions = {}): NodeListener {
  return (request, response, next) =>
    handle(toExchange(request, response, next !== undefined, options)).then((reply) => {
      if (!reply) return next!()
      if (request.complete) return trySend(request, response, reply)
      // A client that is refused keeps its connection, where all that it sent is there.
      return nextTurn().then(() => trySend(request, response, reply))
    })
}
