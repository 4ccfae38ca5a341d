import type { Memory } from '@turnpike/core'
import type { GenericSchema, InferOutput } from 'valibot'
import type { Content } from './answers/content.js'
import type { EventStream } from './answers/sse.js'

/** The context of a call, besides its parsed input. */
export interface Call<Actor = unknown> {
  /** The value of the answer's X-Request-ID. */
  requestId: string
  /** Registers a listener for the client disconnecting before it has the whole answer; called at once if it already has. */
  onDisconnect(listener: () => void): void
  /** The method of the request, in upper case. */
  method: string
  /** The client's address, past as many proxies as the shell was told to trust; '' where unknown. */
  ip(): string
  /** The scheme and host that the client called, such as `https://api.example`. */
  origin(): string
  /** A request header by its lower-case name. */
  header(name: string): string | undefined
  /** Sets a header of the answer, also if it becomes an error; `name` in lower case. Several values are several headers, as `set-cookie` needs. */
  setHeader(name: string, value: string | string[]): void
  /** The memory that running requests share (`bodyMemory`): for what is kept until the answer has been sent. */
  memory: Memory
  /**
   * The caller as of now, for what takes long: who was deleted or has lost a role meanwhile, or whose credential was revoked, is refused.
   * @throws ApiError 401 or 403
   */
  again(): Actor | Promise<Actor>
  /** Adds fields to the log record of this request. They must be fit for a log: no bodies, no secrets. */
  log(fields: Record<string, string | number | boolean>): void
}

/** A multipart/form-data form in place of a JSON body. */
export interface FormOptions {
  /** Name of its one file, which becomes a `FileInput`; all other fields are texts. */
  file: string
  /** Bytes of the file. */
  limit: number
  /** Status of a larger file; default 413. */
  overLimit?: 400 | 413
  /**
   * True hands the file on while it arrives, as a {@link FileStream}; `body` has the fields that stand before it. Default false: the form is
   * received whole, its file in memory or in a temporary file, and may be read more than once.
   */
  streamed?: boolean
}

/** The file of a streamed form, read once and no faster than its consumer takes it. */
export interface FileStream {
  /** As the client names it; '' where it does not. */
  name: string
  /** Media type as the client gives it. */
  type: string
  /** Its size in bytes, as far as the length of the request tells: at least, default 0, and at most. */
  least: number
  most?: number
  /** Rejects with ApiError 400 where the form is cut short or wrong, and with `overLimit` over `limit` bytes. */
  body: AsyncIterable<Uint8Array>
  /** All other fields, also those that stand after the file; to be called when it has been read. @throws ApiError 400 as for the body of a request */
  fields(): Promise<Record<string, unknown>>
}

/**
 * One thing that a surface can do, independent of HTTP method and path.
 * `Actor` is the caller, as the surface's `authenticate` returns it; `Access` names the kinds of callers that the surface distinguishes.
 */
export interface Operation<Actor, Access extends string = string, Params = unknown, Query = unknown, Body = unknown> {
  /** Stable name, such as `chat.completions`. */
  id: string
  /** One sentence. */
  summary: string
  /** Who may call it. */
  access: Access
  params?: GenericSchema<unknown, Params>
  query?: GenericSchema<unknown, Query>
  body?: GenericSchema<unknown, Body>
  /** Other spellings of fields of a body, such as `{ team_type: 'teamType' }`: read where the field itself is absent. Default none. */
  aliases?: Readonly<Record<string, string>>
  /** Fields of a body that would have no effect, such as `password`, and what to do instead: a body with one of them is a 400 that says so. Default none. */
  elsewhere?: Readonly<Record<string, string>>
  /** Where the body is a multipart/form-data form; default it is JSON. */
  form?: FormOptions
  /**
   * Throws ApiError 403 or 404 where the caller may not even know what is wrong with the body. Asked before an error of the body is answered:
   * where the body is good, `run` checks the same. Default nothing is asked.
   */
  permit?(actor: Actor, params: Params): Promise<void>
  /** A body, without its file, as documentation shows it. Default none. */
  example?: Readonly<Record<string, unknown>>
  /**
   * The version of what a GET answers: another one after each change, and never one of before. It is read first, and is the answer's ETag; a request that
   * has that in If-None-Match is a 304, for which nothing else is read. Null = it has none, as where the caller may not have the answer. Default none.
   */
  version?(actor: Actor, input: { params: Params; query: Query }): Promise<string | null>
  /** Schema of what `run` returns as JSON; absent where it never does. */
  output?: GenericSchema
  /** Schema of the data of each event, where the answer may be `sse()`. For documentation, as all that follows. */
  events?: GenericSchema
  /** Content types of the answers that are `bytes()` or `content()`, without parameters; default none. */
  contentTypes?: string[]
  /** True where the answers are `content()`, and so with 206, 304, 412 and 416 as well; default false. */
  stored?: boolean
  /** Statuses of `withStatus()`; default none. */
  statuses?: number[]
  /** Statuses of errors that its access and its input do not explain, such as 404; default none. */
  errors?: number[]
  /** Request headers that it reads, such as `X-Session-ID`; default none. */
  headers?: string[]
  /** Response headers that it may set; default none. */
  answerHeaders?: string[]
  run(actor: Actor, input: { params: Params; query: Query; body: Body }, call: Call<Actor>): unknown
}

/**
 * An operation with types inferred from its schemas.
 * @example
 * const hello = operation({
 *   id: 'hello',
 *   summary: 'Greets somebody.',
 *   access: 'open',
 *   params: v.object({ name: v.string() }),
 *   run: (_, { params }) => ({ text: `Hello ${params.name}` }),
 * })
 */
export const operation = <
  Actor,
  Access extends string,
  P extends GenericSchema = GenericSchema<unknown, unknown>,
  Q extends GenericSchema = GenericSchema<unknown, unknown>,
  B extends GenericSchema = GenericSchema<unknown, unknown>,
>(
  definition: Omit<
    Operation<Actor, Access, InferOutput<P>, InferOutput<Q>, InferOutput<B>>,
    'params' | 'query' | 'body'
  > & { params?: P; query?: Q; body?: B },
): Operation<Actor, Access> => definition as unknown as Operation<Actor, Access>

/**
 * {@link operation} for one surface, whose callers and kinds of access are given, so that only the schemas are inferred.
 * @example
 * const operation: DefineOperation<User | null, 'open' | 'user'> = http.operation
 */
export type DefineOperation<Actor, Access extends string> = <
  P extends GenericSchema = GenericSchema<unknown, unknown>,
  Q extends GenericSchema = GenericSchema<unknown, unknown>,
  B extends GenericSchema = GenericSchema<unknown, unknown>,
>(
  ...definition: Parameters<typeof operation<Actor, Access, P, Q, B>>
) => Operation<Actor, Access>

const answer = Symbol.for('turnpike.answer')

/** What `run` may return instead of a plain value, which is sent as JSON with the route's status. */
export type Answer = { readonly [answer]: true } & (
  | { kind: 'sse'; events: EventStream }
  | { kind: 'json'; status: number; value: unknown }
  | { kind: 'bytes'; body: string | AsyncIterable<Uint8Array>; contentType: string }
  | { kind: 'content'; content: Content }
)

/**
 * Answers with server-sent events.
 * @example run: () => sse(eventStream)
 */
export const sse = (events: EventStream): Answer => ({ [answer]: true, kind: 'sse', events })

/**
 * Answers with text or streamed bytes. An error during the stream closes the connection without its proper end, so that the client notices.
 * @example run: () => bytes('id,cost\n', 'text/csv')
 */
export const bytes = (body: string | AsyncIterable<Uint8Array>, contentType: string): Answer => ({
  [answer]: true,
  kind: 'bytes',
  body,
  contentType,
})

/**
 * Answers with stored bytes; handles Range, If-Range, If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since and HEAD.
 * @example run: () => content({ type: 'image/png', size, etag, read })
 */
export const content = (content: Content): Answer => ({ [answer]: true, kind: 'content', content })

/**
 * Answers `value` as JSON with another status than the route's, such as 503 from a health check.
 * @example run: () => withStatus(202, { status: 'accepted' })
 */
export const withStatus = (status: number, value: unknown): Answer => ({ [answer]: true, kind: 'json', status, value })

/**
 * Whether `run` returned an {@link Answer} and not a plain value.
 * @example const answer = isAnswer(value) ? value : withStatus(200, value)
 */
export const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && answer in value

/** An operation bound to a method and a path. */
export interface Route<Actor = unknown, Access extends string = string> {
  method: string
  /** `{name}` matches one segment; `{name+}` at the end matches the rest of the path. */
  path: string
  operation: Operation<Actor, Access>
  /** Status of a successful answer; default 200. */
  status: number
  /** True marks the route `x-convention` in the OpenAPI document; default false. */
  convention?: boolean
  /** Largest JSON body in bytes; default the handler's. */
  bodyLimit?: number
  /** False for the parts of a page, such as its script, which no description of the surface names; default true. */
  listed?: boolean
}

/**
 * Binds an operation to a method and a path.
 * @example const routes = [route('GET', '/hello/{name}', hello)]
 */
export const route = <Actor, Access extends string>(
  method: string,
  path: string,
  operation: Operation<Actor, Access>,
  options: Partial<Pick<Route, 'status' | 'convention' | 'bodyLimit' | 'listed'>> = {},
): Route<Actor, Access> => ({ method, path, operation, status: 200, ...options })
