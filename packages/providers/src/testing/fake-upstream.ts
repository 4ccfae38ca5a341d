import type { Signal } from '@turnpike/core'
import type { Transport } from '../transport.js'

/** A request as a fake upstream saw it. */
export interface FakeRequest {
  method: string
  /** Path and query. */
  path: string
  /** Lower-case names. */
  headers: Record<string, string>
  /** The body as JSON; undefined where it is none. */
  body: unknown
}

/** A fake upstream's answer; an iterable is sent piece by piece. */
export interface FakeAnswer {
  status: number
  headers: Record<string, string>
  body: string | AsyncIterable<string>
}

/** A vendor's behaviour as a function. */
export type FakeVendor = (request: FakeRequest) => FakeAnswer

/** A vendor that can be called, and that remembers what it was asked. */
export interface FakeUpstream {
  /** All requests so far, oldest first. */
  readonly requests: FakeRequest[]
  /** Requests that are being answered right now. */
  readonly active: number
  /** Calls it in process, without a socket. */
  transport: Transport
  /** Serves it over HTTP on a free port of the loopback interface (Node, Bun). */
  listen(): Promise<{ url: string; close(): Promise<void> }>
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const utf8 = new TextEncoder()

/** Pieces until the signal aborts; the wait for a piece ends at once then. */
async function* until(signal: Signal, body: string | AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') {
    yield utf8.encode(body)
    return
  }
  const iterator = body[Symbol.asyncIterator]()
  let abort!: () => void
  const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason)))
  aborted.catch(() => undefined)
  signal.addEventListener('abort', abort)
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), aborted])
      if (done) return
      yield utf8.encode(value)
    }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Makes a vendor callable, by transport and by HTTP. */
export function fakeUpstream(vendor: FakeVendor): FakeUpstream {
  const requests: FakeRequest[] = []
  let active = 0

  const answer = (request: FakeRequest): FakeAnswer => {
    requests.push(request)
    return vendor(request)
  }

  /** Counts a request as active until its body is done or left, whether or not somebody reads it at that moment. */
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
    transport: async ({ url, method, headers, body, signal }) => {
      if (signal.aborted) throw signal.reason
      const { pathname, search } = new URL(url)
      const reply = answer({
        method,
        path: pathname + search,
        headers,
        body: parse((body as string | undefined) ?? ''),
      })
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
        response.on('close', () => left.abort(new DOMException('The client left', 'AbortError')))
        let text = ''
        for await (const piece of request.setEncoding('utf8')) text += piece
        const { method = 'GET', url: path = '/' } = request
        const reply = answer({ method, path, headers: request.headers as Record<string, string>, body: parse(text) })
        response.writeHead(reply.status, reply.headers)
        try {
          for await (const piece of counted(left.signal, until(left.signal, reply.body)))
            if (!response.write(piece))
              await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
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
