import type { Head } from '@turnpike/http'
import * as v from 'valibot'
import type { SessionIssuer } from '../identity/identity.js'
import { operation } from '../operation.js'
import { AuthSession, BrowserSession } from '../schemas.js'

/** A password as somebody sends it. Its length is bounded, so that nobody has long texts hashed. */
export const Password = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024))

/** The body of POST /api/auth. */
export const SignIn = v.object({
  email: v.pipe(v.string(), v.minLength(1), v.maxLength(254)),
  password: Password,
  /** True sets the session cookie as well. */
  cookie: v.nullish(v.boolean()),
})

/** Refuses requests that a page of another site made a browser send. @throws ApiError 403 */
export type CheckSite = (head: Head) => void

/** POST /api/auth */
export const signIn = (sessions: SessionIssuer, checkSite: CheckSite) =>
  operation({
    id: 'auth.signIn',
    summary: 'Signs in by e-mail and password; with `cookie`, sets a session cookie as well.',
    access: 'open',
    body: SignIn,
    example: { email: 'ada@example.org', password: 'correct horse' },
    output: AuthSession,
    errors: [401, 403, 429, 503],
    answerHeaders: ['Set-Cookie'],
    async run(_, { body: { email, password, cookie } }, call) {
      checkSite(call)
      const { session, cookies } = await sessions.signIn({ email, password, cookie: cookie === true }, call)
      call.setHeader('set-cookie', cookies)
      return session
    },
  })

/** PUT /api/auth */
export const refresh = (sessions: SessionIssuer, checkSite: CheckSite) =>
  operation({
    id: 'auth.refresh',
    summary: 'Exchanges a refresh token for a new session.',
    access: 'open',
    aliases: { refreshToken: 'refresh_token' },
    body: v.object({ refresh_token: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)) }),
    example: { refresh_token: '…' },
    output: AuthSession,
    errors: [401, 403, 429],
    run(_, { body: { refresh_token } }, call) {
      checkSite(call)
      return sessions.refresh(refresh_token, call)
    },
  })

/** DELETE /api/auth */
export const signOut = (sessions: SessionIssuer) =>
  operation({
    id: 'auth.signOut',
    summary: 'Signs out here (`local`), everywhere else (`others`) or everywhere (`global`).',
    access: 'user',
    query: v.object({ scope: v.optional(v.picklist(['local', 'others', 'global']), 'local') }),
    answerHeaders: ['Set-Cookie'],
    async run(caller, { query: { scope } }, call) {
      call.setHeader('set-cookie', await sessions.signOut(caller!.who, scope, call))
    },
  })

/** GET /api/auth/session */
export const browserSession = (sessions: SessionIssuer) =>
  operation({
    id: 'auth.session',
    summary: 'An access token for a browser with a session cookie; for an access token, that token itself.',
    access: 'user',
    output: BrowserSession,
    answerHeaders: ['Set-Cookie'],
    async run(caller, _, call) {
      const { session, cookies } = await sessions.current(caller!.who, call)
      call.setHeader('set-cookie', cookies)
      return session
    },
  })

/** GET /.well-known/jwks.json */
export const jwks = (sessions: SessionIssuer) =>
  operation({
    id: 'auth.jwks',
    summary: 'The public keys that verify access tokens (RFC 7517).',
    access: 'open',
    output: v.object({ keys: v.array(v.looseObject({ kid: v.string() })) }),
    run(_, __, call) {
      call.setHeader('cache-control', 'public, max-age=600')
      return sessions.jwks()
    },
  })
