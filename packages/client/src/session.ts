import type { AuthSession, Schemas, SignedInUser } from './types.js'

/** Where the client keeps the session of somebody who has signed in. Tabs that share one refresh it once. */
export interface SessionStore {
  get(): AuthSession | null | Promise<AuthSession | null>
  /** @param session null when it has ended */
  set(session: AuthSession | null): void | Promise<void>
}

/** How requests show who sends them. */
export interface Session {
  /** Whether the browser keeps it as a cookie, which it sends by itself to the origin of the page. */
  cookie: boolean
  /** The access token to send; undefined where there is none. */
  token(): string | undefined | Promise<string | undefined>
  /** Keeps the answer to a sign-in, or with null forgets it. */
  set(session: AuthSession | null): void | Promise<void>
  /**
   * Makes the session good again after an access token was refused.
   * @returns the user; null if the session is over
   */
  renew(refused: string | undefined): Promise<SignedInUser | null>
}

/** Asks the platform for a session. @returns null for 401 @throws PlatformError otherwise */
export type AskForSession = <T extends Schemas['BrowserSession']>(
  method: string,
  path: string,
  body?: object,
) => Promise<T | null>

/** A session that a store keeps; by default a variable. */
export function storedSession(store: SessionStore, ask: AskForSession): Session {
  return {
    cookie: false,
    token: async () => (await store.get())?.access_token,
    set: (session) => store.set(session),
    async renew(refused) {
      const current = await store.get()
      // Signed out, or refreshed meanwhile: by another request, or in another tab.
      if (current?.access_token !== refused || !current) return current?.user ?? null
      const next = await ask<AuthSession>('PUT', '/api/auth', { refresh_token: current.refresh_token })
      await store.set(next)
      return next?.user ?? null
    },
  }
}

/** A store that lasts as long as the client. */
export function memoryStore(): SessionStore {
  let kept: AuthSession | null = null
  return { get: () => kept, set: (session) => void (kept = session) }
}

/** A session whose cookie the browser keeps. It is prolonged whenever it is asked for. */
export const cookieSession = (ask: AskForSession): Session => ({
  cookie: true,
  token: () => undefined,
  set: () => undefined,
  renew: async () => (await ask('GET', '/api/auth/session'))?.user ?? null,
})

/** An access token that is not the client's to renew. */
export const tokenSession = (token: string | (() => string | Promise<string>)): Session => ({
  cookie: false,
  token: () => (typeof token === 'string' ? token : token()),
  set: () => undefined,
  renew: async () => null,
})
