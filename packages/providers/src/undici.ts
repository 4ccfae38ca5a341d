/** The transport for Node. It uses undici's dispatcher, because `fetch` costs several times as much CPU there. @module */
import type { Memory, Signal } from '@turnpike/core'
import type { OnError, OnResult } from '@turnpike/core/helpers'
import { inSmallPieces, microtask, Pieces } from '@turnpike/core/helpers'
import type { Dispatcher } from 'undici'
import { Agent, buildConnector } from 'undici'
import { decoded } from './upstream/content-encoding.js'
import { UNCOUNTED } from './upstream/kept.js'
import type { Transport, TransportResponse } from './upstream/transport.js'

/** Options of {@link undiciTransport}. */
export interface UndiciOptions {
  /** Time-out for connecting, in milliseconds; default 10,000. All other time-outs are up to the caller's signals. */
  connectTimeout?: number
  /** Most connections per origin; default unlimited. */
  connections?: number
  /** The dispatcher to use, such as a ProxyAgent; default a new {@link undiciAgent}, to which the other options apply. */
  dispatcher?: Dispatcher
}

/** Most entries of the cache of parsed URLs. */
const MAX_ADDRESSES = 1_000
/** Heads that may come before that of the answer, such as 103 Early Hints: some send one or two, and endless ones would be parsed all the time. */
const MAX_EARLY_HEADS = 20
/** What a byte of a compressed body counts as: each token of a stream that is flushed is some 11 bytes of gzip or Brotli, and 190 of text. */
const DECODED_BYTES = 8
/** Pieces of a body that are kept until they are read: one of a byte takes more than a hundred bytes of memory. */
const MAX_PIECES = 256

/**
 * Handles the events of one request and buffers the response body. Chunks of the same socket read are merged into one. It is a class so
 * that a request does not allocate a closure per method.
 */
class Call implements Dispatcher.DispatchHandler {
  #chunks: Buffer[] = []
  #size = 0
  #paused = false
  #ended = false
  #earlyHeads = 0
  /** Pieces of the body so far, and about how many bytes they are once they are decoded. */
  #pieces = 0
  #received = 0
  #isEncoded = false
  /** Whether `#deliver` is scheduled. */
  #scheduled = false
  #failure: { error: unknown } | undefined
  /** The pending read's callback. */
  #onResult: OnResult<Uint8Array> | undefined
  #onError: OnError | undefined
  #controller: Dispatcher.DispatchController | undefined
  readonly #abort: () => void
  readonly #onMicrotask: () => void

  constructor(
    private readonly signal: Signal,
    private readonly resolve: (response: TransportResponse) => void,
    private readonly reject: OnError,
    private readonly memory: Memory | undefined,
  ) {
    this.#abort = () => {
      this.#fail(signal.reason)
      this.#controller?.abort(signal.reason as Error)
    }
    this.#onMicrotask = () => this.#deliver()
    signal.addEventListener('abort', this.#abort)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.signal.aborted) controller.abort(this.signal.reason as Error)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    head: Record<string, string | string[] | undefined>,
  ): void {
    // Not the response yet, such as 103 Early Hints (RFC 9110, section 15.2).
    if (status < 200) {
      if (++this.#earlyHeads > MAX_EARLY_HEADS)
        controller.abort(new Error('The upstream sends heads without an answer'))
      return
    }
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
    this.#isEncoded = encoding !== undefined
    this.resolve(encoding === undefined ? response : decoded(response, encoding, this.signal, this.memory))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length * (this.#isEncoded ? DECODED_BYTES : 1)
    if (inSmallPieces(++this.#pieces, this.#received))
      return controller.abort(new Error('The upstream sends its answer in too many small pieces'))
    // There is usually one chunk, and `push` would allocate a capacity of 17.
    if (this.#size === 0) this.#chunks = [chunk]
    else this.#chunks.push(chunk)
    this.#size += chunk.length
    // Of what nobody reads, no more comes than an answer may keep uncounted.
    if ((this.#size > UNCOUNTED || this.#chunks.length > MAX_PIECES) && !this.#paused) {
      this.#paused = true
      this.#controller!.pause()
    }
    this.#schedule()
  }

  onResponseEnd(): void {
    this.signal.removeEventListener('abort', this.#abort)
    this.#ended = true
    this.#schedule()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.signal.removeEventListener('abort', this.#abort)
    this.#fail(error)
  }

  #fail(error: unknown): void {
    this.reject(error)
    this.#failure ??= { error }
    this.#schedule()
  }

  #read(onResult: OnResult<Uint8Array>, onError: OnError): void {
    this.#onResult = onResult
    this.#onError = onError
    if (this.#chunks.length > 0 || this.#failure || this.#ended) this.#schedule()
  }

  #stop(): void {
    if (!this.#ended && !this.#failure)
      this.#controller?.abort(new DOMException('The body was not read to its end', 'AbortError'))
  }

  /**
   * Schedules the delivery to a pending read. It is deferred to a microtask because undici delivers all chunks of a socket read in one
   * turn, so that they can be merged, and so that a callback that reads again does not recurse.
   */
  #schedule(): void {
    if (!this.#onResult || this.#scheduled) return
    this.#scheduled = true
    microtask(this.#onMicrotask)
  }

  #deliver(): void {
    this.#scheduled = false
    const onResult = this.#onResult!
    this.#onResult = undefined
    if (this.#chunks.length > 0) onResult({ done: false, value: this.#take() })
    else if (this.#failure) this.#onError!(this.#failure.error)
    else onResult({ done: true, value: undefined })
  }

  #take(): Uint8Array {
    const value = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#size)
    this.#chunks = []
    this.#size = 0
    if (this.#paused) {
      this.#paused = false
      this.#controller!.resume()
    }
    return value
  }
}

type Socket = Extract<Parameters<buildConnector.Callback>, [null, unknown]>[1]

/** The parser of a connection of undici. */
interface Parser {
  paused: boolean
  readonly ptr: number
  readonly llhttp: { llhttp_resume(ptr: number): void }
  resume(): void
}

/**
 * Lets a paused response end with its connection. undici 7 throws there, outside of every call, which ends the process (nodejs/undici#5360); 8, which
 * needs Node 22, is mended.
 */
function endPaused(socket: Socket): void {
  const parser = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const held = parser && (socket as unknown as Record<symbol, Parser | null>)[parser]
  if (!held?.paused) return
  if (!socket.destroyed) {
    held.resume()
    // A response that ends with its connection: all of it was given to the call.
    if (held.paused) held.llhttp.llhttp_resume(held.ptr)
  }
  held.paused = false
}

/**
 * An agent of undici 7 that goes on where a connection ends whose response waits for its reader. Without it, this ends the process, also in `fetch` of
 * Node 22 and 24.
 * @example setGlobalDispatcher(undiciAgent()) // for `fetch`
 */
export function undiciAgent(options: Omit<UndiciOptions, 'dispatcher'> = {}): Agent {
  const { connectTimeout = 10_000, connections = null } = options
  const connectDefault = buildConnector({ timeout: connectTimeout })
  const connect: buildConnector.connector = (to, callback) =>
    connectDefault(to, (...[error, socket]) => {
      // Before undici's own listeners.
      for (const name of ['end', 'error', 'close']) socket?.on(name, () => endPaused(socket))
      if (error) callback(error, null)
      else callback(null, socket)
    })
  return new Agent({ connections, connect, headersTimeout: 0, bodyTimeout: 0 })
}

/**
 * Creates a transport on undici's dispatcher.
 * @example openai({ apiKey, transport: undiciTransport() })
 */
export function undiciTransport(options: UndiciOptions = {}): Transport {
  const { dispatcher = undiciAgent(options) } = options

  // A cache: a provider uses few URLs, and a look-up costs less than parsing.
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

  return ({ url, method, headers, body, signal, memory }) =>
    new Promise<TransportResponse>((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      const { origin, path } = addressOf(url)
      dispatcher.dispatch(
        // undici accepts any iterable, although its types only list Readable, and applies backpressure.
        { origin, path, method, headers, body: (body ?? null) as string | null },
        new Call(signal, resolve, reject, memory),
      )
    })
}
