import { PlatformError } from './errors.js'
import { readEvents } from './events.js'
import type { Transport } from './send.js'
import { sender } from './send.js'
import type { SessionStore } from './session.js'
import { cookieSession, storedSession, tokenSession } from './session.js'
import { memoryStore } from './stores.js'
import type {
  Answer,
  Item,
  ListPaths,
  Method,
  Options,
  PathsOf,
  RequestOptions,
  Schemas,
  SignedInUser,
  StreamEvent,
  StreamPaths,
} from './types.js'
import type { UploadOptions } from './upload.js'
import { formOf, uploadTransport } from './upload.js'
import { bodyOf, eventOf, nextOf, pathOf, queryOf } from './wire.js'

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Where the platform is, such as `https://app.example`; default the origin of the page. */
  baseUrl?: string
  /** Where the tokens of the session are kept. Default in a page of the platform's origin none, as it has the session cookie; else memory. */
  session?: SessionStore
  /** In place of a session: an access token that others renew, such as one of another identity provider, or what returns it for each request. */
  token?: string | (() => string | Promise<string>)
  /** Called when a request is refused because the session is over, once until the next sign-in. The request fails with that error. */
  onSignedOut?: () => void
  /** How often a request is sent again at most, where that is safe; default 2. */
  retries?: number
  /** The longest `Retry-After` that is waited for, in seconds; default 30. What has to wait longer fails at once. */
  maxRetryAfter?: number
  /** Sends requests; default the `fetch` of the runtime, and XMLHttpRequest for the progress of uploads. */
  fetch?: typeof fetch
}

/** A request of one method: the path and its options are those of the OpenAPI document. */
export type Send<M extends Method> = <P extends PathsOf<M>>(path: P, ...options: Options<M, P>) => Promise<Answer<M, P>>

/** A page of a list. */
export interface Page<T> {
  items: T[]
  /** The `after` of the next page; undefined on the last one. */
  next: string | undefined
}

/** A client of the platform. Everything that sends rejects with a {@link PlatformError} for an answer that is an error. */
export interface Client {
  /** Signs in by e-mail and password. */
  signIn(credentials: { email: string; password: string }): Promise<SignedInUser>
  /** Signs out here, everywhere else (`others`) or everywhere (`global`). */
  signOut(options?: { scope?: 'local' | 'others' | 'global' }): Promise<void>
  /** Renews the session, which requests do by themselves where they have to. @returns who is signed in; null for nobody */
  refresh(): Promise<SignedInUser | null>
  get: Send<'get'>
  post: Send<'post'>
  put: Send<'put'>
  patch: Send<'patch'>
  delete: Send<'delete'>
  /** A page of a list or, without `limit` and `after`, all of it. */
  list<P extends ListPaths>(path: P, ...options: Options<'get', P>): Promise<Page<Item<P>>>
  /**
   * Sends a request, when the loop begins, and yields its events as they come. Leaving the loop ends the request.
   * @throws PlatformError also for an error event, and `stream_incomplete` where the stream ends without its end
   */
  stream<P extends StreamPaths>(
    path: P,
    ...options: Options<'post', P>
  ): AsyncGenerator<StreamEvent<P>, void, undefined>
  /** Uploads a file. */
  upload(file: Blob, options?: UploadOptions): Promise<Schemas['UserFile']>
}

/** That of a page, or of a worker of one; other runtimes have none. */
const { location } = globalThis as { location?: { href: string; origin: string } }

/** A request as it is given, whatever its path. */
type AnyOptions = RequestOptions & { params?: Record<string, string>; query?: object; body?: object }

/**
 * A client of the platform at `baseUrl`.
 * @example
 * const turnpike = createClient({ baseUrl: 'https://app.example' })
 * await turnpike.signIn({ email: 'ada@example.org', password: 'correct horse' })
 * const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
 */
export function createClient(options: ClientOptions = {}): Client {
  const { onSignedOut, retries = 2, maxRetryAfter = 30 } = options
  const base = (options.baseUrl ?? '').replace(/\/+$/, '')
  if (!location && base === '') throw new TypeError('Outside of a page, a client needs a baseUrl')
  const isOwn = location && new URL(base || '/', location.href).origin === location.origin
  const fetch: Transport = options.fetch ?? ((url, init) => globalThis.fetch(url, init))

  const platform = { base, fetch }
  const store = options.session ?? (isOwn ? undefined : memoryStore())
  const session =
    options.token !== undefined
      ? tokenSession(options.token)
      : store
        ? storedSession(store, platform)
        : cookieSession(platform)

  let told = false
  const send = sender({
    token: () => session.token(),
    async renew(refused) {
      const user = await session.renew(refused)
      if (!user && !told) onSignedOut?.()
      told = !user
      return user !== null
    },
    retries,
    maxRetryAfter,
  })

  /** The versions of what was read. */
  const versions = new WeakMap<object, string>()
  /** Reads what a request resolves with, unless that is what is known. */
  const read = async <T>(response: Response, { known }: AnyOptions = {}, value: () => Promise<T>): Promise<T> => {
    if (response.status === 304) return known as T
    const made = await value()
    const version = response.headers.get('etag')
    if (version !== null && typeof made === 'object' && made !== null) versions.set(made, version)
    return made
  }

  const request = async (
    method: string,
    template: string,
    { params, query, body, headers, signal, known, onResponse }: AnyOptions = {},
    { accept = 'application/json', transport = fetch } = {},
  ): Promise<Response> => {
    const path = pathOf(template, params)
    const isForm = body instanceof FormData
    const version = known && versions.get(known)
    const response = await send({
      method: method.toUpperCase(),
      path,
      url: base + path + queryOf(query),
      headers: {
        accept,
        ...(body && !isForm && { 'content-type': 'application/json' }),
        ...(version !== undefined && { 'if-none-match': version }),
        ...headers,
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      signal,
      transport,
    })
    onResponse?.(response)
    return response
  }

  const sendBy =
    <M extends Method>(method: M): Send<M> =>
    async (path, ...[given]) => {
      const response = await request(method, path, given as AnyOptions)
      return read(response, given as AnyOptions, () => bodyOf(response)) as never
    }

  return {
    async signIn(credentials) {
      const user = await session.signIn(credentials)
      told = false
      return user
    },
    async signOut({ scope = 'local' } = {}) {
      try {
        await request('DELETE', '/api/auth', { query: { scope } })
      } catch (error) {
        // It was over already.
        if (!(scope === 'local' && error instanceof PlatformError && error.status === 401)) throw error
      }
      if (scope !== 'others') await session.end()
    },
    refresh: async () => session.renew(await session.token()),
    get: sendBy('get'),
    post: sendBy('post'),
    put: sendBy('put'),
    patch: sendBy('patch'),
    delete: sendBy('delete'),
    async list<P extends ListPaths>(path: P, ...[given]: Options<'get', P>) {
      const response = await request('GET', path, given as AnyOptions)
      return read(response, given as AnyOptions, async () => {
        const body = (await response.json()) as Item<P>[] | { messages: Item<P>[] }
        return { items: Array.isArray(body) ? body : body.messages, next: nextOf(response) }
      })
    },
    async *stream<P extends StreamPaths>(path: P, ...[given]: Options<'post', P>) {
      const { body, ...rest } = (given ?? {}) as AnyOptions
      const asked = path.startsWith('/api/gateway/') ? { ...body, stream: true } : body
      const accept = 'text/event-stream'
      const response = await request('POST', path, { ...rest, ...(asked && { body: asked }) }, { accept })
      if (!response.headers.get('content-type')?.startsWith(accept)) {
        await response.body?.cancel()
        throw new PlatformError(response, { message: 'The answer is no stream', code: 'stream_invalid' })
      }
      for await (const { data } of readEvents(response.body!)) {
        // Events that came together are yielded one by one.
        rest.signal?.throwIfAborted()
        if (data === '[DONE]') return
        yield eventOf(data, response) as StreamEvent<P>
      }
      // A `fetch` that calls a handler directly may end the stream in place of breaking it.
      rest.signal?.throwIfAborted()
      throw new PlatformError(response, { message: 'The stream broke off before its end', code: 'stream_incomplete' })
    },
    async upload(file, given = {}) {
      const { onProgress, signal } = given
      const transport = uploadTransport(fetch, file, onProgress, options.fetch === undefined)
      const body = formOf(file, given)
      const response = await request('POST', '/api/user-files', { body, signal }, { transport })
      return (await response.json()) as Schemas['UserFile']
    },
  }
}
