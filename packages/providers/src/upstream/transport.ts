import type { Memory, Signal } from '@turnpike/core'
import { follow, Pieces } from '@turnpike/core/helpers'

/** A request to a transport. Adapters never call `fetch` themselves. */
export interface TransportRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  /** A string, or a stream that is sent with backpressure. */
  body?: string | ReadableStream<Uint8Array> | undefined
  /** If aborted, the connection is closed, before or during the response. */
  signal: Signal
  /** What the bytes of the answer are taken from that a transport keeps while it decodes; absent = they are not counted. */
  memory?: Memory | undefined
}

/** The response of a {@link Transport}, available once its head has arrived. */
export interface TransportResponse {
  status: number
  /** A response header by its lower-case name. `content-encoding` is present only if the transport could not decode the body. */
  header(name: string): string | undefined
  /**
   * The decoded body, one chunk per read. Ending the iteration early closes the connection.
   * A {@link Pieces} is cheaper to read than other iterables.
   */
  body: AsyncIterable<Uint8Array>
  /** Reads the whole body as text instead of `body`; present if that is cheaper on the runtime. */
  text?(): Promise<string>
}

/** Hides `content-encoding` and `content-length`, which do not apply to a decoded body. */
export const withoutEncoding =
  (header: TransportResponse['header']): TransportResponse['header'] =>
  (name) =>
    /^content-(encoding|length)$/.test(name) ? undefined : header(name)

/** Closes the connection of a response whose body is not read. */
export const dismiss = ({ body }: TransportResponse): void => void body[Symbol.asyncIterator]().return?.()

/** Sends one request and resolves with the head of its response. Redirects are returned and not followed. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>

/**
 * Creates a transport for any runtime with `fetch`.
 * @param options.fetch default `globalThis.fetch`
 * @example const provider = openai({ apiKey, transport: fetchTransport({ fetch: proxied }) })
 */
export function fetchTransport(options: { fetch?: typeof globalThis.fetch } = {}): Transport {
  const send = options.fetch ?? globalThis.fetch
  return async ({ url, method, headers, body, signal }) => {
    // On Bun, cancelling the body leaves the socket open; aborting the request closes it on all runtimes.
    const { controller, dispose } = follow(signal)
    // `fetch` rejects a stream body without `duplex`.
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers,
      body: body ?? null,
      signal: controller.signal,
      redirect: 'manual',
      duplex: 'half',
    }
    const response = await send(url, init).catch((error: unknown) => {
      dispose()
      throw error
    })
    const header: TransportResponse['header'] = (name) => response.headers.get(name) ?? undefined
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    return {
      status: response.status,
      // The encodings that every `fetch` decodes: Bun's does not decode combinations, and Node's other encodings depend on its version.
      header: /^((x-)?gzip|deflate|br)$/i.test(header('content-encoding') ?? '') ? withoutEncoding(header) : header,
      text: () => response.text().finally(dispose),
      body: new Pieces<Uint8Array>(
        (onResult, onError) => {
          reader ??= response.body?.getReader()
          void Promise.resolve(reader?.read() ?? { done: true, value: undefined }).then((result) => {
            if (result.done) dispose()
            // Only BYOB readers end with a value.
            onResult(result as IteratorResult<Uint8Array, undefined>)
          }, onError)
        },
        () => {
          dispose()
          controller.abort()
        },
      ),
    }
  }
}
