import { ApiError } from '@turnpike/core'
import { extend, uuidv7 } from '@turnpike/core/internal'
import type { BaseIssue, GenericSchema } from 'valibot'
import { getDotPath, safeParse } from 'valibot'
import { parseJson, requireJson } from './body.js'
import { contentReply } from './content.js'
import { BODY_LIMIT, CLIENT_LEFT, HEARTBEAT_MS, JSON_DEPTH } from './conventions.js'
import type { CorsOptions } from './cors.js'
import { corsHeaders } from './cors.js'
import type { Exchange, Handler, Reply, Servable } from './exchange.js'
import { matcher } from './match.js'
import type { Form } from './multipart.js'
import type { Call, Route } from './operation.js'
import { isAnswer } from './operation.js'
import { sseBody, sseHeaders } from './sse.js'

/** One request, told when its reply is complete: fields that are fit for a log. With `error_type` and `error_code` where it failed, and the caller's `traceparent` where it sent one. */
export interface RequestLog {
  request_id: string
  method: string
  /** Path of the matched route, never the path as sent; '' where none matched. */
  route: string
  status: number
  duration_ms: number
  ip: string
  [field: string]: string | number | boolean
}

/** Options of {@link createHandler}. */
export interface HandlerOptions<Actor, Access extends string = string> {
  routes: readonly Route<Actor, Access>[]
  /** Who calls; throws ApiError 401, 403 or 429. `log` adds fields to the log line. */
  authenticate(exchange: Exchange, access: Access, log: Call['log']): Actor | Promise<Actor>
  /**
   * Lets a request in, before its body is read, or throws ApiError 429 or 503. What it returns is called once: when the answer is made,
   * or, where it comes in pieces, has ended or lost its reader. Default: all may enter.
   */
  enter?: (actor: Actor, access: Access) => (() => void) | undefined
  /** What a caller is told of an error; default: an ApiError as it is, anything else as 500 with a fixed text. */
  toApiError?: (error: unknown) => ApiError
  /** The error body of this surface. */
  errorBody(error: ApiError): object
  /** Told of each error that ends as a 5xx; default nobody. */
  onError?: (error: unknown, context: { request_id: string }) => void
  /** Told of each finished request; default nobody. */
  onRequest?: ((log: RequestLog) => void) | undefined
  /** Largest JSON body in bytes; default 20 MiB. */
  bodyLimit?: number
  /** Deepest JSON nesting; default 128. */
  jsonDepth?: number
  /** Milliseconds of silence after which a stream carries a comment; default 15,000. */
  heartbeatMs?: number
  /** Cross-origin callers; default none. */
  cors?: CorsOptions
}

/** An ApiError as it is; anything else as a 500 that tells nothing of its cause. */
export const toApiError = (error: unknown): ApiError =>
  ApiError.is(error)
    ? error
    : new ApiError(500, 'server_error', 'The server had an internal error', { code: 'internal_error', cause: error })

const parseQuery = (query: string): unknown => Object.fromEntries(new URLSearchParams(query))

const MAX_MESSAGE = 300

/** Parses with a schema, or throws a 400 that names the place and what was expected there. */
function parse(schema: GenericSchema, input: unknown, what: string): unknown {
  const result = safeParse(schema, input, { abortPipeEarly: true })
  if (result.success) return result.output
  const [issue] = result.issues as [BaseIssue<unknown>]
  const message = `Invalid ${what}: ${getDotPath(issue) ?? what}: ${issue.message}`
  throw new ApiError(
    400,
    'invalid_request_error',
    message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message,
    { code: 'invalid_body' },
  )
}

const json = (status: number, value: unknown): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

/** The log line of a request in the making. */
interface LogLine {
  add(fields: Record<string, string | number | boolean>): void
  end(status: number): void
}

/** Tells the host; what goes wrong there is not the caller's concern. */
function tell(say: () => void): void {
  try {
    say()
  } catch {
    // The host's own hook failed.
  }
}

/** W3C Trace Context: version, id of the trace, id of the caller's span, flags. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

function openLog(onRequest: (log: RequestLog) => void, exchange: Exchange, route: string, requestId: string): LogLine {
  const started = performance.now()
  const { method } = exchange
  // Asked now: a client that has gone has no address.
  const ip = exchange.ip()
  const fields: Record<string, string | number | boolean> = {}
  const traceparent = exchange.header('traceparent')
  if (traceparent !== undefined && TRACEPARENT.test(traceparent)) fields['traceparent'] = traceparent
  return {
    add: (more) => void Object.assign(fields, more),
    end(status) {
      const duration_ms = Math.round(performance.now() - started)
      tell(() => onRequest(extend(fields, { request_id: requestId, method, route, status, duration_ms, ip })))
    },
  }
}

const ignore = (): void => undefined

/** Whether a body comes piece by piece. */
const isStream = <T extends object>(body: string | Uint8Array | T | undefined): body is T =>
  typeof body === 'object' && !(body instanceof Uint8Array)

/** What ends with a request. */
interface Stay {
  log: LogLine | undefined
  /** Gives back what the request took when it entered, if it did. */
  leave: (() => void) | undefined
}

/** Gives back what a request took, the first time. */
function leave(stay: Stay): void {
  const { leave } = stay
  stay.leave = undefined
  leave?.()
}

function end(stay: Stay, status: number): void {
  stay.log?.end(status)
  leave(stay)
}

/**
 * The way of every request: id, match, authenticate, limit, enter, parse, run, answer.
 * @returns the handler, and `refuse`, which words an error for what never became a request.
 */
export function createHandler<Actor, Access extends string = string>(options: HandlerOptions<Actor, Access>): Servable {
  const { routes, bodyLimit = BODY_LIMIT, jsonDepth = JSON_DEPTH, heartbeatMs = HEARTBEAT_MS } = options
  const { cors = { origins: [] }, onError, onRequest } = options
  const describe = options.toApiError ?? toApiError
  const match = matcher(routes)

  const errorReply = (error: ApiError): Reply => {
    const reply = json(error.status, options.errorBody(error))
    Object.assign(reply.headers, error.headers)
    if (error.retryAfter !== undefined) reply.headers['retry-after'] = String(error.retryAfter)
    if (error.shouldRetry !== undefined) reply.headers['x-should-retry'] = String(error.shouldRetry)
    return reply
  }

  const report = (error: unknown, requestId: string, log: LogLine | undefined): ApiError => {
    const described = describe(error)
    if (described.status !== CLIENT_LEFT) log?.add({ error_type: described.type, error_code: described.code })
    if (described.status >= 500) tell(() => onError?.(error, { request_id: requestId }))
    return described
  }

  const noRoute = (exchange: Exchange, methods: Map<string, unknown>): Reply => {
    if (methods.size === 0)
      throw new ApiError(404, 'not_found_error', 'There is nothing at this path', { code: 'not_found' })
    const allow = [...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    if (exchange.method === 'OPTIONS') return { status: 204, headers: { allow } }
    throw new ApiError(405, 'method_not_allowed', `This path takes ${allow}`, {
      code: 'method_not_allowed',
      headers: { allow },
    })
  }

  async function* reported(
    body: AsyncIterable<string | Uint8Array>,
    requestId: string,
    log: LogLine | undefined,
    onEnd: () => void,
  ): AsyncGenerator<string | Uint8Array> {
    try {
      yield* body
    } catch (error) {
      report(error, requestId, log)
      throw error
    } finally {
      onEnd()
    }
  }

  /** Bytes as they come; the log line ends with them, and what goes wrong is reported before the connection ends of it. */
  const watched = (...parameters: Parameters<typeof reported>): AsyncIterable<string | Uint8Array> => ({
    [Symbol.asyncIterator]() {
      const iterator = reported(...parameters)
      let begun = false
      return {
        next() {
          begun = true
          return iterator.next()
        },
        async return() {
          // A generator that has not begun ends without a word: nobody would clean up, and nothing would be booked.
          if (!begun) await iterator.next().catch(() => undefined)
          return iterator.return(undefined)
        },
      }
    },
  })

  const toReply = (value: unknown, exchange: Exchange, status: number, requestId: string, stay: Stay): Reply => {
    if (value === undefined) return { status, headers: {} }
    if (!isAnswer(value)) return json(status, value)
    if (value.kind === 'json') return json(value.status, value.value)
    if (value.kind === 'content' || value.kind === 'bytes') {
      const reply: Reply =
        value.kind === 'content'
          ? contentReply(exchange.method, exchange.header, value.content)
          : { status, headers: { 'content-type': value.contentType }, body: value.body }
      const { body } = reply
      if (isStream(body)) reply.body = watched(body, requestId, stay.log, () => end(stay, reply.status))
      return reply
    }
    const onEnd = (): void => end(stay, status)
    const errorEvent = (error: unknown) => options.errorBody(report(error, requestId, stay.log))
    return { status, headers: sseHeaders, body: sseBody(value.events, { errorEvent, heartbeatMs, onEnd }) }
  }

  /** Authenticate, limit, enter, parse, run. */
  const answer = async (
    exchange: Exchange,
    route: Route<Actor, Access>,
    pathParams: Record<string, string>,
    requestId: string,
    setHeader: Call['setHeader'],
    stay: Stay,
  ): Promise<Reply> => {
    const { operation } = route
    const say = stay.log ? stay.log.add : ignore
    const actor = await options.authenticate(exchange, operation.access, say)
    stay.leave = options.enter?.(actor, operation.access)
    const params = operation.params ? parse(operation.params, pathParams, 'path') : pathParams
    const query = operation.query && parse(operation.query, parseQuery(exchange.query), 'query')
    const { onLeave, header } = exchange
    const call = { requestId, onLeave, header, setHeader, log: say }
    let body: unknown
    let form: Form | undefined
    if (operation.form) {
      const { readForm } = await import('./multipart.js')
      form = await readForm(exchange, operation.form)
      body = form.fields
    } else if (operation.body) {
      requireJson(header('content-type'), header('content-encoding'))
      // The body is handed on as it came: a body's schema transforms nothing, and valibot's copy lacks keys such as `constructor`.
      body = parseJson(await exchange.bytes(route.bodyLimit ?? bodyLimit), jsonDepth)
    }
    try {
      if (operation.body) parse(operation.body, body, form ? 'form' : 'request body')
      return toReply(await operation.run(actor, { params, query, body }, call), exchange, route.status, requestId, stay)
    } finally {
      if (form) await form.dispose()
    }
  }

  const handle: Handler = async (exchange) => {
    const { methods, params } = match(exchange.path)
    if (methods.size === 0 && exchange.optional) return null
    const requestId = uuidv7()
    const route = methods.get(exchange.method === 'HEAD' ? 'GET' : exchange.method)
    const log = onRequest && openLog(onRequest, exchange, route?.path ?? '', requestId)
    const stay: Stay = { log, leave: undefined }
    const headers: Reply['headers'] = { 'x-request-id': requestId }
    const setHeader: Call['setHeader'] = (name, value) => void (headers[name] = value)
    let reply: Reply
    try {
      reply = route ? await answer(exchange, route, params, requestId, setHeader, stay) : noRoute(exchange, methods)
    } catch (error) {
      reply = errorReply(report(error, requestId, log))
    }
    reply.headers = extend(reply.headers, headers)
    if (cors.origins.length > 0) Object.assign(reply.headers, corsHeaders(exchange, cors, methods.keys()))
    if (exchange.method === 'HEAD') delete reply.body
    if (!isStream(reply.body)) end(stay, reply.status)
    // A stream says itself when it has ended; but one whose client has left may never be read.
    else if (stay.leave) exchange.onLeave(() => leave(stay))
    return reply
  }

  return {
    handle,
    refuse(error) {
      const reply = errorReply(error)
      reply.headers['x-request-id'] = uuidv7()
      return reply
    },
  }
}
