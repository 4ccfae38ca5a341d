/** The transport for Node: undici without `fetch`, which costs several times as much there. @module */
import type { OnError, OnResult } from '@turnpike/core/internal'
import { microtask, Pieces } from '@turnpike/core/internal'
import type { Dispatcher } from 'undici'
import { Agent } from 'undici'
import { decoded } from './content-encoding.js'
import type { Transport, TransportResponse } from './transport.js'

/** Options of {@link undiciTransport}. */
export interface UndiciOptions {
  /** Milliseconds to connect in; default 10,000. Other time-outs are the caller's signals. */
  connectTimeout?: number
  /** Connections per origin; default no limit. */
  connections?: number
  /** Sends the requests in place of an agent of our own, such as a ProxyAgent. */
  dispatcher?: Dispatcher
}

/** Bytes that wait to be read before the socket is paused. */
const HIGH_WATER = 256 * 1024
/** Parsed URLs that are kept. */
const MAX_ADDRESSES = 1_000

/** A body as undici delivers it: pieces that arrive in one socket read are taken as one. */
function bodyQueue() {
  let pieces: Buffer[] = []
  let size = 0
  let paused = false
  let ended = false
  let failure: { error: unknown } | undefined
  /** Who waits for the next piece. */
  let onResult: OnResult<Uint8Array> | undefined
  let onError: OnError
  let controller: Dispatcher.DispatchController | undefined

  const take = (): Uint8Array => {
    const value = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size)
    pieces = []
    size = 0
    if (paused) {
      paused = false
      controller!.resume()
    }
    return value
  }

  /** Tells the reader what has come, if there is one. */
  const settle = (): void => {
    if (!onResult) return
    const tell = onResult
    onResult = undefined
    if (pieces.length > 0) tell({ done: false, value: take() })
    else if (failure) onError(failure.error)
    else tell({ done: true, value: undefined })
  }

  return {
    attach(to: Dispatcher.DispatchController): void {
      controller = to
    },
    push(piece: Buffer): void {
      // undici delivers all pieces of a read in one turn, so the microtask finds them together.
      if (pieces.length === 0 && onResult) microtask(settle)
      pieces.push(piece)
      size += piece.length
      if (size > HIGH_WATER && !paused) {
        paused = true
        controller!.pause()
      }
    },
    end(): void {
      ended = true
      microtask(settle)
    },
    fail(error: unknown): void {
      failure ??= { error }
      microtask(settle)
    },
    body: new Pieces<Uint8Array>(
      (toResult, toError) => {
        onResult = toResult
        onError = toError
        // Not at once: whoever reads on from its callback would make the stack deeper with each piece.
        if (pieces.length > 0 || failure || ended) microtask(settle)
      },
      () => {
        if (!ended && !failure) controller?.abort(new DOMException('The reader stopped', 'AbortError'))
      },
    ),
  }
}

/**
 * Sends through undici's dispatcher.
 * @example openai({ apiKey, transport: undiciTransport() })
 */
export function undiciTransport(options: UndiciOptions = {}): Transport {
  const { connectTimeout = 10_000, connections = null } = options
  const dispatcher =
    options.dispatcher ??
    new Agent({ connections, connect: { timeout: connectTimeout }, headersTimeout: 0, bodyTimeout: 0 })

  // The calls of a provider go to very few addresses, and parsing one costs more than looking it up.
  const addresses = new Map<string, { origin: string; path: string }>()
  const addressOf = (url: string): { origin: string; path: string } => {
    let address = addresses.get(url)
    if (!address) {
      const { origin, pathname, search } = new URL(url)
      if (addresses.size >= MAX_ADDRESSES) addresses.clear()
      addresses.set(url, (address = { origin, path: pathname + search }))
    }
    return address
  }

  return ({ url, method, headers, body, signal }) =>
    new Promise<TransportResponse>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      const { origin, path } = addressOf(url)
      const queue = bodyQueue()
      let controller: Dispatcher.DispatchController | undefined
      const abort = (): void => {
        reject(signal.reason)
        queue.fail(signal.reason)
        controller?.abort(signal.reason as Error)
      }
      const done = (): void => signal.removeEventListener('abort', abort)
      signal.addEventListener('abort', abort)
      dispatcher.dispatch(
        // Any iterable is taken (the types tell only of Readable), and read as fast as the socket takes it.
        { origin, path, method, headers, body: (body ?? null) as string | null },
        {
          onRequestStart(started) {
            controller = started
            queue.attach(started)
            if (signal.aborted) started.abort(signal.reason as Error)
          },
          onResponseStart(_, status, head) {
            const header = (name: string): string | undefined => {
              const value = head[name]
              return typeof value === 'object' ? value.join(', ') : value
            }
            const response = { status, header, body: queue.body }
            const encoding = header('content-encoding')
            resolve(encoding === undefined ? response : decoded(response, encoding, signal))
          },
          onResponseData: (_, piece) => queue.push(piece),
          onResponseEnd() {
            done()
            queue.end()
          },
          onResponseError(_, error) {
            done()
            reject(error)
            queue.fail(error)
          },
        },
      )
    })
}
