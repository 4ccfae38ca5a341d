import type { UpstreamCall } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { concat, readerOf } from '@turnpike/core/internal'
import type { ChatAdapter, UpstreamRequest } from './adapter.js'
import { malformed, statusError, truncated } from './failures.js'
import { parseJson } from './json.js'
import { neverSent } from './network-errors.js'
import type { Transport, TransportResponse } from './transport.js'

/** Bounds on what an upstream may send. */
export interface UpstreamLimits {
  /** Bytes of a whole answer, and of a speech, which is streamed; default 64 MiB. */
  answer?: number
  /** Characters of one server-sent event; default 16 MiB. */
  event?: number
}

/** Where and how a provider is reached. */
export interface Upstream {
  id: string
  /** The base URL without a slash at its end. */
  baseURL: string
  /** Headers of a call that sends JSON and takes JSON, the credential among them. */
  headers: Record<string, string>
  errors: ChatAdapter['errors']
  transport: Transport
  limits?: UpstreamLimits | undefined
}

/** Most bytes of an answer, where nothing else is said. */
export const ANSWER_LIMIT = 64 * 1024 * 1024
/** Bytes of an error answer that are read for its message. */
const ERROR_LIMIT = 64 * 1024

const utf8 = new TextDecoder()

/** The whole body as text; undefined where it is larger than `limit` bytes. By callbacks, because `for await` costs more than the rest. */
function readText({ header, body, text }: TransportResponse, limit: number): Promise<string | undefined> {
  if (text && Number(header('content-length')) <= limit) return text()
  const iterator = body[Symbol.asyncIterator]()
  const read = readerOf(iterator)
  let pieces: Uint8Array[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    const onPiece = ({ done, value }: IteratorResult<Uint8Array, undefined>): void => {
      try {
        if (done) return resolve(utf8.decode(concat(pieces, size)))
        size += value.length
        if (size > limit) return resolve(iterator.return?.().then(() => undefined))
        // Nearly always there is one, and an array that grows is given room for 17.
        if (pieces.length === 0) pieces = [value]
        else pieces.push(value)
        read(onPiece, reject)
      } catch (error) {
        reject(error)
      }
    }
    read(onPiece, reject)
  })
}

/**
 * Tells what does not reach the upstream, sends the rest and resolves with a 2xx answer.
 * @param request.body sent as JSON, or as it is where it is a stream
 * @param headers default those of a call that sends JSON and takes JSON
 * @throws UpstreamError
 */
export function send(
  upstream: Upstream,
  { path, body, notes }: UpstreamRequest,
  { signal, onNotes }: UpstreamCall,
  headers: Record<string, string> = upstream.headers,
): Promise<TransportResponse> {
  const { id, baseURL, errors, transport } = upstream
  if (notes.length > 0) onNotes?.(notes)
  const sent = transport({
    url: baseURL + path,
    method: 'POST',
    headers,
    body: body instanceof ReadableStream ? body : JSON.stringify(body),
    signal,
  })
  return sent.then(
    (response) => {
      const { status, header } = response
      if (status >= 200 && status <= 299) {
        const encoding = header('content-encoding')
        if (encoding === undefined || /^identity$/i.test(encoding)) return response
        void response.body[Symbol.asyncIterator]().return?.()
        const message = `The content encoding of the answer is not known: ${encoding}`
        throw new UpstreamError(message, { provider: id, kind: 'malformed', accepted: true, encoding })
      }
      return readText(response, ERROR_LIMIT)
        .catch(() => undefined)
        .then((text) => {
          throw statusError(id, errors, { status, header, body: parseJson(text ?? '') }, false)
        })
    },
    (cause: unknown) => {
      if (signal.aborted) throw signal.reason
      throw new UpstreamError('The upstream could not be reached', {
        provider: id,
        kind: 'unavailable',
        accepted: !neverSent(cause),
        cause,
      })
    },
  )
}

/** A whole answer as text. @throws UpstreamError where it breaks off or is too large */
export function wholeText(
  { id, limits }: Upstream,
  response: TransportResponse,
  { signal }: UpstreamCall,
): Promise<string> {
  const limit = limits?.answer ?? ANSWER_LIMIT
  return readText(response, limit).then(
    (text) => {
      if (text === undefined) throw malformed(id, `The answer is larger than ${limit} bytes`)
      return text
    },
    (cause: unknown) => {
      throw signal.aborted ? signal.reason : truncated(id, 'The connection broke during the answer', cause)
    },
  )
}

/** Sends and resolves with what `read` makes of the JSON that comes back; whatever that stumbles over is malformed. @throws UpstreamError */
export async function callJson<T>(
  upstream: Upstream,
  request: UpstreamRequest | Promise<UpstreamRequest>,
  call: UpstreamCall,
  read: (body: object) => T,
  headers?: Record<string, string>,
): Promise<T> {
  // Not awaited where it is synchronous: each `await` costs a turn of the event loop.
  const translated = request instanceof Promise ? await request : request
  const response = await send(upstream, translated, call, headers)
  const value = parseJson(await wholeText(upstream, response, call))
  if (typeof value !== 'object' || value === null) throw malformed(upstream.id, 'The answer is not JSON')
  try {
    return read(value)
  } catch (error) {
    throw UpstreamError.is(error) ? error : malformed(upstream.id, 'The answer makes no sense', error)
  }
}
