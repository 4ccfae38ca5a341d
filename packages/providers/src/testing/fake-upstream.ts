import type { Signal } from '@turnpike/core'
import { concat } from '@turnpike/core/helpers'
import { parseJson } from '../upstream/json.js'
import type { Transport } from '../upstream/transport.js'

/** A request received by a fake upstream. */
export interface FakeRequest {
  method: string
  /** Path and query. */
  path: string
  /** Lower-case names. */
  headers: Record<string, string>
  /** The parsed JSON body; undefined if it is not JSON. */
  body: unknown
  /** The raw body. */
  bytes: Uint8Array
}

type Piece = string | Uint8Array

/** A response of a fake upstream; an iterable body is streamed. */
export interface FakeAnswer {
  status: number
  headers: Record<string, string>
  body: Piece | AsyncIterable<Piece>
}

/** A vendor's behaviour as a function. */
export type FakeVendor = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>

/** Options of a fake of a vendor. */
export interface FakeOptions {
  /** The only accepted API key; default any. */
  apiKey?: string
  /** Milliseconds before each event of a stream; default 0, and all events arrive at once. */
  delayMs?: number
  /** Number of recent requests to keep in `requests`; default all. */
  remember?: number
  /** Overrides the response to a request, for example with a fault; default never. */
  override?: (request: FakeRequest) => FakeAnswer | undefined
}

/** A callable fake of a vendor that records its requests. */
export interface FakeUpstream {
  /** The requests so far, oldest first. */
  readonly requests: FakeRequest[]
  /** Number of requests in progress. */
  readonly active: number
  /** Calls it in process, without a socket. */
  transport: Transport
  /** Serves it over HTTP on a free port of the loopback interface (Node, Bun). */
  listen(): Promise<{ url: string; close(): Promise<void> }>
}

const utf8 = new TextEncoder()

const toBytes = (piece: Piece): Uint8Array => (typeof piece === 'string' ? utf8.encode(piece) : piece)

/** Yields pieces until the signal is aborted; then it stops at once, even while waiting, and closes the source. */
async function* until(signal: Signal, body: Piece | AsyncIterable<Piece>): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    yield toBytes(body)
    return
  }
  const iterator = body[Symbol.asyncIterator]()
  let abort!: () => void
  const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason)))
  aborted.catch(() => undefined)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted])
      if (done) return
      yield toBytes(value)
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // Not awaited: a source that hangs would never settle.
    iterator.return?.().catch(() => undefined)
  }
}

/** The pieces of a stream. Unlike with its own iterator, returning early cancels it even during a pending read. */
function piecesOf(stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = stream.getReader()
  const iterator: AsyncIterator<Uint8Array> = {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
    return: async () => {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** Concatenates all pieces. */
async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    all.push(piece)
    size += piece.length
  }
  return concat(all, size)
}

/**
 * Makes a vendor callable through a transport and over HTTP.
 * @example const upstream = fakeUpstream(vendor, { remember: 10 })
 */
export function fakeUpstream(
  vendor: FakeVendor,
  { remember = Infinity, override }: Pick<FakeOptions, 'remember' | 'override'> = {},
): FakeUpstream {
  const requests: FakeRequest[] = []
  let active = 0

  const answer = (head: Omit<FakeRequest, 'body' | 'bytes'>, bytes: Uint8Array): FakeAnswer | Promise<FakeAnswer> => {
    const request = { ...head, body: parseJson(new TextDecoder().decode(bytes)), bytes }
    requests.push(request)
    if (requests.length > remember) requests.shift()
    return override?.(request) ?? vendor(request)
  }

  /** Counts a request as active until its body has ended or was cancelled, even while nobody reads it. */
  async function* counted(signal: Signal, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let counts = true
    const leave = (): void => {
      if (counts) active--
      counts = false
    }
    active++
    signal.addEventListener('abort', leave)
    try {
      yield* pieces
    } finally {
      leave()
      signal.removeEventListener('abort', leave)
    }
  }

  return {
    requests,
    get active() {
      return active
    },
    transport: async ({ url, method, headers, body = '', signal }) => {
      if (signal.aborted) throw signal.reason
      const { pathname, search } = new URL(url)
      const bytes = await joined(until(signal, typeof body === 'string' ? body : piecesOf(body)))
      const reply = await answer({ method, path: pathname + search, headers }, bytes)
      if (signal.aborted) throw signal.reason
      return {
        status: reply.status,
        header: (name) => reply.headers[name],
        body: counted(signal, until(signal, reply.body)),
      }
    },
    async listen() {
      const { createServer } = await import('node:http')
      const server = createServer(async (request, response) => {
        const left = new AbortController()
        let goOn = (): void => undefined
        response
          .on('drain', () => goOn())
          .on('close', () => {
            left.abort(new DOMException('The client left', 'AbortError'))
            goOn()
          })
        const bytes = await joined(request).catch(() => undefined)
        // The client left.
        if (!bytes) return
        const { method = 'GET', url: path = '/' } = request
        const reply = await answer({ method, path, headers: request.headers as Record<string, string> }, bytes)
        response.writeHead(reply.status, reply.headers)
        try {
          for await (const piece of counted(left.signal, until(left.signal, reply.body)))
            if (!response.write(piece) && !left.signal.aborted) await new Promise<void>((resolve) => (goOn = resolve))
        } catch {
          // The client left.
        }
        response.end()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as { port: number }
      return {
        url: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeAllConnections()
          }),
      }
    },
  }
}
