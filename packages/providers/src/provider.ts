import type {
  ChatChunk,
  ChatCompletionRequest,
  ChatProvider,
  ChatStream,
  Completion,
  Model,
  Provider,
  UpstreamCall,
} from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { extend, nextTurn, unset, withoutNulls } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'
import type { ChatAdapter, UpstreamRequest } from './adapter.js'
import { decodeStream } from './upstream/events.js'
import type { Most } from './upstream/json.js'
import { TOKENS } from './upstream/json.js'
import { billed, malformed } from './refusals/failures.js'
import { joined } from './answers/joined.js'
import { withoutLosses } from './refusals/refused-parameters.js'
import type { Repeatable, Retry } from './refusals/refusals.js'
import { Refusals } from './refusals/refusals.js'
import { credentialsIn, Secrets, withoutSecrets } from './refusals/secrets.js'
import { dismiss } from './upstream/transport.js'
import type { Outgoing, Upstream } from './upstream/upstream.js'
import { callJson, readJson, send, wholeText } from './upstream/upstream.js'

/** The endpoints of a provider besides chat. */
export type Endpoints = Pick<Provider, 'fits' | 'embeddings' | 'textsPerCall' | 'images' | 'speech' | 'transcription'>

/** Options of {@link createProvider}. */
export interface ProviderOptions extends Omit<Upstream, 'errors'>, Pick<Provider, 'own'> {
  /** Headers of every request, including the credential. */
  headers: Record<string, string>
  /** Translates chat requests and responses. */
  chat: ChatAdapter
  /** Creates the endpoints besides chat; default none. */
  endpoints?: ((upstream: Upstream, refusals: Refusals) => Endpoints) | undefined
  /** The models that the provider lists, or what reads them from the JSON of the upstream's own list, at `modelsPath`. */
  models: Model[] | ((body: object) => Model[])
  /** Whether these are all that it has; default where the upstream is asked for them. See {@link Provider.listsAll}. */
  listsAll?: boolean
  /** Path of the upstream's own list of models, for `check`; default none: the provider cannot be checked. */
  modelsPath?: string | undefined
  /** Whether a model belongs to this provider. */
  owns: (model: string) => boolean
}

/** Default of `limits.event`, in characters. */
const EVENT_LIMIT = 16 * 1024 * 1024

/** Most bytes of an upstream's list of models, and most values: the longest known lists have less than a tenth of that. */
const LIST_BYTES = 8 * 1024 * 1024
const LIST: Most = { values: 200_000 }

const PIECE = 64 * 1024

/** How a text of server-sent events begins. */
const EVENTS = /^\s*(?:data|event|id|retry)?:/

/**
 * Whether a request asks to be told of each token, by `logprobs` or by a field of its upstream's own: vLLM's `prompt_logprobs` and `return_token_ids`,
 * llama.cpp's `n_probs`.
 */
const asksForTokens = (request: object): boolean =>
  Object.keys(request).some((name) => /probs$|^return_token/.test(name))

const EVENT_STREAM = /^text\/event-stream/i

/** Media types of streams, and of whole answers that some servers give in their place. */
const STREAMED = /^(text\/(event-stream|plain)|application\/([\w.-]+\+)?json)\b/i

/** Whether an answer ended early, and not because its connection broke. */
const isEarlyEnd = (error: unknown): boolean =>
  UpstreamError.is(error) && error.failure.kind === 'truncated' && error.failure.cause === undefined

/** A text in pieces of 64 KiB, between which other requests have their turn. */
async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (at > 0) await nextTurn()
    yield bytes.subarray(at, at + PIECE)
  }
}

/**
 * Converts a stream to OpenAI chunks, one per choice; the usage, if known, follows in a last chunk without choices.
 * @example for await (const chunk of toChunks(await provider.chat.stream(request, call))) console.log(chunk)
 */
export async function* toChunks(stream: ChatStream): AsyncGenerator<ChatChunk> {
  for await (const batch of stream.batches) for (const choice of batch) yield extend(stream.head, { choices: [choice] })
  const usage = stream.usage()
  if (usage) yield extend(stream.head, { choices: [], usage })
}

/**
 * Creates a provider from an adapter, which translates, and a transport, which sends.
 * @example createProvider({ id: 'mine', baseURL, headers, chat: myAdapter, models: [], owns: () => false, transport: fetchTransport() })
 */
export function createProvider(options: ProviderOptions): ChatProvider {
  const { id: provider, chat, models, modelsPath, owns, own, limits } = options
  const { listsAll = typeof models === 'function', secrets = new Secrets() } = options
  if (typeof models === 'function' && modelsPath === undefined) throw unset('createProvider', 'modelsPath')
  // Built once, because spreading objects per request costs several microseconds.
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    accept: 'application/json',
    // The default of `fetch` requests compression, which costs CPU time and makes some proxies delay the response.
    'accept-encoding': 'identity',
  }
  const forStream = { ...headers, accept: 'text/event-stream' }
  secrets.keep(...credentialsIn(headers))
  const upstream: Upstream = { ...options, headers, errors: chat.errors, secrets }
  const forList: Upstream = { ...upstream, limits: { answer: LIST_BYTES } }

  /** Reads the upstream's own list of models. */
  const askFor = <T>(read: (body: object) => T, call: UpstreamCall): Promise<T> =>
    callJson(forList, { path: modelsPath!, notes: [] }, call, () => undefined, read, undefined, LIST)

  const refusals = new Refusals()

  /** Translates a request without some losses; default without what the model's upstream is known to refuse. */
  const translated = (request: ChatCompletionRequest, losses = refusals.of(request)): UpstreamRequest => {
    if (losses.length === 0) return chat.request(request)
    const { request: left, notes } = withoutLosses(request, losses)
    const made = chat.request(left, new Set(losses))
    return extend(made, { notes: [...notes, ...made.notes] })
  }
  const toOutgoing = (request: ChatCompletionRequest): Repeatable =>
    refusals.outgoing(request, (losses) => translated(request, losses))

  /** The translations of requests that were prepared for several calls. */
  const prepared = new WeakMap<ChatCompletionRequest, Outgoing>()

  /** Translates a request. Returns a promise only if the adapter has a `prepare` step or the request is not supported (rejected). */
  const translate = (given: ChatCompletionRequest, call: UpstreamCall): Outgoing | Promise<Outgoing> => {
    const known = prepared.get(given)
    if (known) return known
    try {
      if (chat.oneChoice && (given.n ?? 1) > 1) throw unsupported(`${provider} supports one choice per request`)
      const request = withoutNulls(given)
      return chat.prepare ? chat.prepare(request, call).then(toOutgoing) : toOutgoing(request)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  const prepare = async (given: ChatCompletionRequest, call: UpstreamCall): Promise<ChatCompletionRequest> => {
    const request = chat.prepare ? await chat.prepare(given, call) : given
    const outgoing = toOutgoing(withoutNulls(request))
    const again = (answer: string): Retry | undefined => {
      const retry = outgoing.again(answer)
      // For the calls that follow the first eight.
      if (retry) prepared.set(request, retry.request)
      return retry
    }
    prepared.set(request, extend(outgoing, { again }))
    return request
  }

  /** Reads a whole answer that came as a stream all the same. */
  const readEvents = async (text: string, request: ChatCompletionRequest): Promise<Completion> => {
    const decoder = chat.stream(request)
    const whole = joined()
    try {
      const { events } = decodeStream(piecesOf(text), decoder, provider, limits?.event ?? EVENT_LIMIT)
      for await (const choices of events) whole.add(choices)
      return whole.end(decoder.head(), decoder.usage())
    } catch (error) {
      throw UpstreamError.is(error) ? billed(error, decoder.usage()) : error
    }
  }

  const complete = async (request: ChatCompletionRequest, call: UpstreamCall): Promise<Completion> => {
    const outgoing = translate(request, call)
    // Only awaited if it is a promise, because each `await` defers the request by a microtask.
    const response = await send(upstream, outgoing instanceof Promise ? await outgoing : outgoing, call)
    const text = await wholeText(upstream, response, call)
    if (EVENTS.test(text)) return readEvents(text, request)
    const most = asksForTokens(request) ? TOKENS : undefined
    return readJson(upstream, text, chat.usage, (body) => chat.response(body, request), most)
  }

  const stream = async (request: ChatCompletionRequest, call: UpstreamCall): Promise<ChatStream> => {
    const response = await send(upstream, await translate(request, call), call, forStream)
    const type = response.header('content-type')
    const notStreamed = () => malformed(provider, `The answer is not an event stream but ${type}`)
    if (type !== undefined && !STREAMED.test(type)) {
      dismiss(response)
      throw notStreamed()
    }
    const decoder = chat.stream(request)
    const most = limits?.event ?? EVENT_LIMIT
    const { events, putBack } = decodeStream(response.body, decoder, provider, most, call.memory)
    try {
      let first = await events.next()
      while (first.value?.length === 0) first = await events.next()
      if (first.done) throw malformed(provider, 'The answer is empty')
      putBack(first)
      return { head: decoder.head(), batches: events, usage: decoder.usage }
    } catch (thrown) {
      if (call.signal.aborted) throw call.signal.reason
      const usage = decoder.usage()
      // JSON that is no answer is no stream that ended early either.
      const isNone = type !== undefined && !EVENT_STREAM.test(type)
      const error = isNone && isEarlyEnd(thrown) ? notStreamed() : thrown
      // An error that the upstream told before its answer is not billed; where neither usage nor a finish reason came, nothing says that the model has begun.
      const begun = UpstreamError.is(error) && error.failure.accepted && (usage ?? error.failure.code) !== undefined
      throw begun ? billed(error, usage) : error
    }
  }

  const made: ChatProvider = {
    id: provider,
    owns,
    models: typeof models === 'function' ? (call) => askFor(models, call) : async () => models,
    ...(listsAll && { listsAll }),
    ...(own && own.size > 0 && { own }),
    learnt: () => refusals.list(),
    ...(modelsPath !== undefined && { check: (call) => askFor(() => undefined, call) }),
    chat: {
      oneChoice: chat.oneChoice,
      ...(chat.oneChoice && { prepare }),
      preview: (request) => translated(withoutNulls(request)).notes,
      maxOutput: (request) => translated(withoutNulls(request)).maxOutput,
      ...(chat.billsFiles && { billsFiles: chat.billsFiles }),
      ...(chat.refusalFee && { refusalFee: chat.refusalFee }),
      complete,
      stream,
    },
    ...options.endpoints?.(upstream, refusals),
  }
  return withoutSecrets(made, secrets)
}
