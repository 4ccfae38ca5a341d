import type { GenericSchema, InferOutput } from 'valibot'
import type { EventStream } from './sse.js'

/** What an operation is told of its call besides the parsed input. */
export interface Call {
  /** The id that the caller was given in X-Request-ID. */
  requestId: string
  /** Calls back if the caller goes away before it has the whole answer; at once if it already has. */
  onLeave(listener: () => void): void
  /** A request header by its lower-case name. */
  header(name: string): string | undefined
  /** Adds a header to the answer, whatever it becomes; `name` in lower case. */
  setHeader(name: string, value: string): void
  /** Adds allow-listed fields to the log line of this request. */
  log(fields: Record<string, string | number | boolean>): void
}

/** A form in place of a JSON body. */
export interface FormOptions {
  /** Name of its one file, which becomes a `FileInput`; all other fields are texts. */
  file: string
  /** Bytes of the file. */
  limit: number
}

/**
 * Something that can be asked of Turnpike, apart from how it is asked.
 * `Actor` is who calls, as the surface's `authenticate` returns it; `Access` names the kinds of callers that the surface distinguishes.
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
  /** Where the body is a multipart/form-data form; default it is JSON. */
  form?: FormOptions
  /** Schema of what `run` returns; absent for streams and bytes. */
  output?: GenericSchema
  run(actor: Actor, input: { params: Params; query: Query; body: Body }, call: Call): unknown
}

/** An operation with types inferred from its schemas. */
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

/** What `run` may return in place of a plain value, which is answered as JSON with the route's status. */
export type Answer = { readonly [answer]: true } & (
  | { kind: 'sse'; events: EventStream }
  | { kind: 'json'; status: number; value: unknown }
  | { kind: 'bytes'; body: string | AsyncIterable<Uint8Array>; contentType: string }
)

/** Answers with server-sent events. */
export const sse = (events: EventStream): Answer => ({ [answer]: true, kind: 'sse', events })

/** Answers with what is not JSON: a text, or bytes as they come. What throws on the way ends the connection, so that the client can tell. */
export const bytes = (body: string | AsyncIterable<Uint8Array>, contentType: string): Answer => ({
  [answer]: true,
  kind: 'bytes',
  body,
  contentType,
})

/** Answers `value` as JSON with another status than the route's, such as 503 from a health check. */
export const withStatus = (status: number, value: unknown): Answer => ({ [answer]: true, kind: 'json', status, value })

/** Whether `run` returned an {@link Answer} and not a plain value. */
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
  /** True where spec.md does not show the route and it is our own. */
  convention: boolean
}

/** Binds an operation to a method and a path. */
export const route = <Actor, Access extends string>(
  method: string,
  path: string,
  operation: Operation<Actor, Access>,
  options: { status?: number; convention?: boolean } = {},
): Route<Actor, Access> => ({
  method,
  path,
  operation,
  status: options.status ?? 200,
  convention: options.convention ?? false,
})
