import type { Act, Entry, Identified, User } from '@turnpike/core'
import type { Authenticator, Head } from '@turnpike/http'
import type { Named } from './password-rules.js'
import type { VouchedBy } from './sign-ins.js'

/** What a sign-in and a refresh answer. */
export interface AuthSession {
  access_token: string
  refresh_token: string
  token_type: 'bearer'
  /** Seconds. */
  expires_in: number
  /** Unix timestamp in seconds. */
  expires_at: number
  user: { id: string; email: string | null; metadata: Record<string, string> }
}

/** An answer of a {@link SessionIssuer}, and the cookies that are set with it. */
export interface Issued<T> {
  session: T
  cookies: string[]
}

/** Which sign-ins of a user end: the caller's own, all but that, or all. */
export type SignOutScope = 'local' | 'others' | 'global'

/** A sign-in as its user and administrators see it. What is not known is null. */
export interface ListedSignIn {
  /** Of no use as a credential. */
  id: string
  user_agent: string | null
  /** Where it was made, and where it was used last. */
  address: string | null
  last_address: string | null
  created_at: string
  /** When it was refreshed last, or its cookie prolonged: up to an hour before its last request. */
  last_used_at: string
}

/** Signs people in and out. */
export interface SessionIssuer {
  /** @throws ApiError 401 for a wrong password or an unknown e-mail, 429 after several failures, 503 where too many sign in at a time */
  signIn(input: { email: string; password: string; cookie?: boolean }, head: Head): Promise<Issued<AuthSession>>
  /** @throws ApiError 401 for a token that is not or no longer valid */
  refresh(refreshToken: string, head: Head): Promise<AuthSession>
  /** An access token of the caller's sign-in: by cookie a new one, and the cookie is prolonged; by access token that itself. */
  current(who: Identified, head: Head): Promise<Issued<Omit<AuthSession, 'refresh_token'>>>
  /** @returns the cookies to set */
  signOut(who: Identified, scope: SignOutScope, head: Head): Promise<string[]>
  /** Gives the caller's sign-in another cookie, after a change of role. @returns the cookies to set; none without a cookie */
  renewCookie(who: Identified): Promise<string[]>
  /** The sign-ins of a user, the one that was used last first. */
  signIns(userId: string): Promise<ListedSignIn[]>
  /** Ends one of the caller's sign-ins. @returns the cookies to set; null where the caller has none with this id */
  endSignIn(who: Identified, id: string, head: Head): Promise<string[] | null>
  /**
   * Ends all sign-ins of a user, or one of them.
   * @param options.id the only one that ends
   * @param options.by who ends them, for the audit log; absent = nothing is logged
   * @returns whether there was one
   */
  signOutUser(userId: string, options?: { id?: string; by?: string }): Promise<boolean>
  /**
   * The entry of a password in the store, to be written in the commit that makes its user.
   * @param of what the user is called by; default nothing is known
   * @param head who asks, where anybody can: it waits as a sign-in does, behind others of its network. Default an administrator
   * @throws ApiError 400 for a password that is too short or too long, common, or made of the user's names; 429 and 503 where too many wait
   */
  passwordEntry(
    userId: string,
    password: string,
    of?: Named,
    head?: Head,
  ): Promise<{ key: string[]; value: { hash: string } }>
  /**
   * Gives the caller a new password, and ends the other sign-ins.
   * @returns the cookies to set: the sign-in gets another one
   * @throws ApiError 403 where `current` is not the password, 429 after several failures, 400 and 503 as above
   */
  changePassword(who: Identified, passwords: { current: string; password: string }, head: Head): Promise<string[]>
  /**
   * Gives a user a new password, and ends all sign-ins.
   * @param again called once it is hashed, for which there may be a queue, and before it is stored
   * @throws ApiError 400 as above
   */
  setPassword(userId: string, password: string, act?: Act, again?: () => unknown): Promise<void>
  /** The keys that verify access tokens. */
  jwks(): Promise<{ keys: object[] }>
  /** Signs in those whom sign-in providers vouch for; absent = it does not. */
  vouched?: VouchedSessions
}

/** Signs in users for whom somebody else vouches. */
export interface VouchedSessions {
  /**
   * Begins a sign-in by cookie, always a new one.
   * @param proof the entry that tells who the provider means
   * @returns the cookies to set; null where the user was deleted meanwhile, or the proof changed
   */
  signIn(user: Entry<User>, proof: Entry<unknown>, by: VouchedBy, head: Head): Promise<string[] | null>
  /** Who vouched for the caller at the sign-in; null = nobody. */
  of(who: Identified): Promise<VouchedBy | null>
}

/** Finds out who sends a request, and may sign people in. */
export interface Identity extends Authenticator {
  /** Serves `/api/auth`; without it, these routes are 404. */
  sessions?: SessionIssuer
}

/**
 * Tries several identities in their order, until one knows the credential. `/api/auth` is served by the first that can.
 * @example const identity = chainIdentity(passwordAuth({ kv, secret }), jwksIdentity({ issuer, audience, jwksUrl }))
 */
export function chainIdentity(...identities: Identity[]): Identity {
  const sessions = identities.find((identity) => identity.sessions)?.sessions
  return {
    async authenticate(head, waited) {
      for (const identity of identities) {
        const found = await identity.authenticate(head, waited)
        if (found) return found
      }
      return null
    },
    ...(sessions && { sessions }),
  }
}

/** The token of an `Authorization: Bearer` header; undefined where there is none. */
export const bearer = (head: Pick<Head, 'header'>): string | undefined =>
  /^bearer +(\S+)$/i.exec(head.header('authorization') ?? '')?.[1]
