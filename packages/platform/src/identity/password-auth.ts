import type { Identified, User } from '@turnpike/core'
import { getUser, memoryRateLimiter } from '@turnpike/core'
import { addressOf, revocableCache, sha256 } from '@turnpike/core/helpers'
import { audit, emailId, unauthenticated } from '@turnpike/core/internal'
import { requireSameOrigin } from '@turnpike/http'
import {
  ABSOLUTE_DAYS,
  ACCESS_TOKEN_S,
  AUDIENCE,
  COOKIE,
  FAILURES_PER_ADDRESS,
  HASHING,
  IDLE_DAYS,
  ISSUER,
  PASSWORD_LENGTH,
  PLAIN_COOKIE,
  REUSE_S,
  SIGN_INS,
} from '../conventions.js'
import { memoize } from '../memoize.js'
import { ownLog } from '../own-log.js'
import type { AccessToken } from './access-tokens.js'
import { accessTokens } from './access-tokens.js'
import { accessView } from './access-view.js'
import { signInAttempts } from './attempts.js'
import { hostCookie } from './host-cookie.js'
import type { AuthSession, Identity, SessionIssuer } from './identity.js'
import { bearer } from './identity.js'
import { listedSignIns } from './listed-sign-ins.js'
import { lastUseOf, originOf } from './origin.js'
import type { PasswordAuthOptions } from './password-auth-options.js'
import { passwordChecks } from './password-checks.js'
import { scryptHasher } from './passwords.js'
import { refreshTokens } from './refresh-tokens.js'
import { masterSecrets } from './secrets.js'
import { signInLog } from './sign-in-log.js'
import type { SignIn } from './sign-ins.js'
import { identified, signIns } from './sign-ins.js'
import { signingKeys } from './signing-keys.js'
import { storedPasswords } from './stored-passwords.js'
import { throttle } from './throttle.js'

/** Users with passwords, and their sign-ins. */
export interface PasswordAuth extends Identity {
  sessions: SessionIssuer
  /**
   * Takes new signing keys for access tokens into use; tokens of the old ones stay valid until they expire.
   * @param olderThanMs only if the active key is older; default 0
   * @returns false where it is not, or the next key was not published for 10 minutes
   */
  rotateKeys(olderThanMs?: number): Promise<boolean>
}

/** Who has signed in, and until when the credential is good, in milliseconds. */
interface Known {
  who: Identified & { signInId: string }
  until: number
}

/**
 * Identifies users by access tokens and session cookies, which they get for e-mail and password.
 * @example const identity = passwordAuth({ kv, secret })
 */
export function passwordAuth(options: PasswordAuthOptions): PasswordAuth {
  const { kv, secret, baseUrl, trustedOrigins = [], now = Date.now, accessTokenS = ACCESS_TOKEN_S } = options
  const { hasher = scryptHasher(), rateLimiter = memoryRateLimiter({ now }), failures = {} } = options
  const secrets =
    secret === undefined ? [] : typeof secret === 'string' || secret instanceof Uint8Array ? [secret] : secret
  if (secrets.some(({ length }) => length < 32)) throw new TypeError('The secret must have at least 32 characters')
  const masters = memoize(() => masterSecrets(kv, secrets))
  const keys = signingKeys(kv, masters, { tokenS: accessTokenS, now })
  const { issuer = ISSUER, audience = AUDIENCE } = options
  const tokens = accessTokens(keys, { issuer, audience, seconds: accessTokenS, now })
  const refreshes = refreshTokens(masters)
  const limits = {
    idleDays: IDLE_DAYS,
    absoluteDays: ABSOLUTE_DAYS,
    reuseS: REUSE_S,
    perUser: SIGN_INS,
    ...options.signIns,
  }
  const store = signIns(kv, limits, now)
  const blocks = throttle(kv, rateLimiter, now)
  const log = signInLog(kv, rateLimiter, now)
  const attempts = signInAttempts({ kv, masters, failures, baseUrl, now })
  const passwords = storedPasswords(kv, {
    hasher,
    now,
    length: options.passwordLength ?? PASSWORD_LENGTH,
    queue: options.hashing ?? HASHING,
  })
  const logged = ownLog(kv, rateLimiter, now)
  const checks = passwordChecks({ kv, passwords, attempts, blocks, log, logged, now })
  const session = hostCookie({ host: COOKIE, plain: PLAIN_COOKIE }, baseUrl, limits.idleDays)
  const cache = revocableCache<Known>(now)

  /** The user of a sign-in; null if the user was deleted, or restored since. */
  const userOf = async ({ user_id, created_at }: SignIn): Promise<User | null> => {
    const user = await getUser(kv, user_id)
    return user && !(user.signed_out_at && created_at <= Date.parse(user.signed_out_at)) ? user : null
  }

  /** @param rtc the counter of the refresh token that is issued with it */
  const newToken = (signIn: SignIn, user: User, rtc?: number): Promise<AccessToken> =>
    tokens.sign({
      sub: user.id,
      sid: signIn.id,
      role: user.role,
      ...(rtc !== undefined && { rtc }),
      ...(signIn.generation !== undefined && { gen: signIn.generation }),
    })

  const sessionOf = async (signIn: SignIn, user: User): Promise<AuthSession> => ({
    ...accessView(await newToken(signIn, user, signIn.counter), user, accessTokenS),
    refresh_token: await refreshes.make({ signInId: signIn.id, counter: signIn.counter }),
  })

  const lookUpToken = async (token: string, waited: number): Promise<Known | null> => {
    const claims = await tokens.verify(token, waited)
    const found = claims && (await store.find(claims.sid))
    if (!found || found.value.user_id !== claims.sub || found.value.generation !== claims.gen) return null
    if (!(await userOf(found.value))) return null
    if (claims.rtc !== undefined) await store.arrived(found, claims.rtc)
    return { who: identified('bearer', found.value), until: claims.exp * 1_000 }
  }

  const lookUpCookie = async (value: string): Promise<Known | null> => {
    const signIn = await store.byCookie(value)
    if (!signIn || !(await userOf(signIn))) return null
    return { who: identified('cookie', signIn), until: Infinity }
  }

  /** @returns null for a credential that is not one of these */
  const identify = async (
    via: 'bearer' | 'cookie',
    credential: string,
    isOwn: (credential: string) => boolean,
    lookUp: (credential: string, waited: number) => Promise<Known | null>,
    waited = 0,
  ): Promise<Identified | null> => {
    // A cookie is no bearer token, nor the other way round: which of them it is decides on the check of the origin.
    const name = `${via} ${await sha256(credential)}`
    let known = cache.get(name) ?? null
    if (!known) {
      if (!isOwn(credential)) return null
      known = await cache.load(name, () => lookUp(credential, waited))
    }
    if (!known || known.until <= now() - waited) throw unauthenticated()
    return known.who
  }

  const renewCookie = async (
    { signInId }: Identified,
    options: Parameters<typeof store.renewCookie>[1],
  ): Promise<string[]> => {
    const value = signInId === undefined ? null : await store.renewCookie(signInId, options)
    cache.revoke(({ who }) => who.signInId === signInId)
    return value === null ? [] : [session.set(value)]
  }

  const listed = listedSignIns({
    store,
    log,
    revoke: (which) => cache.revoke(({ who }) => which(who)),
    endCookie: () => session.set(''),
    now,
  })

  const sessions: SessionIssuer = {
    ...listed.sessions,

    async signIn({ email, password, cookie = false }, head) {
      if (cookie) requireSameOrigin(head, { baseUrl, trustedOrigins, unknown: true })
      const verified = await checks.verify(email, password, head)
      const logged = (signIn: SignIn) => log.of('sign-in', signIn, head.ip())
      const made =
        verified && (await store.create({ ...verified, withCookie: cookie, origin: originOf(head), log: logged }))
      if (!made) throw unauthenticated('Invalid email or password')
      const device = await attempts.succeeded(emailId(email), head)
      return {
        session: await sessionOf(made.signIn, verified.user.value),
        cookies: made.cookie === undefined ? [device] : [session.set(made.cookie), device],
      }
    },

    async refresh(refreshToken, head) {
      const token = await refreshes.read(refreshToken)
      const reused = (signIn: SignIn) => log.of('sign-in.reuse', signIn, head.ip())
      const signIn = token && (await store.refresh(token.signInId, token.counter, reused, lastUseOf(head)))
      const user = signIn && (await userOf(signIn))
      if (user) return sessionOf(signIn, user)
      if (token) cache.revoke(({ who }) => who.signInId === token.signInId)
      // Good tokens are never refused: others at the same address cannot sign anybody out.
      if (head.ip() !== '')
        await blocks.failed([{ name: `refresh from ${addressOf(head.ip())}`, perMinute: FAILURES_PER_ADDRESS }])
      throw unauthenticated('This refresh token is not valid, or not any more: sign in again')
    },

    async current(who, head) {
      const signIn = await listed.own(who)
      const user = await userOf(signIn)
      if (!user) throw unauthenticated()
      if (who.via === 'bearer') {
        // No new one: an access token that is stolen must not renew itself.
        const token = bearer(head)!
        const exp = tokens.expiryOf(token)
        return { session: accessView({ token, exp }, user, exp - Math.floor(now() / 1_000)), cookies: [] }
      }
      const cookies =
        who.via === 'cookie' && (await store.prolong(signIn, lastUseOf(head))) ? [session.set(session.of(head))] : []
      return { session: accessView(await newToken(signIn, user), user, accessTokenS), cookies }
    },

    renewCookie: (who) => renewCookie(who, { for: who }),

    async passwordEntry(userId, password, of = {}, head) {
      const attempt = head && (await attempts.of(emailId(of.email ?? ''), head))
      return passwords.entry(userId, password, { of, ...(attempt && { sources: attempt.sources }) })
    },

    async changePassword(who, { current, password }, head) {
      const signIn = await listed.own(who)
      const user = await userOf(signIn)
      if (!user?.email) throw unauthenticated()
      await checks.change({ ...user, email: user.email }, { current, password }, head)
      await listed.end((await store.ofUser(user.id)).filter(({ id }) => id !== signIn.id))
      // Who changes it by the cookie uses no tokens of this sign-in: what is left of them, somebody else may have.
      const cookies = await renewCookie(who, { endsTokens: who.via === 'cookie' })
      return [...cookies, await attempts.succeeded(emailId(user.email), head)]
    },

    async setPassword(userId, password, act = {}, again) {
      const of = (await getUser(kv, userId, { deleted: true })) ?? {}
      const entry = await passwords.entry(userId, password, { of })
      await again?.()
      await kv.commit({ set: [entry, ...audit('user.password', userId, { now: now(), ...act })] })
      await sessions.signOutUser(userId)
    },

    jwks: () => keys.jwks(),

    vouched: {
      async signIn(user, proof, vouched, head) {
        const logged = (signIn: SignIn) => log.of('sign-in', signIn, head.ip())
        const made = await store.create({ user, proof, withCookie: true, origin: originOf(head), vouched, log: logged })
        return made && [session.set(made.cookie!)]
      },
      async of(who) {
        const { provider, id_token } = await listed.own(who)
        return provider === undefined ? null : { provider, ...(id_token !== undefined && { id_token }) }
      },
    },
  }

  return {
    sessions,
    rotateKeys: (olderThanMs) => keys.rotate(olderThanMs),
    async authenticate(head, waited) {
      if (head.header('authorization') !== undefined) {
        // A bearer token wins over a cookie, and there is no way back to the cookie where it is not valid.
        const token = bearer(head)
        return token === undefined ? null : identify('bearer', token, tokens.isOwn, lookUpToken, waited)
      }
      return identify('cookie', session.of(head), (cookie) => cookie !== '', lookUpCookie)
    },
  }
}
