import { tooLarge } from '../body/body.js'
import type { Exchange } from './exchange.js'

/** A request of this process to one of its own handlers. */
export interface LocalRequest {
  /** In upper case. */
  method: string
  /** The percent-encoded path, with the query where there is one: `/v1/models?provider=openai`. */
  path: string
  /** Default none. A handler that expects JSON takes a body without `content-type` for JSON. */
  headers?: Record<string, string>
  /** A text is sent as UTF-8; default empty. */
  body?: string | Uint8Array
  /** Aborted when nobody wants the reply any longer; use one signal per request. Default never. */
  signal?: AbortSignal
}

const utf8 = new TextEncoder()

/**
 * The exchange of a request that never was on the wire, for calling a {@link Handler} in the same process.
 * Its `ip()` is '', and its `origin()` `http://localhost`.
 * @throws TypeError for a header that is none
 * @example
 * const reply = await handle(localExchange({ method: 'GET', path: '/v1/models' }))
 */
export function localExchange({ method, path: target, headers, body = '', signal }: LocalRequest): Exchange {
  const mark = target.indexOf('?')
  const fields = new Headers(headers)
  /** Empty once it was read: the exchange lives as long as its reply is read. */
  let bytes = typeof body === 'string' ? utf8.encode(body) : body
  const taken = (): Uint8Array => {
    const all = bytes
    bytes = new Uint8Array()
    return all
  }
  return {
    method,
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    header: (name) => fields.get(name) ?? undefined,
    async *body() {
      if (bytes.length > 0) yield taken()
    },
    async bytes(limit) {
      if (bytes.length > limit) throw tooLarge(limit)
      return taken()
    },
    onDisconnect(listener) {
      if (signal?.aborted) listener()
      else signal?.addEventListener('abort', listener, { once: true })
    },
    ip: () => '',
    origin: () => 'http://localhost',
    optional: false,
  }
}
