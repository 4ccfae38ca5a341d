/** An HTTP server for Node that answers bad HTTP as well as the handler answers good HTTP. @module */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@turnpike/core'
import { tooSlow } from './body.js'
import type { Reply, Servable, ShellOptions } from './exchange.js'
import { nodeShell } from './node-shell.js'

/** Options of {@link createServer}. */
export interface ServerOptions extends ShellOptions {
  /** Who answers well-formed requests; default {@link createListener} over the same handler. */
  listener?: RequestListener
  /** Largest request head in bytes; default 16,384. */
  maxHeaderSize?: number
}

/** The plain listener for node:http: the fastest way in on Node. */
export function createListener({ handle }: Servable, options: ShellOptions = {}): RequestListener {
  const shell = nodeShell(handle, options)
  return (request: IncomingMessage, response: ServerResponse) => void shell(request, response)
}

const badRequest = (message: string): ApiError =>
  new ApiError(400, 'invalid_request_error', message, { code: 'invalid_body' })

/** RFC 9110, section 7.2: a name or address and a port, nothing else. */
const hostPattern = /^(\[[0-9a-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d*)?$/i

/** Whether a request says once for whom it is (RFC 9112, section 3.2): of two hosts, a proxy in front may have believed the other. */
function hasHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let host: string | undefined
  // Names and values take turns; node:http's own `headers` keeps the first of two.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return false
    host = rawHeaders[i + 1]!
  }
  return host === undefined ? httpVersion === '1.0' : hostPattern.test(host)
}

/** What the HTTP parser's complaint is to the client. */
function describeParseError(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new ApiError(431, 'invalid_request_error', 'The request headers are too large', {
      code: 'request_too_large',
    })
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow()
  return badRequest('The request is not valid HTTP')
}

const reasons: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** The headers of a reply that is the last one on its connection. */
const lastHeaders = ({ headers, body }: Reply) => ({
  ...headers,
  'content-length': Buffer.byteLength(body as string),
  connection: 'close',
})

/** Writes a reply to a bare socket: there is no response object for what never became a request. */
function writeRaw(socket: Socket, reply: Reply): void {
  const { status, body } = reply
  const lines = Object.entries(lastHeaders(reply)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${reasons[status]}\r\n${lines.join('')}\r\n${body as string}`)
}

/**
 * A node:http server around a gateway or platform: malformed HTTP, a missing or malformed Host and an oversized head
 * get the surface's own error body and an X-Request-ID.
 * @example createServer(gateway).listen(8787)
 */
export function createServer(servable: Servable, options: ServerOptions = {}): Server {
  const { listener = createListener(servable, options), maxHeaderSize = 16_384 } = options
  const checked: RequestListener = (request, response) => {
    if (hasHost(request)) return listener(request, response)
    const reply = servable.refuse(badRequest('The Host header is missing, malformed or doubled'))
    response.writeHead(reply.status, lastHeaders(reply)).end(reply.body)
  }
  const server = createHttpServer({
    maxHeaderSize,
    requireHostHeader: false,
    headersTimeout: 20_000,
    // Node ends a request whose body takes over 5 minutes; an upload may, and one that stands still is ended by `bodyIdleMs`.
    requestTimeout: 0,
    // Node closes idle connections after 5 s by default; proxies in front keep theirs for about a minute.
    keepAliveTimeout: 65_000,
  })
  server.on('request', checked)
  server.on('checkExpectation', checked)
  server.on('connect', (_, socket) => {
    const message = 'This server is no proxy'
    writeRaw(
      socket as Socket,
      servable.refuse(new ApiError(405, 'method_not_allowed', message, { code: 'method_not_allowed' })),
    )
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else writeRaw(socket as Socket, servable.refuse(describeParseError(error)))
  })
  return server
}
