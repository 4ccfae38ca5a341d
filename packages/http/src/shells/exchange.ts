import type { ApiError, Memory } from '@turnpike/core'
import { parseUrl } from '@turnpike/core/helpers'

/** One HTTP request as the handler kit sees it, whatever runtime it came from. Made per request, so it has no getters (docs/decisions/008). */
export interface Exchange {
  /** In upper case. */
  readonly method: string
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string
  /** The query without `?`; '' where there is none. */
  readonly query: string
  /** A request header by its lower-case name. */
  header(name: string): string | undefined
  /** The request body; can be read once. */
  body(): AsyncIterable<Uint8Array>
  /**
   * The whole body; not a promise where it is there already.
   * @param memory what the body is taken from, if it is waited for
   * @throws ApiError 413 over `limit` bytes, before the rest has been read; 400 where the body was cut short
   */
  bytes(limit: number, memory?: Memory): Uint8Array | Promise<Uint8Array>
  /** Registers a listener for the client disconnecting before it has the whole reply; called at once if it already has. */
  onDisconnect(listener: () => void): void
  /** The client's address, past as many proxies as the shell was told to trust; '' where unknown. */
  ip(): string
  /** The scheme and host that the client called, such as `https://api.example`, by `Host` and, of trusted proxies, X-Forwarded-Proto. */
  origin(): string
  /** True where the host handles paths that no route matches; the handler then returns null for them. */
  readonly optional: boolean
}

/** What the handler kit answers. An async iterable is sent chunk by chunk as the client reads. */
export interface Reply {
  status: number
  /** Lower-case names; several values of a name are several headers. */
  headers: Record<string, string | string[]>
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
}

/** Answers every exchange; null only where `exchange.optional` and no route matches. Never rejects. */
export type Handler = (exchange: Exchange) => Promise<Reply | null>

/** What a shell serves: a gateway or a platform. */
export interface Servable {
  /** The neutral handler under all shells. */
  handle: Handler
  /** Makes the error reply for input that never became a request, such as malformed HTTP. */
  refuse(error: ApiError): Reply
}

/** Options of the shells. */
export interface ShellOptions {
  /** Proxies in front of this process whose X-Forwarded-For and X-Forwarded-Proto are believed, counted from the right; read with each request. Default 0. */
  trustedHops?: number
  /** Milliseconds that a request body may fall behind `bodyBytesPerS`, and so the longest pause, before it is refused with 408; default 30,000. */
  bodyIdleMs?: number
  /** Bytes a second that a request body has to arrive at; default 500. */
  bodyBytesPerS?: number
  /**
   * Milliseconds for which a client may take nothing of its answer, while there is something to take, before its connection is closed; default
   * 60,000. It then counts as a client that disconnected. The kernel's buffers count as taken.
   */
  answerIdleMs?: number
}

/** What the nearest `hops` proxies report; undefined without them. Never the leftmost value: a client can write that itself. */
function reported(list: string | undefined, hops: number): string | undefined {
  if (hops === 0 || !list) return undefined
  const chain = list.split(',').map((value) => value.trim())
  return chain[Math.max(0, chain.length - hops)]
}

/** The address that the nearest `hops` proxies report, or the peer's own. */
export const clientIp = (peer: string | undefined, forwardedFor: string | undefined, hops: number): string =>
  reported(forwardedFor, hops) ?? peer ?? ''

/** The origin of a request that came over `scheme`, as `Host` and the nearest `hops` proxies report it; `http://localhost` without a valid host. */
export function originOf(scheme: string, header: (name: string) => string | undefined, hops: number): string {
  const isHttps = (reported(header('x-forwarded-proto'), hops) ?? scheme).toLowerCase() === 'https'
  const url = `${isHttps ? 'https' : 'http'}://${header('host') ?? ''}`
  return parseUrl(url)?.origin ?? 'http://localhost'
}
