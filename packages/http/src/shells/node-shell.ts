import type { Memory } from '@turnpike/core'
import { concat, extend, PIECE_COST } from '@turnpike/core/helpers'
import type { Pace } from '../body/body.js'
import { cutShort, invalidJson, paced, paceOf, Patience, tooLarge, tooSlow } from '../body/body.js'
import { ANSWER_IDLE_MS, BODY_COST } from '../conventions.js'
import type { Exchange, Handler, Reply, ShellOptions } from './exchange.js'
import { clientIp, originOf } from './exchange.js'
import type { NodeResponse } from './node-stream.js'
import { endWithin, sendWhole, stream } from './node-stream.js'

/** The part of node:http's IncomingMessage that the shell uses; a structural type, so that `@types/node` is not required. */
export interface NodeRequest {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  socket: {
    remoteAddress?: string | undefined
    encrypted?: boolean
    once?(event: 'close', listener: () => void): unknown
    removeListener?(event: 'close', listener: () => void): unknown
  }
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

/** A connect-style middleware or request listener of node:http. */
export type NodeListener = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/** How long the rest of a refused body is read and discarded, so that the client receives the response and not a connection reset. */
const LINGER_MS = 1_000

const utf8 = new TextEncoder()

/**
 * Ends a response that waits for an earlier one with its connection: Node tells it nothing of that, and an earlier one that closes the connection leaves
 * it without a socket for good.
 */
function closeWith(request: NodeRequest, response: NodeResponse): void {
  if (response.socket !== null) return
  const { socket } = request
  let hasClosed = false
  const end = (): void => {
    // By then it may have got the socket.
    if (response.socket) return
    response.destroy()
    // Node 26 tells it by itself then.
    setImmediate(() => {
      if (!hasClosed) response.emit('close')
    })
  }
  socket.once?.('close', end)
  response.on('close', () => {
    hasClosed = true
    socket.removeListener?.('close', end)
  })
}

/** The bytes of a body that middleware has already parsed. @throws ApiError 400 `invalid_json` for one that is too deep to be written */
function parsedBody(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  try {
    return utf8.encode(typeof body === 'string' ? body : JSON.stringify(body ?? ''))
  } catch {
    throw invalidJson('The request body is nested too deeply')
  }
}

function readBytes(request: NodeRequest, limit: number, pace: Pace, memory?: Memory): Uint8Array | Promise<Uint8Array> {
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
    memory?.take(BODY_COST)
    const chunks: Uint8Array[] = []
    let size = 0
    const patience = new Patience(pace)
    let begin: number
    let timer: ReturnType<typeof setTimeout> | undefined
    const refuse = (error: unknown): void => {
      clearTimeout(timer)
      request.removeAllListeners('data')
      reject(error)
    }
    const wait = (): void => {
      clearTimeout(timer)
      begin = performance.now()
      timer = setTimeout(() => refuse(tooSlow()), patience.left)
    }
    wait()
    request.on('data', (chunk: Uint8Array) => {
      size += chunk.length
      if (size > limit) return refuse(tooLarge(limit))
      try {
        memory?.take(PIECE_COST + chunk.length)
        patience.arrived(chunk.length, performance.now() - begin)
      } catch (error) {
        return refuse(error)
      }
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

/** Scheme and authority of the absolute form of a request target (RFC 9112, section 3.2.2), which are ignored. */
const authority = /^https?:\/\/[^/?]*\/?/i

function toExchange(
  request: NodeRequest,
  response: NodeResponse,
  optional: boolean,
  trustedHops: number,
  pace: Pace,
): Exchange {
  const url = (request.url ?? '/').replace(authority, '/')
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
    body: () => paced(request.iterator({ destroyOnReturn: false }), pace),
    bytes: (limit, memory) => readBytes(request, limit, pace, memory),
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

/**
 * Responds while the client is still sending: the whole response at once, the end of the connection up to `LINGER_MS` later. Node itself would
 * go on reading, for as long as the client likes.
 */
function lingeringEnd(
  request: NodeRequest,
  response: NodeResponse,
  body: Uint8Array | undefined,
  idleMs: number,
): void {
  if (body) response.write(body)
  else response.flushHeaders()
  const timer = setTimeout(() => endWithin(response, idleMs), LINGER_MS)
  response.once('close', () => clearTimeout(timer))
  request.on('end', () => response.end())
  request.resume()
}

function send(
  request: NodeRequest,
  response: NodeResponse,
  { status, headers, body }: Reply,
  idleMs: number,
): Promise<void> | void {
  const isComplete = request.complete
  if (!isComplete) headers = extend(headers, { connection: 'close' })
  // A streamed body is read even if the client has disconnected, so that it ends and its usage record is written.
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    if (!response.destroyed) response.writeHead(status, headers)
    return stream(response, body, idleMs)
  }
  if (response.destroyed) return
  // A Buffer, because node:http would flatten a string twice: to count its bytes, and after prepending the head.
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (bytes) headers['content-length'] = String(bytes.length)
  response.writeHead(status, headers)
  if (isComplete) return sendWhole(response, bytes, idleMs)
  lingeringEnd(request, response, bytes, idleMs)
}

/** Resolves in the next turn of the event loop. node:http sets `complete` on a body that arrived with its head only after its listeners have run. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function trySend(request: NodeRequest, response: NodeResponse, reply: Reply, idleMs: number): Promise<void> | void {
  try {
    return send(request, response, reply, idleMs)
  } catch {
    // The head cannot be written, so the connection is closed.
    response.destroy()
  }
}

/**
 * Serves node:http: as a request listener, or as connect-style middleware that calls `next` for paths that no route matches.
 * Rejects only if `next` throws.
 * @example http.createServer(nodeShell(servable.handle)).listen(8787)
 */
export function nodeShell(handle: Handler, options: ShellOptions = {}): NodeListener {
  const { answerIdleMs = ANSWER_IDLE_MS } = options
  const pace = paceOf(options)
  return (request, response, next) => {
    closeWith(request, response)
    return handle(toExchange(request, response, next !== undefined, options.trustedHops ?? 0, pace)).then((reply) => {
      if (!reply) return next!()
      if (request.complete) return trySend(request, response, reply, answerIdleMs)
      // If the body arrived with the head, `complete` is set one turn later, and the connection can be kept alive.
      return nextTurn().then(() => trySend(request, response, reply, answerIdleMs))
    })
  }
}
