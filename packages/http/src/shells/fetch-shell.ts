import type { Pace } from '../body/body.js'
import { collect, cutShort, paced, paceOf, tooLarge, within } from '../body/body.js'
import type { Exchange, Handler, Reply, ShellOptions } from './exchange.js'
import { clientIp, originOf } from './exchange.js'
import type { Client } from './web-stream.js'
import { webStream } from './web-stream.js'
import { ANSWER_IDLE_MS, BODY_COST, KEEP_ALIVE_MS, STREAM_IDLE_S } from '../conventions.js'

/** What the host knows about a call besides its `Request`. */
export interface FetchCall {
  /** The peer's address; default ''. */
  ip?: string
  /** Sets for how many seconds the host keeps the connection while nothing moves on it; called once per answer. Default nothing is set. */
  setIdleTimeout?: (seconds: number) => void
}

/** What is used of the server that Bun hands to a `fetch` handler as its second argument. */
export interface BunServer {
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

const callOf = (request: Request, host: FetchCall | BunServer): FetchCall =>
  'requestIP' in host
    ? {
        ip: host.requestIP(request)?.address ?? '',
        setIdleTimeout: (seconds) => host.timeout(request, seconds),
      }
    : host

/** Bodies of up to so many bytes are read in one call, which costs less, but reports no progress. Answers of up to so many fit into the kernel's buffers. */
const SMALL = 64 * 1024

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** Detects client disconnects: by the request's signal and by the cancellation of the response, because some hosts only do the latter. */
function clientOf(request: Request): Client {
  const listeners: (() => void)[] = []
  let disconnected = false
  const disconnect = (): void => {
    disconnected = true
    for (const listener of listeners.splice(0)) listener()
  }
  return {
    onDisconnect(listener) {
      if (disconnected || request.signal.aborted) listener()
      else if (listeners.push(listener) === 1) request.signal.addEventListener('abort', disconnect, { once: true })
    },
    disconnect,
  }
}

function toExchange(request: Request, call: FetchCall, client: Client, trustedHops: number, pace: Pace): Exchange {
  const { url, headers } = request
  // Of a request without a Host (HTTP/1.0), Bun tells only the path.
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const hash = url.indexOf('#', start)
  const end = hash === -1 ? url.length : hash
  const mark = url.indexOf('?', start)
  const stop = mark === -1 || mark > end ? end : mark
  const body = (): AsyncIterable<Uint8Array> => paced(request.body ?? emptyBody(), pace)
  const header = (name: string): string | undefined => headers.get(name) ?? undefined
  return {
    method: request.method,
    path: url.slice(start, stop),
    query: url.slice(stop + 1, end),
    header,
    body,
    async bytes(limit, memory) {
      const declared = Number(headers.get('content-length') ?? NaN)
      if (declared > limit) throw tooLarge(limit)
      memory?.take(BODY_COST)
      // A server enforces the declared length.
      if (!(declared >= 0 && declared <= SMALL)) return collect(body(), limit, memory)
      memory?.take(declared)
      const whole = request.arrayBuffer().catch((cause: unknown) => {
        throw cutShort(cause)
      })
      const bytes = await within(pace.idleMs + (declared * 1000) / pace.bytesPerS, whole)
      if (bytes.byteLength > limit) throw tooLarge(limit)
      return new Uint8Array(bytes)
    },
    onDisconnect: client.onDisconnect,
    ip: () => clientIp(call.ip, header('x-forwarded-for'), trustedHops),
    // A `Request` that was made by hand has no Host.
    origin: () =>
      originOf(
        url.slice(0, url.indexOf(':')),
        (name) => header(name) ?? (name === 'host' ? url.slice(url.indexOf('//') + 2, start) : undefined),
        trustedHops,
      ),
    optional: false,
  }
}

/** Converts headers for `Response`, which would join the values of an array into one header. */
function toHeaders(headers: Reply['headers']): Headers | Record<string, string> {
  // The common case has no arrays; this check does not allocate.
  for (const name in headers) if (typeof headers[name] === 'object') return appendAll(headers)
  return headers as Record<string, string>
}

function appendAll(headers: Reply['headers']): Headers {
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) all.append(name, one)
  return all
}

function toResponse(reply: Reply, { setIdleTimeout }: FetchCall, client: Client, answerIdleMs: number): Response {
  const { status, body } = reply
  const headers = toHeaders(reply.headers)
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    setIdleTimeout?.(STREAM_IDLE_S)
    return new Response(webStream(body, client, answerIdleMs), { status, headers })
  }
  setIdleTimeout?.(Math.ceil((body && body.length > SMALL ? answerIdleMs : KEEP_ALIVE_MS) / 1_000))
  return new Response(body as string | undefined, { status, headers })
}

/**
 * Serves web `Request`s: for Bun, Deno, workers, Hono, Next and tests.
 * @example Bun.serve({ fetch: fetchShell(servable.handle), idleTimeout: 0 })
 */
export function fetchShell(
  handle: Handler,
  options: ShellOptions = {},
): (request: Request, host?: FetchCall | BunServer) => Promise<Response> {
  const { answerIdleMs = ANSWER_IDLE_MS } = options
  const pace = paceOf(options)
  return async (request, host = {}) => {
    const call = callOf(request, host)
    const client = clientOf(request)
    const reply = await handle(toExchange(request, call, client, options.trustedHops ?? 0, pace))
    return toResponse(reply!, call, client, answerIdleMs)
  }
}
