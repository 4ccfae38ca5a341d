import { ApiError, uuidv7 } from '@turnpike/core'
import type { BaseIssue, GenericSchema } from 'valibot'
import { getDotPath, safeParse } from 'valibot'
import { parseJson, requireJson } from './body.js'
import { BODY_LIMIT, HEARTBEAT_MS, JSON_DEPTH } from './conventions.js'
import type { CorsOptions } from './cors.js'
import { corsHeaders } from './cors.js'
import type { Exchange, Handler, Reply, Servable } from './exchange.js'
import { matcher } from './match.js'
import type { Access, Call, Route } from './operation.js'
import { isAnswer } from './operation.js'
import { sseBody, sseHeaders } from './sse.js'

/** One request, told when its reply is complete: fields that are fit for a log. */
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

export interface HandlerOptions<Actor> {
  routes: readonly Route<Actor>[]
  /** Who calls; throws ApiError 401, 403 or 429. */
  authenticate(exchange: Exchange, access: Access): Actor | Promise<Actor>
  /** What a caller is told of an error; default: an ApiError as it is, anything else as 500 with a fixed text. */
  toApiError?: (error: unknown) => ApiError
  /** The error body of this surface. */
  errorBody(error: ApiError): object
  /** Told of each error that ends as a 5xx; default nobody. */
  onError?: (error: unknown, context: { request_id: string }) => void
  /** Told of each finished request; default nobody. */
  onRequest?: (log: RequestLog) => void
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

/**
 * The way of every request: id, match, authenticate, limit, parse, run, answer.
 * @returns the handler, and `refuse`, which words an error for what never became a request.
 */
export function createHandler<Actor>(options: HandlerOptions<Actor>): Servable {
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

  /** Tells the host; what goes wrong there is not the caller's concern. */
  const tell = (say: () => void): void => {
    try {
      say()
    } catch {
      // The host's own hook failed.
    }
  }

  const report = (error: unknown, requestId: string): ApiError => {
    const described = describe(error)
    if (described.status >= 500) tell(() => onError?.(error, { request_id: requestId }))
    return described
  }

  const readInput = async (exchange: Exchange, route: Route<Actor>, params: Record<string, string>) => {
    const { operation } = route
    const query = operation.query && Object.fromEntries(new URLSearchParams(exchange.query))
    let body: unknown
    if (operation.body) {
      requireJson(exchange.header('content-type'), exchange.header('content-encoding'))
      // The body is handed on as it came: a body's schema transforms nothing, and valibot's copy lacks keys such as `constructor`.
      body = parseJson(await exchange.bytes(bodyLimit), jsonDepth)
      parse(operation.body, body, 'request body')
    }
    return {
      params: operation.params ? parse(operation.params, params, 'path') : params,
      query: operation.query ? parse(operation.query, query, 'query') : undefined,
      body,
    }
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

  const handle: Handler = async (exchange) => {
    const { methods, params } = match(exchange.path)
    if (methods.size === 0 && exchange.optional) return null
    const requestId = uuidv7()
    const started = performance.now()
    const ip = onRequest ? exchange.ip : ''
    const route = methods.get(exchange.method === 'HEAD' ? 'GET' : exchange.method)
    const fields: Record<string, string | number | boolean> = {}
    let status = 500
    const finished = (): void =>
      tell(() =>
        onRequest?.({
          ...fields,
          request_id: requestId,
          method: exchange.method,
          route: route?.path ?? '',
          status,
          duration_ms: Math.round(performance.now() - started),
          ip,
        }),
      )
    let reply: Reply
    let streaming = false
    try {
      if (!route) reply = noRoute(exchange, methods)
      else {
        const actor = await options.authenticate(exchange, route.operation.access)
        const input = await readInput(exchange, route, params)
        const call: Call = {
          requestId,
          onLeave: exchange.onLeave,
          header: exchange.header,
          log: (more) => void Object.assign(fields, more),
        }
        const value = await route.operation.run(actor, input, call)
        if (!isAnswer(value)) reply = json(route.status, value)
        else if (value.kind === 'json') reply = json(value.status, value.value)
        else {
          streaming = true
          const errorEvent = (error: unknown) => options.errorBody(report(error, requestId))
          const body = sseBody(value.events, { errorEvent, heartbeatMs, onEnd: finished })
          reply = { status: route.status, headers: { ...sseHeaders }, body }
        }
      }
    } catch (error) {
      reply = errorReply(report(error, requestId))
    }
    status = reply.status
    reply.headers['x-request-id'] = requestId
    if (cors.origins.length > 0) Object.assign(reply.headers, corsHeaders(exchange, cors, methods.keys()))
    if (exchange.method === 'HEAD') delete reply.body
    if (!streaming) finished()
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
