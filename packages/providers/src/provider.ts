import type {
  ChatChunk,
  ChatCompletionRequest,
  ChatStream,
  Completion,
  Model,
  Provider,
  UpstreamCall,
} from '@turnpike/core'
import { extend, unsupported, withoutNulls } from '@turnpike/core/internal'
import type { ChatAdapter, UpstreamRequest } from './adapter.js'
import { decodeStream } from './events.js'
import { malformed } from './failures.js'
import type { Upstream } from './upstream.js'
import { callJson, send } from './upstream.js'

/** What a provider can be asked for besides chat. */
export type Endpoints = Pick<Provider, 'fits' | 'embeddings' | 'images' | 'speech' | 'transcription'>

/** Options that the providers of all families have. */
export interface ProviderOptions extends Omit<Upstream, 'errors'> {
  /** Headers of every call, the credential among them. */
  headers: Record<string, string>
  chat: ChatAdapter
  /** What it does besides chat; default nothing. */
  endpoints?: ((upstream: Upstream) => Endpoints) | undefined
  models: Model[]
  owns: (model: string) => boolean
}

const EVENT_LIMIT = 16 * 1024 * 1024

/** A stream as whole chunks, the usage in one of its own at the end. */
export async function* toChunks(stream: ChatStream): AsyncGenerator<ChatChunk> {
  for await (const batch of stream.batches) for (const choice of batch) yield extend(stream.head, { choices: [choice] })
  const usage = stream.usage()
  if (usage) yield extend(stream.head, { choices: [], usage })
}

/**
 * Joins a family's pure translation to a transport.
 * @example createProvider({ id: 'mine', baseURL, headers, chat: myAdapter, models: [], owns: () => false, transport: fetchTransport() })
 */
export function createProvider(options: ProviderOptions): Provider {
  const { id: provider, chat, models, owns, limits } = options
  // Made once: an object that is spread for each call costs several microseconds of it.
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    accept: 'application/json',
    // `fetch` would ask for compressed answers, which cost time and come late from some proxies.
    'accept-encoding': 'identity',
  }
  const forStream = { ...headers, accept: 'text/event-stream' }
  const upstream: Upstream = { ...options, headers, errors: chat.errors }

  /** What the family is asked: at once, or a promise where something is to be got first or it cannot be asked. */
  const translate = (
    given: ChatCompletionRequest,
    { signal }: UpstreamCall,
  ): UpstreamRequest | Promise<UpstreamRequest> => {
    try {
      if (chat.oneChoice && (given.n ?? 1) > 1) throw unsupported(`${provider} gives one answer to a call`)
      const request = withoutNulls(given)
      return chat.prepare ? chat.prepare(request, signal).then(chat.request) : chat.request(request)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  const complete = (request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion> =>
    callJson(upstream, translate(request, call), call, (body) => chat.response(body, request))

  const stream = async (request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream> => {
    const response = await send(upstream, await translate(request, call), call, forStream)
    const type = response.header('content-type')
    if (type !== undefined && !/^text\/event-stream/i.test(type)) {
      void response.body[Symbol.asyncIterator]().return?.()
      throw malformed(provider, `The answer is no stream but ${type}`)
    }
    const decoder = chat.stream(request)
    const { events, putBack } = decodeStream(response.body, decoder, provider, limits?.event ?? EVENT_LIMIT)
    try {
      let first = await events.next()
      while (first.value?.length === 0) first = await events.next()
      if (first.done) throw malformed(provider, 'The answer is empty')
      putBack(first)
      return { head: decoder.head(), batches: events, usage: decoder.usage }
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
    ...options.endpoints?.(upstream),
  }
}
