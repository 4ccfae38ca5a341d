import type { Signal } from '@turnpike/core'
import { Pieces } from '@turnpike/core/internal'

/** How bytes leave: adapters never call `fetch` themselves. */
export interface TransportRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  /** Pieces go out as the upstream takes them. */
  body?: string | ReadableStream<Uint8Array>
  /** Aborting it closes the connection, before the answer and during it. */
  signal: Signal
}

/** What a {@link Transport} resolves with, as soon as the head of the answer is there. */
export interface TransportResponse {
  status: number
  /** A response header by its lower-case name. `content-encoding` is what the transport could not decode. */
  header(name: string): string | undefined
  /**
   * The body as it arrives, decoded, what came in one read as one piece. Returning its iterator early closes the connection.
   * A {@link Pieces} is read for less than other iterables.
   */
  body: AsyncIterable<Uint8Array>
  /** The whole body as text, in place of `body`, where the runtime can give it for less than piece by piece. */
  text?(): Promise<string>
}

/** The headers of an answer whose body was decoded: those of the body as it came are left out. */
export const withoutEncoding =
  (header: TransportResponse['header']): TransportResponse['header'] =>
  (name) =>
    /^content-(encoding|length)$/.test(name) ? undefined : header(name)

/** Sends one request and resolves with the head of its answer; redirects are answers, not followed. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>

/**
 * The transport of every runtime that has `fetch`.
 * @param options.fetch default `globalThis.fetch`
 */
export function fetchTransport(options: { fetch?: typeof globalThis.fetch } = {}): Transport {
  const send = options.fetch ?? globalThis.fetch
  return async ({ url, method, headers, body, signal }) => {
    // Cancelling the body alone leaves the socket open on Bun; aborting the request closes it everywhere.
    const controller = new AbortController()
    const abort = (): void => controller.abort(signal.reason)
    const letGo = (): void => signal.removeEventListener('abort', abort)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    // Without `duplex`, a stream is refused.
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers,
      body: body ?? null,
      signal: controller.signal,
      redirect: 'manual',
      duplex: 'half',
    }
    const response = await send(url, init).catch((error: unknown) => {
      letGo()
      throw error
    })
    const header: TransportResponse['header'] = (name) => response.headers.get(name) ?? undefined
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    return {
      status: response.status,
      // What every `fetch` decodes: Bun's does not decode several encodings, and Node's other ones not everywhere.
      header: /^((x-)?gzip|deflate|br)$/i.test(header('content-encoding') ?? '') ? withoutEncoding(header) : header,
      text: () => response.text().finally(letGo),
      body: new Pieces<Uint8Array>(
        (onResult, onError) => {
          reader ??= response.body?.getReader()
          void Promise.resolve(reader?.read() ?? { done: true, value: undefined }).then((result) => {
            if (result.done) letGo()
            // Only a reader that is given a buffer ends with a value.
            onResult(result as IteratorResult<Uint8Array, undefined>)
          }, onError)
        },
        () => {
          letGo()
          controller.abort()
        },
      ),
    }
  }
}
