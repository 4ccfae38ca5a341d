import type {
  ChatChunk,
  ChatCompletionRequest,
  ChatStream,
  Completion,
  Model,
  Provider,
  UpstreamCall,
} from '@turnpike/core'
import { concat, extend, UpstreamError, withoutNulls } from '@turnpike/core'
import type { ChatAdapter } from './adapter.js'
import { decodeStream } from './events.js'
import { malformed, statusError, truncated } from './failures.js'
import { unsupported } from './invalid.js'
import { parseJson } from './json.js'
import { neverSent } from './network-errors.js'
import type { Transport, TransportResponse } from './transport.js'

/** Bounds on what an upstream may send. */
export interface UpstreamLimits {
  /** Bytes of a whole answer; default 64 MiB. */
  answer?: number
  /** Characters of one server-sent event; default 16 MiB. */
  event?: number
}

export interface ProviderOptions {
  id: string
  /** The base URL without a slash at its end. */
  baseURL: string
  /** Headers of every call, the credential among them. */
  headers: Record<string, string>
  chat: ChatAdapter
  models: Model[]
  owns: (model: string) => boolean
  transport: Transport
  limits?: UpstreamLimits | undefined
}

const ANSWER_LIMIT = 64 * 1024 * 1024
const EVENT_LIMIT = 16 * 1024 * 1024
/** Bytes of an error answer that are read for its message. */
const ERROR_LIMIT = 64 * 1024

const utf8 = new TextDecoder()

/** The whole body as text; undefined where it is larger than `limit` bytes. */
async function readText({ header, body, bytes }: TransportResponse, limit: number): Promise<string | undefined> {
  // Of what is compressed, the length says nothing.
  if (bytes && Number(header('content-length')) <= limit && !header('content-encoding'))
    return utf8.decode(await bytes())
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > limit) return undefined
    pieces.push(piece)
  }
  return utf8.decode(concat(pieces, size))
}

/** A stream as whole chunks, the usage in one of its own at the end. */
export async function* toChunks(stream: ChatStream): AsyncGenerator<ChatChunk> {
  for await (const batch of stream.batches) for (const choice of batch) yield extend(stream.head, { choices: [choice] })
  const usage = stream.usage()
  if (usage) yield extend(stream.head, { choices: [], usage })
}

/**
 * Joins a family's pure translation to a transport: the one place where an upstream is called.
 * @example createProvider({ id: 'mine', baseURL, headers, chat: myAdapter, models: [], owns: () => false, transport: fetchTransport() })
 */
export function createProvider(options: ProviderOptions): Provider {
  const { id: provider, baseURL, chat, models, owns, transport } = options
  const { answer: answerLimit = ANSWER_LIMIT, event: eventLimit = EVENT_LIMIT } = options.limits ?? {}

  const forWhole = { ...options.headers, 'content-type': 'application/json', accept: 'application/json' }
  const forStream = { ...forWhole, accept: 'text/event-stream' }

  const errorOf = async (response: TransportResponse): Promise<UpstreamError> => {
    const { status, header } = response
    const text = await readText(response, ERROR_LIMIT).catch(() => undefined)
    return statusError(provider, chat.errors, { status, header, body: parseJson(text ?? '') }, false)
  }

  /** Sends a chat request and resolves with a 2xx answer. */
  const send = async (
    given: ChatCompletionRequest,
    { signal, onNotes }: UpstreamCall,
    headers: Record<string, string>,
  ): Promise<TransportResponse> => {
    if (chat.oneChoice && (given.n ?? 1) > 1) throw unsupported(`${provider} gives one answer to a call`)
    const request = withoutNulls(given)
    const { path, body, notes } = chat.request(chat.prepare ? await chat.prepare(request, signal) : request)
    if (notes.length > 0) onNotes?.(notes)
    let response: TransportResponse
    try {
      response = await transport({
        url: baseURL + path,
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal,
      })
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      throw new UpstreamError('The upstream could not be reached', {
        provider,
        kind: 'unavailable',
        accepted: !neverSent(cause),
        cause,
      })
    }
    if (response.status < 200 || response.status > 299) throw await errorOf(response)
    return response
  }

  const complete = async (request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion> => {
    const response = await send(request, call, forWhole)
    let text: string | undefined
    try {
      text = await readText(response, answerLimit)
    } catch (cause) {
      if (call.signal.aborted) throw call.signal.reason
      throw truncated(provider, 'The connection broke during the answer', cause)
    }
    if (text === undefined) throw malformed(provider, `The answer is larger than ${answerLimit} bytes`)
    const value = parseJson(text)
    if (typeof value !== 'object' || value === null) throw malformed(provider, 'The answer is not JSON')
    try {
      return chat.response(value, request)
    } catch (error) {
      throw UpstreamError.is(error) ? error : malformed(provider, 'The answer makes no sense', error)
    }
  }

  const stream = async (request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream> => {
    const response = await send(request, call, forStream)
    const type = response.header('content-type')
    if (type !== undefined && !/^text\/event-stream/i.test(type)) {
      void response.body[Symbol.asyncIterator]().return?.()
      throw malformed(provider, `The answer is no stream but ${type}`)
    }
    const decoder = chat.stream(request)
    const iterator = decodeStream(response.body, decoder, provider, eventLimit)
    try {
      let first = await iterator.next()
      while (first.value?.length === 0) first = await iterator.next()
      if (first.done) throw malformed(provider, 'The answer is empty')
      iterator.putBack(first)
      return { head: decoder.head(), batches: iterator, usage: decoder.usage }
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : error
    }
  }

  return {
    id: provider,
    owns,
    models: async () => models,
    chat: {
      oneChoice: chat.oneChoice,
      ...(chat.prepare && { prepare: chat.prepare }),
      preview: (request) => chat.request(withoutNulls(request)).notes,
      complete,
      stream,
    },
  }
}
