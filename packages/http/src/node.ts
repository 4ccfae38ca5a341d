/** An HTTP server for Node that answers malformed HTTP with the error format of the handler. @module */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import { tooSlow } from './body/body.js'
import { HEADER_LIMIT, HEADERS_MS, KEEP_ALIVE_MS, PIPELINED } from './conventions.js'
import type { Reply, Servable, ShellOptions } from './shells/exchange.js'
import { nodeShell } from './shells/node-shell.js'

/** Options of {@link createServer}. */
export interface ServerOptions extends ShellOptions {
  /** The listener for well-formed requests; default {@link createListener} with the same handler. */
  listener?: RequestListener
  /** Largest request head in bytes; default 16,384. */
  maxHeaderSize?: number
}

/**
 * A request listener for node:http; the fastest way to serve on Node.
 * @example http.createServer(createListener(gateway)).listen(8787)
 */
export function createListener({ handle }: Servable, options: ShellOptions = {}): RequestListener {
  const shell = nodeShell(handle, options)
  return (request: IncomingMessage, response: ServerResponse) => void shell(request, response)
}

/** A host name or IP address with an optional port (RFC 9110, section 7.2). */
const hostPattern = /^(\[[0-9a-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d*)?$/i

/** Whether a request has exactly one valid Host header (RFC 9112, section 3.2). Of two, a proxy in front may have used the other. */
function hasHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let host: string | undefined
  // Names and values alternate. `headers` cannot be used: it keeps only the first of two.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return false
    host = rawHeaders[i + 1]!
  }
  return host === undefined ? httpVersion === '1.0' : hostPattern.test(host)
}

/** The API error for an error of the HTTP parser. */
function describeParseError(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new ApiError(431, 'invalid_request_error', 'The request headers are too large', {
      code: 'request_too_large',
    })
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow()
  return invalid('The request is not valid HTTP')
}

const reasons: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** The headers of a reply after which the connection is closed. */
const lastHeaders = ({ headers, body }: Reply) => ({
  ...headers,
  'content-length': Buffer.byteLength(body as string),
  connection: 'close',
})

/**
 * Whether what is written to a socket now would be taken for an answer to what just arrived, and not for part of a response that has begun or
 * for that to an earlier request (RFC 9112, sections 7.1 and 9.3).
 * @param last the response to the last request of the connection; undefined before the first
 */
function isFree(socket: Socket, last: ServerResponse | undefined): boolean {
  if (!last || last.writableFinished) return true
  // No socket: the response waits for an earlier one.
  if (last.socket !== socket) return false
  // An error in the body of the last request is an answer to that request.
  return last.writableEnded || (!last.headersSent && !last.req.complete)
}

/** Milliseconds for which a connection stays that has got its last answer, so that the client receives it, whatever it does with its own end. */
const LAST_ANSWER_MS = 2_000

/** Writes a reply to the socket, and closes it: malformed requests have no response object. */
function writeRaw(socket: Socket, reply: Reply): void {
  const { status, body } = reply
  const timer = setTimeout(() => socket.destroy(), LAST_ANSWER_MS)
  socket.once('close', () => clearTimeout(timer))
  const lines = Object.entries(lastHeaders(reply)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${reasons[status]}\r\n${lines.join('')}\r\n${body as string}`)
}

/**
 * A node:http server for a gateway or platform. Malformed HTTP, an invalid Host header and an oversized head are answered with the
 * API's error body and an X-Request-ID; where that would land in another response, the connection is closed without it.
 * @example createServer(gateway).listen(8787)
 */
export function createServer(servable: Servable, options: ServerOptions = {}): Server {
  const { listener = createListener(servable, options), maxHeaderSize = HEADER_LIMIT } = options
  /** The response to the last request of each connection. */
  const responses = new WeakMap<Socket, ServerResponse>()
  /** How many requests of a connection wait for the response to an earlier one. */
  const waiting = new WeakMap<Socket, number>()
  const answerRaw = (socket: Socket, error: ApiError): void => {
    if (isFree(socket, responses.get(socket))) writeRaw(socket, servable.refuse(error))
    else socket.destroy()
  }
  /**
   * Runs a request once that before it on the connection has been answered: responses that cannot be sent yet would only take memory. One behind an
   * answer that ends the connection is not run.
   */
  const inTurn: RequestListener = (request, response) => {
    const { socket } = request
    const last = responses.get(socket)
    responses.set(socket, response)
    // A response has the socket once it is its turn.
    const run = (): void => {
      if (response.socket === socket && socket.writable) checked(request, response)
    }
    if (response.socket === socket || !last) return run()
    const count = (waiting.get(socket) ?? 0) + 1
    if (count > PIPELINED) return void socket.destroy()
    waiting.set(socket, count)
    last.once('close', () => {
      waiting.set(socket, waiting.get(socket)! - 1)
      run()
    })
  }
  const checked: RequestListener = (request, response) => {
    if (hasHost(request)) return listener(request, response)
    const reply = servable.refuse(invalid('The Host header is missing, malformed or repeated'))
    response.writeHead(reply.status, lastHeaders(reply)).end(reply.body)
  }
  const server = createHttpServer({
    maxHeaderSize,
    requireHostHeader: false,
    headersTimeout: HEADERS_MS,
    // Node's default checks the time-out above every 30 s only.
    connectionsCheckingInterval: 5_000,
    // Node's default ends requests after 5 minutes, which a large upload may exceed. `bodyIdleMs` ends stalled ones.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  // Node's default drops the lines after the first 2,000, among them an X-Forwarded-For that a proxy appends. `maxHeaderSize` limits them all.
  server.maxHeadersCount = 0
  server.on('request', inTurn)
  server.on('checkExpectation', inTurn)
  // Node's default asks for the body at once. Asked for when it is first read, a body is not sent that the head is refused for.
  server.on('checkContinue', (request, response) => {
    const onListener = (event: string | symbol): void => {
      if (event !== 'data' && event !== 'readable') return
      request.off('newListener', onListener)
      if (!response.headersSent) response.writeContinue()
    }
    request.on('newListener', onListener)
    inTurn(request, response)
  })
  server.on('connect', (_, socket) => {
    // Node has taken its own listener away, and an error without one would end the process.
    socket.on('error', () => undefined)
    const message = 'This server is not a proxy'
    answerRaw(socket as Socket, new ApiError(405, 'method_not_allowed', message, { code: 'method_not_allowed' }))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else answerRaw(socket as Socket, describeParseError(error))
  })
  return server
}
