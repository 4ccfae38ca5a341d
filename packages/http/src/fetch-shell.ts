import { collect, cutShort, tooLarge, unstalled, within } from './body.js'
import { BODY_IDLE_MS } from './conventions.js'
import type { Exchange, Handler, Reply, ShellOptions } from './exchange.js'
import { clientIp } from './exchange.js'

/** What the host knows about a call besides its `Request`. */
export interface FetchCall {
  /** The peer's address; default ''. */
  ip?: string
}

const utf8 = new TextEncoder()

/** Bytes of a body per `bodyIdleMs` of its time-out. */
const PIECE = 256 * 1024

/** An async iterable as a web stream with backpressure. `cancel` first reports that the client disconnected, because a generator that is waiting cannot be returned. */
function toStream(body: AsyncIterable<string | Uint8Array>, leave: () => void): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? utf8.encode(value) : value)
      },
      async cancel() {
        leave()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Detects that the client disconnected: by the request's signal, or by the response being cancelled, which not every host reports by the signal. */
function clientOf(request: Request): { onLeave(listener: () => void): void; leave(): void } {
  const listeners: (() => void)[] = []
  let left = false
  const leave = (): void => {
    left = true
    for (const listener of listeners.splice(0)) listener()
  }
  return {
    onLeave(listener) {
      if (left || request.signal.aborted) listener()
      else if (listeners.push(listener) === 1) request.signal.addEventListener('abort', leave, { once: true })
    },
    leave,
  }
}

function toExchange(
  request: Request,
  call: FetchCall,
  client: ReturnType<typeof clientOf>,
  { trustedHops = 0, bodyIdleMs = BODY_IDLE_MS }: ShellOptions,
): Exchange {
  const { url, headers } = request
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const hash = url.indexOf('#', start)
  const end = hash === -1 ? url.length : hash
  const mark = url.indexOf('?', start)
  const stop = mark === -1 || mark > end ? end : mark
  const body = (): AsyncIterable<Uint8Array> => unstalled(request.body ?? nothing(), bodyIdleMs)
  return {
    method: request.method,
    path: url.slice(start, stop),
    query: url.slice(stop + 1, end),
    header: (name) => headers.get(name) ?? undefined,
    body,
    async bytes(limit) {
      const declared = headers.get('content-length')
      if (declared === null) return collect(body(), limit)
      if (Number(declared) > limit) throw tooLarge(limit)
      // A server enforces the declared length, and `arrayBuffer` costs less than reading piece by piece.
      const whole = request.arrayBuffer().catch((cause: unknown) => {
        throw cutShort(cause)
      })
      // It does not report progress, so the time-out is that of all pieces together.
      const bytes = await within(bodyIdleMs * (1 + Math.ceil(Number(declared) / PIECE)), whole)
      if (bytes.byteLength > limit) throw tooLarge(limit)
      return new Uint8Array(bytes)
    },
    onLeave: client.onLeave,
    ip: () => clientIp(call.ip, headers.get('x-forwarded-for') ?? undefined, trustedHops),
    optional: false,
  }
}

/** As `Response` takes them: of an array it would make one header. */
function toHeaders(headers: Reply['headers']): Headers | Record<string, string> {
  // Nearly no reply has one: no arrays are made to find out.
  for (const name in headers) if (typeof headers[name] === 'object') return severalOfAName(headers)
  return headers as Record<string, string>
}

function severalOfAName(headers: Reply['headers']): Headers {
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) all.append(name, one)
  return all
}

function toResponse(reply: Reply, leave: () => void): Response {
  const { status, body } = reply
  const headers = toHeaders(reply.headers)
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array)
    return new Response(body as string | undefined, { status, headers })
  return new Response(toStream(body, leave), { status, headers })
}

/** Serves web `Request`s: for Bun, Deno, workers, Hono, Next and tests. */
export function fetchShell(
  handle: Handler,
  options: ShellOptions = {},
): (request: Request, call?: FetchCall) => Promise<Response> {
  return async (request, call = {}) => {
    const client = clientOf(request)
    const reply = await handle(toExchange(request, call, client, options))
    return toResponse(reply!, client.leave)
  }
}
