import { ApiError, StorageError } from '@turnpike/core'
import { addressOf, callHook, isObject, jsonCount, nextTurn, oneLine, scrubPath, uuidv7 } from '@turnpike/core/helpers'
import { JSON_DEPTH, STORAGE_RETRY_AFTER_S } from '@turnpike/core/internal'
import type { BodyMemory } from './body/body-memory.js'
import { bodyMemory } from './body/body-memory.js'
import { invalidJson, parseJson, requireJson } from './body/body.js'
import type { Content } from './answers/content.js'
import { contentReply, hasTag } from './answers/content.js'
import {
  ANSWER_HEADERS,
  BODY_COPIES,
  BODY_FIELDS,
  BODY_LIMIT,
  CLIENT_LEFT,
  FIELD_COST,
  FILE_MEMORY,
  HEARTBEAT_MS,
  LARGE_ANSWER,
  VALUE_COST,
} from './conventions.js'
import type { CorsOptions } from './cors.js'
import { corsHeaders } from './cors.js'
import type { Exchange, Handler, Reply, Servable } from './shells/exchange.js'
import { held, isStream } from './answers/held-reply.js'
import { checkBody, parse } from './input.js'
import { matcher } from './match.js'
import type { Form } from './body/multipart.js'
import type { Call, Operation, Route } from './operation.js'
import { isAnswer } from './operation.js'
import type { RequestLog } from './request-log.js'
import { openLog } from './request-log.js'
import type { EventStream } from './answers/sse.js'
import { sseBody, sseHeaders } from './answers/sse.js'
import { Stay } from './body/stay.js'

/** Bytes of a body that takes as long to parse as small requests as a whole. */
const LARGE_BODY = 16 * 1024

/** Who was found to call, where the caller of a request is looked up again. */
export interface Before<Actor> {
  actor: Actor
  /** Milliseconds since the first look-up. */
  waitedMs: number
}

/** Options of {@link createHandler}. */
export interface HandlerOptions<Actor, Access extends string = string> {
  routes: readonly Route<Actor, Access>[]
  /**
   * Returns the caller, or throws ApiError 401, 403 or 429. `log` adds fields to the log record, `setHeader` headers to the answer, also of an error.
   * Called once more where the body did not come with its head, and by {@link Call.again}: then with `before`. The request is counted already, and a
   * credential that has only expired meanwhile is still good.
   */
  authenticate(
    exchange: Exchange,
    operation: Pick<Operation<Actor, Access>, 'id' | 'access'>,
    log: Call['log'],
    setHeader: Call['setHeader'],
    before?: Before<Actor>,
  ): Actor | Promise<Actor>
  /**
   * Admits a request before its body is read, or throws ApiError 429 or 503. The returned function is called once, when the answer has been
   * made or, where it is streamed, when the stream has ended or the client has disconnected. A body that has to be waited for comes in between:
   * the request leaves while it arrives, and enters again. Default: all requests are admitted.
   */
  enter?: (actor: Actor, access: Access) => (() => void) | undefined
  /** Maps a thrown value to the error that the caller gets; default: an ApiError as it is, anything else a 500 with a fixed message. */
  toApiError?: (error: unknown) => ApiError
  /** The message of the 404 for a path that no route has; `has` says which ones have. Default: it names the path. */
  nothingAt?: (path: string, has: (path: string) => boolean) => string
  /** The error body of this surface. */
  errorBody(error: ApiError): object
  /** Called with each error that ends as a 5xx; default none. */
  onError?: (error: unknown, context: { request_id: string }) => void
  /** Called with the log record of each finished request; default none. */
  onRequest?: ((log: RequestLog) => void) | undefined
  /** Names a caller, for what callers share; undefined = by the address. Default: all are named so. */
  callerId?: (actor: Actor) => string | undefined
  /** Largest JSON body in bytes; default 20 MiB. */
  bodyLimit?: number
  /**
   * Bytes that running requests hold: of their bodies, as far as these did not come with their head, of large answers until they are taken, and what operations take (`Call.memory`). 503
   * `overloaded` beyond. From four fifths on, only callers below their fair share get any. Default 512 MB.
   */
  bodyMemory?: number
  /** The memory itself, where several handlers share it; default one of `bodyMemory` bytes. */
  memory?: BodyMemory
  /** Deepest JSON nesting; default 128. */
  jsonDepth?: number
  /** Most fields of objects in a JSON body; default 100,000. */
  jsonFields?: number
  /** Values of a JSON body at most, which cost far more than their bytes; default 400,000. */
  jsonValues?: number
  /** Milliseconds of silence after which a stream carries a comment; default 15,000. */
  heartbeatMs?: number
  /** Origins that may call from a browser; default none. */
  cors?: CorsOptions
}

/**
 * An ApiError as it is; a StorageError as a 503, anything else as a 500, with a message that does not contain the cause.
 * @example const { status, message } = toApiError(error)
 */
export function toApiError(error: unknown): ApiError {
  if (ApiError.is(error)) return error
  if (StorageError.is(error))
    return new ApiError(
      503,
      'server_error',
      'The storage of the server cannot be used at the moment; try again later',
      {
        code: 'storage_unavailable',
        retryAfter: STORAGE_RETRY_AFTER_S,
        cause: error,
      },
    )
  return new ApiError(500, 'server_error', 'The server had an internal error', { code: 'internal_error', cause: error })
}

/** What a POST is answered with whose change may have been stored: who sends it again, as after a Retry-After, may do it twice. */
const unsure = (cause: StorageError): ApiError =>
  new ApiError(
    503,
    'server_error',
    'The storage of the server went away while it stored this: see whether it did before you try again',
    { code: 'storage_unavailable', shouldRetry: false, cause },
  )

const parseQuery = (query: string): unknown => Object.fromEntries(new URLSearchParams(query))

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

const utf8 = new TextEncoder()

function json(status: number, value: unknown): Reply {
  const text = JSON.stringify(value)
  // As bytes, so that their number is known.
  return { status, headers: jsonHeaders, body: text.length > LARGE_ANSWER ? utf8.encode(text) : text }
}

/** Characters of a field's name in the log record. */
const LOGGED_FIELD = 200

const ignore = (): void => undefined

/** Default of `nothingAt`. */
const nameOf = (path: string): string => `There is nothing at ${scrubPath(path)}`

/** What the log record has of an error. */
const errorFields = ({ type, code, field }: ApiError) => ({
  error_type: type,
  error_code: code,
  ...(field !== undefined && { error_field: oneLine(field, LOGGED_FIELD) }),
})

/** Adds the headers that are not there yet. In place: a copy per request would cost more than all of them (docs/decisions/008). */
function addMissing(headers: Reply['headers'], more: Readonly<Reply['headers']>): void {
  for (const name in more) headers[name] ??= more[name]!
}

/**
 * Handles every request in the same order: id, match, authenticate, rate limit, admit, parse, run, answer.
 * @returns the handler, and `refuse`, which makes the error reply for input that never became a request
 * @example const { handle } = createHandler({
 *   routes: [route('GET', '/hello', hello)],
 *   authenticate: () => null,
 *   errorBody: ({ message }) => ({ error: message }),
 * })
 */
export function createHandler<Actor, Access extends string = string>(options: HandlerOptions<Actor, Access>): Servable {
  const {
    routes,
    bodyLimit = BODY_LIMIT,
    jsonDepth = JSON_DEPTH,
    jsonFields,
    jsonValues,
    heartbeatMs = HEARTBEAT_MS,
  } = options
  const { cors = { origins: [] }, onError, onRequest, nothingAt = nameOf } = options
  const describe = options.toApiError ?? toApiError
  const match = matcher(routes)
  const { memory = bodyMemory(options.bodyMemory) } = options

  const enter = (stay: Stay, actor: Actor, access: Access): void =>
    void (stay.admitted = options.enter?.(actor, access))

  const errorReply = (error: ApiError): Reply => {
    const reply = json(error.status, options.errorBody(error))
    reply.headers = { ...jsonHeaders, ...error.headers }
    if (error.retryAfter !== undefined) reply.headers['retry-after'] = String(error.retryAfter)
    if (error.shouldRetry !== undefined) reply.headers['x-should-retry'] = String(error.shouldRetry)
    return reply
  }

  const report = (error: unknown, { log, requestId }: Stay): ApiError => {
    const described = describe(error)
    if (described.status !== CLIENT_LEFT) log?.add(errorFields(described))
    if (described.status >= 500) callHook(() => onError?.(error, { request_id: requestId }))
    return described
  }

  const noRoute = async (exchange: Exchange, methods: Map<string, unknown>): Promise<Reply> => {
    if (methods.size === 0) {
      const message = nothingAt(exchange.path, (path) => match(path).methods.size > 0)
      throw new ApiError(404, 'not_found_error', message, { code: 'not_found' })
    }
    const allow = [...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    if (exchange.method === 'OPTIONS') return { status: 204, headers: { allow } }
    throw new ApiError(405, 'method_not_allowed', `This path takes ${allow}`, {
      code: 'method_not_allowed',
      headers: { allow },
    })
  }

  const streamReply = (events: EventStream, status: number, stay: Stay): Reply => {
    const onEnd = (): void => stay.end(status)
    const hold = (bytes: number): void => stay.hold(bytes)
    const errorEvent = (error: unknown) => options.errorBody(report(error, stay))
    return { status, headers: sseHeaders, body: sseBody(events, { errorEvent, heartbeatMs, onEnd, hold }) }
  }

  const storedReply = async ({ method, header }: Exchange, content: Content, stay: Stay): Promise<Reply> => {
    const reply = await contentReply(method, header, content)
    // What is stored whole, such as the parts of a page, is in memory once for all.
    return isStream(reply.body) ? held(reply, method, stay, report) : reply
  }

  const toReply = (value: unknown, exchange: Exchange, status: number, stay: Stay): Reply | Promise<Reply> => {
    if (value === undefined) return { status, headers: {} }
    const { method } = exchange
    if (!isAnswer(value)) return held(json(status, value), method, stay, report)
    if (value.kind === 'sse') return streamReply(value.events, status, stay)
    if (value.kind === 'content') return storedReply(exchange, value.content, stay)
    if (value.kind === 'json') return held(json(value.status, value.value), method, stay, report)
    return held({ status, headers: { 'content-type': value.contentType }, body: value.body }, method, stay, report)
  }

  const readJson = (bytes: Uint8Array, stay: Stay): unknown => {
    const count = jsonCount(jsonValues, jsonFields)
    const body = parseJson(bytes, jsonDepth, count)
    if (isObject(body) && Object.keys(body).length > BODY_FIELDS)
      throw invalidJson(`The request body has more than ${BODY_FIELDS} fields of its own`)
    const cost = BODY_COPIES * bytes.length + VALUE_COST * count.values + FIELD_COST * count.fields
    if (cost > LARGE_ANSWER) stay.hold(cost)
    return body
  }

  /** Authenticate, rate limit, admit, parse, run. */
  const answer = async (
    exchange: Exchange,
    route: Route<Actor, Access>,
    pathParams: Record<string, string>,
    setHeader: Call['setHeader'],
    stay: Stay,
  ): Promise<Reply> => {
    const { operation } = route
    const say = stay.log ? stay.log.add : ignore
    // Awaited also where it is no promise: a microtask later, node:http has parsed a body that came with its head, and `bytes` need not wait for it.
    let actor = await options.authenticate(exchange, operation, say, setHeader)
    const began = performance.now()
    const again = async (): Promise<Actor> => {
      const before = { actor, waitedMs: performance.now() - began }
      return (actor = await options.authenticate(exchange, operation, say, setHeader, before))
    }
    stay.caller = options.callerId?.(actor) ?? addressOf(exchange.ip())
    enter(stay, actor, operation.access)
    const params = operation.params ? parse(operation.params, pathParams, 'path') : pathParams
    const query = operation.query && parse(operation.query, parseQuery(exchange.query), 'query')
    const { method, ip, origin, onDisconnect, header } = exchange
    const version = operation.version && (await operation.version(actor, { params, query }))
    const etag = version == null ? undefined : `W/"${version}"`
    if (etag !== undefined && hasTag(header('if-none-match') ?? '', etag)) return { status: 304, headers: { etag } }
    const { requestId } = stay
    const call = { requestId, method, ip, origin, onDisconnect, header, setHeader, memory: stay, again, log: say }
    let body: unknown
    let form: Form | undefined
    try {
      if (operation.form) {
        const { readForm } = await import('./body/multipart.js')
        stay.leave()
        stay.take(FILE_MEMORY)
        form = await readForm(exchange, operation.form, (fields) => checkBody(operation, fields), stay)
        enter(stay, await again(), operation.access)
        body = form.fields
      } else if (operation.body) {
        requireJson(header('content-type'), header('content-encoding'))
        // The parsed body is passed on, not valibot's copy: schemas of bodies transform nothing, and the copy lacks keys such as `constructor`.
        let bytes = exchange.bytes(route.bodyLimit ?? bodyLimit, stay)
        if (bytes instanceof Promise) {
          stay.leave()
          bytes = await bytes
          enter(stay, await again(), operation.access)
        }
        // Many that come at once are parsed in as many turns of the event loop, so that others have theirs between them.
        if (bytes.length > LARGE_BODY) await nextTurn()
        body = readJson(bytes, stay)
      }
      if (body !== undefined) checkBody(operation, body)
    } catch (error) {
      await form?.dispose()
      await operation.permit?.(actor, params)
      throw error
    }
    try {
      const value = await operation.run(actor, { params, query, body }, call)
      if (etag !== undefined) setHeader('etag', etag)
      return toReply(value, exchange, route.status, stay)
    } catch (error) {
      throw method === 'POST' && StorageError.is(error) && error.outcome === 'unknown' ? unsure(error) : error
    } finally {
      if (form) await form.dispose()
    }
  }

  const handle: Handler = (exchange) => {
    const { methods, params } = match(exchange.path)
    if (methods.size === 0 && exchange.optional) return Promise.resolve(null)
    const requestId = uuidv7()
    const route = methods.get(exchange.method === 'HEAD' ? 'GET' : exchange.method)
    const log = onRequest && openLog(onRequest, exchange, route?.path ?? '', requestId)
    const stay = new Stay(requestId, log, memory)
    const headers: Reply['headers'] = { 'x-request-id': requestId }
    const setHeader: Call['setHeader'] = (name, value) => void (headers[name] = value)
    const finish = (reply: Reply): Reply => {
      addMissing(headers, reply.headers)
      addMissing(headers, ANSWER_HEADERS)
      reply.headers = headers
      if (cors.origins.length > 0) {
        const vary = String(reply.headers['vary'])
        Object.assign(reply.headers, corsHeaders(exchange, cors, methods.keys()))
        reply.headers['vary'] += `, ${vary}`
      }
      if (exchange.method === 'HEAD') delete reply.body
      // A stream ends through its own `onEnd`, which its shell calls in any case.
      if (!isStream(reply.body)) stay.end(reply.status)
      return reply
    }
    const fail = (error: unknown): Reply => finish(errorReply(report(error, stay)))
    return (route ? answer(exchange, route, params, setHeader, stay) : noRoute(exchange, methods)).then(finish, fail)
  }

  return {
    handle,
    refuse(error) {
      const reply = errorReply(error)
      reply.headers = { ...ANSWER_HEADERS, ...reply.headers, 'x-request-id': uuidv7() }
      return reply
    },
  }
}
