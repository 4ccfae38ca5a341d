import type { Memory, Signal, UpstreamCall, Usage } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { concat, nextTurn, PIECE_COST, readerOf } from '@turnpike/core/helpers'
import type { ChatAdapter, UpstreamRequest } from '../adapter.js'
import { billed, malformed, statusError, tooLarge, truncated, unreported } from '../refusals/failures.js'
import type { Most } from './json.js'
import { excessOf, parseAnswer, parseJson, PYTHON_LENGTH } from './json.js'
import { UNCOUNTED } from './kept.js'
import { neverSent } from './network-errors.js'
import type { Repeatable } from '../refusals/refusals.js'
import type { Secrets } from '../refusals/secrets.js'
import { credentialsIn } from '../refusals/secrets.js'
import type { Transport, TransportRequest, TransportResponse } from './transport.js'
import { dismiss } from './transport.js'

/** A request as it is sent: its body may be JSON already. */
export type Outgoing = Omit<UpstreamRequest, 'body'> &
  Partial<Pick<Repeatable, 'again'>> & { body?: object | string | undefined }

/** Size limits for responses of an upstream. */
export interface UpstreamLimits {
  /** Most bytes of a response that is not an event stream, including streamed speech; default 64 MiB. */
  answer?: number
  /** Most characters of one server-sent event, and of the arguments and thoughts of a stream; default 16 Mi (16,777,216). */
  event?: number
}

/** The connection settings of a provider. */
export interface Upstream {
  /** The provider's id. */
  id: string
  /** The base URL, without a trailing slash. */
  baseURL: string
  /** Default request headers, including a credential that does not change; for calls with JSON request and response. */
  headers: Record<string, string>
  /**
   * Makes the headers of any other credential, such as a token that expires or a signature, for each request that is sent. If it fails, nothing
   * is sent, and the upstream is unavailable.
   */
  authorize?: ((request: TransportRequest) => Promise<Record<string, string>>) | undefined
  /** The upstream's own name of a model, for the endpoints besides chat; default its id. */
  nameOf?: ((model: string) => string) | undefined
  errors: ChatAdapter['errors']
  transport: Transport
  /**
   * What errors must not tell. {@link createProvider} adds the credentials of `headers` and `authorize`; those that are not sent, such as keys that sign,
   * are added by whoever has them.
   */
  secrets?: Secrets | undefined
  limits?: UpstreamLimits | undefined
}

/** Default of {@link UpstreamLimits}.answer, in bytes. */
export const ANSWER_LIMIT = 64 * 1024 * 1024
/** Characters of an answer that take milliseconds to be decoded. */
const LONG = 4 * 1024 * 1024
/** Most bytes of an error response that are read. */
const ERROR_LIMIT = 64 * 1024

const utf8 = new TextDecoder()

/**
 * Reads the body as text; undefined if it exceeds `limit` bytes. Uses callbacks, because `for await` would dominate the cost.
 * @param memory what bytes are taken from; rejects with its error
 */
function readText(response: TransportResponse, limit: number, memory?: Memory): Promise<string | undefined> {
  const { header, body, text } = response
  const length = Number(header('content-length'))
  // The length is that of the encoded body: Bun decodes zstd, of which 30 kB may become a gigabyte.
  if (text && header('content-encoding') === undefined && length <= Math.min(limit, UNCOUNTED)) return text()
  const iterator = body[Symbol.asyncIterator]()
  const read = readerOf(iterator)
  let chunks: Uint8Array[] = []
  let size = 0
  let taken = 0
  return new Promise((resolve, reject) => {
    const onChunk = ({ done, value }: IteratorResult<Uint8Array, undefined>): void => {
      try {
        if (done) return resolve(utf8.decode(concat(chunks, size)))
        size += value.length
        if (size > limit) return resolve(iterator.return?.().then(() => undefined))
        // There is usually one chunk, and `push` would allocate a capacity of 17.
        if (chunks.length === 0) chunks = [value]
        else chunks.push(value)
        const kept = size + (chunks.length - 1) * PIECE_COST
        if (memory && kept > UNCOUNTED) {
          memory.take(kept - taken)
          taken = kept
        }
        read(onChunk, reject)
      } catch (error) {
        void iterator.return?.()
        reject(error)
      }
    }
    read(onChunk, reject)
  })
}

/** Settles as a promise does, or rejects once the signal is aborted. */
const beforeAbort = <T>(promise: Promise<T>, signal: Signal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

/** The name at the upstream of the model of a request. */
export const nameAt = ({ nameOf }: Upstream, { model }: { model: string }): string => nameOf?.(model) ?? model

const BETA = 'anthropic-beta'

/** The headers of one request beside those of all. Features of Claude that are asked for by both are a list. */
function withHeaders(headers: Record<string, string>, own: Record<string, string>): Record<string, string> {
  const both = { ...headers, ...own }
  if (headers[BETA] !== undefined && own[BETA] !== undefined) both[BETA] = `${headers[BETA]},${own[BETA]}`
  return both
}

/** Adds the credential to a request. @throws UpstreamError `unavailable`; the signal's reason if it is aborted before */
async function authorized({ id, authorize, secrets }: Upstream, request: TransportRequest): Promise<TransportRequest> {
  try {
    const credential = await beforeAbort(authorize!(request), request.signal)
    secrets?.add(...credentialsIn(credential))
    request.headers = { ...request.headers, ...credential }
    return request
  } catch (cause) {
    if (request.signal.aborted) throw request.signal.reason
    const message = 'The credential for the upstream could not be had'
    throw new UpstreamError(message, { provider: id, kind: 'unavailable', accepted: false, cause })
  }
}

/**
 * Reports the request's notes, sends it and resolves with a 2xx response. A request whose parameters are refused with 400 or 422, so that nothing
 * was generated, is sent once more without them.
 * @param request.body a stream or text, sent unchanged, or a value, sent as JSON; absent for a GET
 * @param headers default `upstream.headers`
 * @throws UpstreamError if the upstream cannot be reached or responds with another status
 * @throws the signal's reason if it is aborted
 * @example const response = await send(upstream, outgoing, call)
 */
export function send(
  upstream: Upstream,
  { path, body, notes, headers: own, again }: Outgoing,
  call: UpstreamCall,
  headers: Record<string, string> = upstream.headers,
): Promise<TransportResponse> {
  const { id, baseURL, errors, transport, authorize, secrets } = upstream
  const { signal, memory, onNotes } = call
  if (notes.length > 0) onNotes?.(notes)
  const request: TransportRequest = {
    url: baseURL + path,
    method: body ? 'POST' : 'GET',
    headers: own ? withHeaders(headers, own) : headers,
    body: typeof body !== 'object' || body instanceof ReadableStream ? body : JSON.stringify(body),
    signal,
    memory,
  }
  const sent = authorize ? authorized(upstream, request).then(transport) : transport(request)
  return sent.then(
    (response) => {
      const { status, header } = response
      if (status >= 200 && status <= 299) {
        const encoding = header('content-encoding')
        if (encoding === undefined || /^identity$/i.test(encoding)) return response
        dismiss(response)
        const message = `The content encoding of the answer is not supported: ${encoding}`
        throw new UpstreamError(message, { provider: id, kind: 'malformed', accepted: true, encoding })
      }
      return readText(response, ERROR_LIMIT)
        .catch(() => undefined)
        .then((told = '') => {
          // Here already, because long texts are cut, perhaps within one.
          const text = secrets?.hide(told) ?? told
          const retry = status === 400 || status === 422 ? again?.(text) : undefined
          if (retry) {
            call.onRepeat?.()
            return send(upstream, retry.request, call, headers).then((accepted) => (retry.learn(), accepted))
          }
          throw statusError(id, errors, { status, header, body: parseJson(text) ?? text }, false)
        })
    },
    (cause: unknown) => {
      if (signal.aborted) throw signal.reason
      if (UpstreamError.is(cause)) throw cause
      throw new UpstreamError('The upstream could not be reached', {
        provider: id,
        kind: 'unavailable',
        accepted: !neverSent(cause),
        cause,
      })
    },
  )
}

/**
 * Reads a response body as text.
 * @throws UpstreamError if it is truncated, too large or more than the memory of the request has, and so billed without a report of the usage
 * @example const text = await wholeText(upstream, await send(upstream, outgoing, call), call)
 */
export function wholeText(
  { id, limits }: Upstream,
  response: TransportResponse,
  { signal, memory }: UpstreamCall,
): Promise<string> {
  const limit = limits?.answer ?? ANSWER_LIMIT
  return readText(response, limit, memory).then(
    (text) => {
      if (text === undefined) throw unreported(tooLarge(id, `The answer is larger than ${limit} bytes`))
      // To decode and to parse tens of megabytes are two steps, and other requests have their turn in between.
      return text.length > LONG ? nextTurn().then(() => text) : text
    },
    (cause: unknown) => {
      if (signal.aborted) throw signal.reason
      if (ApiError.is(cause)) throw unreported(tooLarge(id, cause.message, cause))
      throw truncated(id, 'The connection broke during the answer', cause)
    },
  )
}

/**
 * Converts the text of a response, which is JSON, with `read`.
 * @param usageOf the usage that a response reports, which an answer that cannot be read is billed as well
 * @param most how much it may have, default 500,000 values, and half as many fields
 * @throws UpstreamError; `malformed` for more values, and for anything that `read` throws
 */
export function readJson<T>(
  { id }: Upstream,
  text: string,
  usageOf: (body: object) => Usage | undefined,
  read: (body: object) => T | Promise<T>,
  most?: Most,
): T | Promise<T> {
  const tooMuch = excessOf(text, most)
  if (tooMuch) throw unreported(tooLarge(id, `The answer ${tooMuch}`))
  const value = parseAnswer(text)
  if (typeof value !== 'object' || value === null) {
    const error = malformed(id, 'The answer is not JSON')
    // One that is so long is an answer all the same, in which numbers of Python were not looked for: it costs what was expected.
    throw text.length > PYTHON_LENGTH ? unreported(error) : error
  }
  /** Of an answer that cannot be read, the usage may be what cannot. */
  const usage = (): Usage | undefined => {
    try {
      return usageOf(value)
    } catch {
      return undefined
    }
  }
  const fail = (error: unknown): never => {
    throw billed(UpstreamError.is(error) ? error : malformed(id, 'The answer is invalid', error), usage())
  }
  try {
    const made = read(value)
    return made instanceof Promise ? made.catch(fail) : made
  } catch (error) {
    return fail(error)
  }
}

/**
 * Sends a request and converts its JSON response as {@link readJson} does.
 * @throws UpstreamError
 * @example const completion = await callJson(upstream, outgoing, call, usageOf, toCompletion)
 */
export function callJson<T>(
  upstream: Upstream,
  request: Outgoing | Promise<Outgoing>,
  call: UpstreamCall,
  usageOf: (body: object) => Usage | undefined,
  read: (body: object) => T | Promise<T>,
  headers?: Record<string, string>,
  most?: Most,
): Promise<T> {
  const sendOne = (one: Outgoing): Promise<TransportResponse> => send(upstream, one, call, headers)
  // Without `await`, which would keep the request, and with it a recording or picture, until the answer has come.
  return (request instanceof Promise ? request.then(sendOne) : sendOne(request))
    .then((response) => wholeText(upstream, response, call))
    .then((text) => readJson(upstream, text, usageOf, read, most))
}
