import { errorOf } from './errors.js'
import type { Transport } from './send.js'
import type { AuthSession, Schemas, SignedInUser } from './types.js'

/** Where the client keeps the session of somebody who has signed in. Tabs that share one refresh it once. */
export interface SessionStore {
  /** @param platform the client's `baseUrl`, where several clients share the store: tokens of one platform are not for another */
  get(platform: string): AuthSession | null | Promise<AuthSession | null>
  /** @param session null when it has ended */
  set(session: AuthSession | null, platform: string): void | Promise<void>
}

/** How requests show who sends them. */
export interface Session {
  /** The access token to send; undefined where there is none. */
  token(): string | undefined | Promise<string | undefined>
  signIn(credentials: { email: string; password: string }): Promise<SignedInUser>
  /**
   * Makes the session good again after an access token was refused.
   * @returns the user; null if the session is over
   */
  renew(refused: string | undefined): Promise<SignedInUser | null>
  /** Forgets the session, after the platform has ended it. */
  end(): Promise<void>
}

/** Where a session is made and refreshed. */
export interface Platform {
  base: string
  fetch: Transport
}

/** Seconds after which a refresh that is not answered fails: other tabs wait for it. */
const ANSWER_S = 30

/** Asks the platform for a session. @throws PlatformError for an answer that is an error, and what `fetch` throws */
async function ask<T>({ base, fetch }: Platform, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(base + path, {
    method,
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_S * 1_000),
  })
  if (!response.ok) throw await errorOf(response)
  return (await response.json()) as T
}

/** What a request for a session resolves with; null where there is none any more (401). */
const unlessOver = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: { status?: number }) => {
    if (error.status === 401) return null
    throw error
  })

/** The locks that all tabs of an origin share; some runtimes have none. */
const { navigator } = globalThis as {
  navigator?: { locks?: { request<T>(name: string, run: () => Promise<T>): Promise<T> } }
}

/** Runs functions one after the other: those of all tabs or, where there are no locks, those that it was given. */
function queue(name: string): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    if (navigator?.locks) return navigator.locks.request(name, run)
    const result = last.then(run)
    last = result.catch(() => undefined)
    return result
  }
}

/** Calls a function once for all who ask while it runs. */
function once<T, Args extends unknown[]>(run: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  let running: Promise<T> | undefined
  return (...args) => (running ??= run(...args).finally(() => (running = undefined)))
}

/** A session whose tokens are in a store. */
export function storedSession(store: SessionStore, platform: Platform): Session {
  // Refresh tokens are used one after the other: the platform ends a session whose old one is used again.
  const { base } = platform
  const inTurn = queue(`turnpike session ${base}`)
  return {
    token: async () => (await store.get(base))?.access_token,
    async signIn(credentials) {
      const session = await ask<AuthSession>(platform, 'POST', '/api/auth', credentials)
      await inTurn(async () => store.set(session, base))
      return session.user
    },
    renew: once((refused) =>
      inTurn(async () => {
        const current = await store.get(base)
        // Signed out, or refreshed meanwhile: by another request, or in another tab.
        if (!current || current.access_token !== refused) return current?.user ?? null
        const { refresh_token } = current
        const next = await unlessOver(ask<AuthSession>(platform, 'PUT', '/api/auth', { refresh_token }))
        await store.set(next, base)
        return next?.user ?? null
      }),
    ),
    end: () => inTurn(async () => store.set(null, base)),
  }
}

/** A session whose cookie the browser keeps, and sends by itself to the origin of the page. To ask for it prolongs it. */
export const cookieSession = (platform: Platform): Session => ({
  token: () => undefined,
  signIn: async (credentials) =>
    (await ask<AuthSession>(platform, 'POST', '/api/auth', { ...credentials, cookie: true })).user,
  renew: once(async () => {
    const session = await unlessOver(ask<Schemas['BrowserSession']>(platform, 'GET', '/api/auth/session'))
    return session?.user ?? null
  }),
  end: async () => undefined,
})

/** An access token that is not the client's to renew. */
export const tokenSession = (token: string | (() => string | Promise<string>)): Session => ({
  token: () => (typeof token === 'string' ? token : token()),
  async signIn() {
    throw new TypeError('A client with a token cannot sign in')
  },
  renew: async () => null,
  end: async () => undefined,
})
