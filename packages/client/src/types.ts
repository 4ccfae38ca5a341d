import type { components as GatewayComponents, paths as GatewayPaths } from './api/gateway.js'
import type { components, paths as PlatformPaths } from './api/platform.js'

/** All paths: the platform's, without what `signIn`, `refresh` and `signOut` ask, and below `/api/gateway` the gateway for browsers. */
export type Paths = Omit<PlatformPaths, '/api/auth'> & GatewayPaths

/** A method in the spelling of the OpenAPI documents. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The schemas of the platform by name, such as `Schemas['Project']`. */
export type Schemas = components['schemas']

/** The schemas of the gateway by name, such as `GatewaySchemas['ChatCompletionRequest']`. */
export type GatewaySchemas = GatewayComponents['schemas']

/** What a sign-in or a refresh answers with, as a {@link SessionStore} keeps it. */
export type AuthSession = Schemas['AuthSession']

/** Who has signed in. */
export type SignedInUser = AuthSession['user']

type OperationOf<M extends Method, P extends keyof Paths> = Paths[P] extends Record<M, infer O> ? O : never

/** The media types of the answer of an operation with their bodies; `undefined` where it has none. */
type ContentOf<O> = O extends { responses: infer R }
  ? R extends { 200: { content: infer C } }
    ? C
    : R extends { 204: unknown }
      ? undefined
      : never
  : never

/** The paths that have a method. */
export type PathsOf<M extends Method> = {
  [P in keyof Paths]: [OperationOf<M, P>] extends [never] ? never : P
}[keyof Paths]

/** The paths that answer with a stream of events. */
export type StreamPaths = {
  [P in PathsOf<'post'>]: ContentOf<OperationOf<'post', P>> extends { 'text/event-stream': unknown } ? P : never
}[PathsOf<'post'>]

/** Options that every request has. */
export interface RequestOptions {
  /** Ends the request; it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Further headers, such as `X-Project-ID`. */
  headers?: Record<string, string>
  /**
   * What the same `get` or `list` resolved with before. Where nothing has changed since, as its version tells the server, only that is answered, and the
   * request resolves with `known` itself. Default none.
   */
  known?: object | undefined
  /** Called with the answer of a request that succeeded, for its status and headers, such as `X-Reply-ID`; the body is not to be read. */
  onResponse?: (response: Response) => void
}

type ParamsOf<O> = O extends { parameters: { path: infer T } } ? { params: T } : unknown
type QueryOf<O> = O extends { parameters: { query: infer T } }
  ? { query: T }
  : O extends { parameters: { query?: infer T } }
    ? [T] extends [never | undefined]
      ? unknown
      : { query?: T }
    : unknown
/** The paths that answer with a list: an array, or an object with `messages`. */
export type ListPaths = {
  [P in PathsOf<'get'>]: QueryOf<OperationOf<'get', P>> extends { query?: infer Q }
    ? 'after' extends keyof NonNullable<Q>
      ? P
      : never
    : never
}[PathsOf<'get'>]

type BodyOf<O> = O extends { requestBody: { content: infer C } }
  ? C extends { 'application/json': infer T }
    ? { body: T }
    : { body: FormData }
  : unknown

type OptionsOf<O> = RequestOptions & ParamsOf<O> & QueryOf<O> & BodyOf<O>

/** The options of a request; they can be left out where all of them can. */
export type Options<M extends Method, P extends keyof Paths> =
  Partial<OptionsOf<OperationOf<M, P>>> extends OptionsOf<OperationOf<M, P>>
    ? [options?: OptionsOf<OperationOf<M, P>>]
    : [options: OptionsOf<OperationOf<M, P>>]

type BodyIn<C> = C extends { 'application/json': infer T }
  ? T | (Exclude<keyof C, 'application/json' | 'text/event-stream'> extends never ? never : Blob)
  : C extends undefined
    ? undefined
    : Blob

/** What a request resolves with: the JSON of the answer, a `Blob` of any other body, or `undefined` where there is none. */
export type Answer<M extends Method, P extends keyof Paths> = BodyIn<ContentOf<OperationOf<M, P>>>

/** An item of a list. */
export type Item<P extends ListPaths> =
  Answer<'get', P> extends (infer T)[] ? T : Answer<'get', P> extends { messages: (infer T)[] } ? T : never

/** The data of an event of a stream. */
export type StreamEvent<P extends StreamPaths> =
  ContentOf<OperationOf<'post', P>> extends { 'text/event-stream': infer T } ? T : never
