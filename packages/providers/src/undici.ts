/** The transport for Node: undici without `fetch`, which costs several times as much there. @module */
import type { Signal } from '@turnpike/core'
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

/**
 * One call as undici tells of it, and the body of its answer, in which the pieces of one socket read are taken as one. A class, because
 * a call makes no function for each of its methods then.
 */
class Call implements Dispatcher.DispatchHandler {
  #pieces: Buffer[] = []
  #size = 0
  #paused = false
  #ended = false
  /** Whether a call of the reader's callback is scheduled. */
  #woken = false
  #failure: { error: unknown } | undefined
  /** The pending read's callback. */
  #onResult: OnResult<Uint8Array> | undefined
  #onError: OnError | undefined
  #controller: Dispatcher.DispatchController | undefined
  readonly #abort: () => void
  readonly #settle: () => void

  constructor(
    private readonly signal: Signal,
    private readonly resolve: (response: TransportResponse) => void,
    private readonly reject: OnError,
  ) {
    this.#abort = () => {
      this.#fail(signal.reason)
      this.#controller?.abort(signal.reason as Error)
    }
    this.#settle = () => this.#tell()
    signal.addEventListener('abort', this.#abort)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.signal.aborted) controller.abort(this.signal.reason as Error)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    head: Record<string, string | string[] | undefined>,
  ): void {
    const header = (name: string): string | undefined => {
      const value = head[name]
      return typeof value === 'object' ? value.join(', ') : value
    }
    const body = new Pieces<Uint8Array>(
      (onResult, onError) => this.#read(onResult, onError),
      () => this.#stop(),
    )
    const response = { status, header, body }
    const encoding = header('content-encoding')
    this.resolve(encoding === undefined ? response : decoded(response, encoding, this.signal))
  }

  onResponseData(_: Dispatcher.DispatchController, piece: Buffer): void {
    // Nearly always there is one, and an array that grows is given room for 17.
    if (this.#size === 0) this.#pieces = [piece]
    else this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size > HIGH_WATER && !this.#paused) {
      this.#paused = true
      this.#controller!.pause()
    }
    this.#wake()
  }

  onResponseEnd(): void {
    this.signal.removeEventListener('abort', this.#abort)
    this.#ended = true
    this.#wake()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.signal.removeEventListener('abort', this.#abort)
    this.#fail(error)
  }

  #fail(error: unknown): void {
    this.reject(error)
    this.#failure ??= { error }
    this.#wake()
  }

  #read(onResult: OnResult<Uint8Array>, onError: OnError): void {
    this.#onResult = onResult
    this.#onError = onError
    if (this.#pieces.length > 0 || this.#failure || this.#ended) this.#wake()
  }

  #stop(): void {
    if (!this.#ended && !this.#failure) this.#controller?.abort(new DOMException('The reader stopped', 'AbortError'))
  }

  /**
   * Tells the reader, if there is one, a moment later: undici delivers all pieces of a read in one turn, so that they are found together,
   * and whoever reads on from its callback does not make the stack deeper with each piece.
   */
  #wake(): void {
    if (!this.#onResult || this.#woken) return
    this.#woken = true
    microtask(this.#settle)
  }

  #tell(): void {
    this.#woken = false
    const onResult = this.#onResult!
    this.#onResult = undefined
    if (this.#pieces.length > 0) onResult({ done: false, value: this.#take() })
    else if (this.#failure) this.#onError!(this.#failure.error)
    else onResult({ done: true, value: undefined })
  }

  #take(): Uint8Array {
    const value = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#size)
    this.#pieces = []
    this.#size = 0
    if (this.#paused) {
      this.#paused = false
      this.#controller!.resume()
    }
    return value
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
      dispatcher.dispatch(
        // Any iterable is taken (the types tell only of Readable), and read as fast as the socket takes it.
        { origin, path, method, headers, body: (body ?? null) as string | null },
        new Call(signal, resolve, reject),
      )
    })
}
