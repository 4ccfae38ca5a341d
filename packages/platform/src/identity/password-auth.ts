import type { User } from '@turnpike/core'
import { getUser, memoryRateLimiter } from '@turnpike/core'
import { emailId, revocableCache, sha256 } from '@turnpike/core/internal'
import {
  ABSOLUTE_DAYS,
  ACCESS_TOKEN_S,
  AUDIENCE,
  FAILURES_PER_ADDRESS,
  FAILURES_PER_EMAIL,
  HASHING,
  IDLE_DAYS,
  ISSUER,
  PASSWORD_LENGTH,
  REUSE_S,
  SIGN_INS,
} from '../conventions.js'
import { requireSameOrigin } from '../csrf.js'
import { unauthenticated } from '../errors.js'
import { memoize } from '../memoize.js'
import { accessTokens } from './access-tokens.js'
import type { AuthSession, Identified, Identity, SessionIssuer } from './identity.js'
import { bearer } from './identity.js'
import type { PasswordAuthOptions } from './password-auth-options.js'
import { scryptHasher } from './passwords.js'
import { refreshTokens } from './refresh-tokens.js'
import { masterSecret } from './secrets.js'
import { sessionCookie } from './session-cookie.js'
import type { SignIn } from './sign-ins.js'
import { signIns } from './sign-ins.js'
import { signingKeys } from './signing-keys.js'
import { storedPasswords } from './stored-passwords.js'
import { networkOf, throttle } from './throttle.js'

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

/** Identifies users by access tokens and session cookies, which they get for e-mail and password. */
export function passwordAuth(options: PasswordAuthOptions): PasswordAuth {
  const { kv, secret, baseUrl, trustedOrigins = [], now = Date.now, accessTokenS = ACCESS_TOKEN_S } = options
  const { hasher = scryptHasher(), rateLimiter = memoryRateLimiter({ now }), failures = {} } = options
  if (secret !== undefined && secret.length < 32) throw new TypeError('The secret must have at least 32 characters')
  const master = memoize(() => masterSecret(kv, secret))
  const keys = signingKeys(kv, master, { tokenS: accessTokenS, now })
  const { issuer = ISSUER, audience = AUDIENCE } = options
  const tokens = accessTokens(keys, { issuer, audience, seconds: accessTokenS, now })
  const refreshes = refreshTokens(master)
  const limits = {
    idleDays: IDLE_DAYS,
    absoluteDays: ABSOLUTE_DAYS,
    reuseS: REUSE_S,
    perUser: SIGN_INS,
    ...options.signIns,
  }
  const store = signIns(kv, limits, now)
  const attempts = throttle(kv, rateLimiter, now)
  const passwords = storedPasswords(kv, {
    hasher,
    attempts,
    length: options.passwordLength ?? PASSWORD_LENGTH,
    queue: options.hashing ?? HASHING,
  })
  const session = sessionCookie(baseUrl, limits.idleDays)
  const cache = revocableCache<Known>(now)

  /** The user of a sign-in; null if the user was deleted, or restored since. */
  const userOf = async ({ user_id, created_at }: SignIn): Promise<User | null> => {
    const user = await getUser(kv, user_id)
    return user && !(user.signed_out_at && created_at <= Date.parse(user.signed_out_at)) ? user : null
  }

  const accessOf = async (signIn: SignIn, user: User): Promise<Omit<AuthSession, 'refresh_token'>> => {
    const { token, exp } = await tokens.sign({ sub: user.id, sid: signIn.id, role: user.role })
    const { id, email, role, first_name, last_name, username } = user
    return {
      access_token: token,
      token_type: 'bearer',
      expires_in: accessTokenS,
      expires_at: exp,
      user: { id, email, metadata: { role, first_name, last_name, username } },
    }
  }

  const sessionOf = async (signIn: SignIn, user: User): Promise<AuthSession> => ({
    ...(await accessOf(signIn, user)),
    refresh_token: await refreshes.make({ signInId: signIn.id, counter: signIn.counter }),
  })

  const lookUpToken = async (token: string): Promise<Known | null> => {
    const claims = await tokens.verify(token)
    const signIn = claims && (await store.find(claims.sid))?.value
    if (!signIn || signIn.user_id !== claims.sub || !(await userOf(signIn))) return null
    return { who: { userId: claims.sub, via: 'bearer', signInId: signIn.id }, until: claims.exp * 1_000 }
  }

  const lookUpCookie = async (value: string): Promise<Known | null> => {
    const signIn = await store.byCookie(value)
    if (!signIn || !(await userOf(signIn))) return null
    return { who: { userId: signIn.user_id, via: 'cookie', signInId: signIn.id }, until: Infinity }
  }

  /** @returns null for a credential that is not one of these */
  const identify = async (
    via: 'bearer' | 'cookie',
    credential: string,
    isOwn: (credential: string) => boolean,
    lookUp: (credential: string) => Promise<Known | null>,
  ): Promise<Identified | null> => {
    // A cookie is no bearer token, nor the other way round: which of them it is decides on the check of the origin.
    const name = `${via} ${await sha256(credential)}`
    let known = cache.get(name) ?? null
    if (!known) {
      if (!isOwn(credential)) return null
      known = await cache.load(name, () => lookUp(credential))
    }
    if (!known || known.until <= now()) throw unauthenticated()
    return known.who
  }

  const signOut = async (ended: SignIn[]): Promise<void> => {
    await store.end(ended)
    const ids = new Set(ended.map(({ id }) => id))
    cache.revoke(({ who }) => ids.has(who.signInId))
  }

  const own = async (who: Identified): Promise<SignIn> => {
    const signIn = who.signInId === undefined ? undefined : (await store.find(who.signInId))?.value
    if (!signIn) throw unauthenticated()
    return signIn
  }

  const sessions: SessionIssuer = {
    async signIn({ email, password, cookie = false }, head) {
      if (cookie) requireSameOrigin(head, { baseUrl, trustedOrigins, unknown: true })
      const { perEmail = FAILURES_PER_EMAIL, perAddress = FAILURES_PER_ADDRESS } = failures
      const subjects = [
        { name: `sign-in ${emailId(email)}`, perMinute: perEmail },
        { name: `sign-in from ${networkOf(head.ip())}`, perMinute: perAddress },
      ]
      const verified = await passwords.verify(email, password, subjects)
      const made = verified && (await store.create({ ...verified, withCookie: cookie }))
      if (!made) throw unauthenticated('Invalid email or password')
      return {
        session: await sessionOf(made.signIn, verified.user.value),
        cookies: made.cookie === undefined ? [] : [session.set(made.cookie)],
      }
    },

    async refresh(refreshToken, head) {
      const subjects = [{ name: `refresh from ${networkOf(head.ip())}`, perMinute: FAILURES_PER_ADDRESS }]
      await attempts.check(subjects)
      const token = await refreshes.read(refreshToken)
      const signIn = token && (await store.refresh(token.signInId, token.counter))
      const user = signIn && (await userOf(signIn))
      if (user) return sessionOf(signIn, user)
      if (token) cache.revoke(({ who }) => who.signInId === token.signInId)
      await attempts.failed(subjects)
      throw unauthenticated('This refresh token is not valid, or not any more: sign in again')
    },

    async current(who, head) {
      const signIn = await own(who)
      const user = await userOf(signIn)
      if (!user) throw unauthenticated()
      const isProlonged = who.via === 'cookie' && (await store.prolong(signIn))
      return { session: await accessOf(signIn, user), cookies: isProlonged ? [session.set(session.of(head))] : [] }
    },

    async signOut(who, scope) {
      const current = await own(who)
      if (scope === 'local') await signOut([current])
      else {
        const all = await store.ofUser(who.userId)
        await signOut(scope === 'global' ? all : all.filter(({ id }) => id !== current.id))
      }
      return scope !== 'others' && current.cookie !== undefined ? [session.set('')] : []
    },

    async renewCookie(who) {
      const value = who.signInId === undefined ? null : await store.renewCookie(who.signInId)
      cache.revoke((known) => known.who.signInId === who.signInId)
      return value === null ? [] : [session.set(value)]
    },

    async signOutUser(userId) {
      await signOut(await store.ofUser(userId))
      cache.revoke(({ who }) => who.userId === userId)
    },

    passwordEntry: passwords.entry,

    async setPassword(userId, password) {
      await kv.commit({ set: [await passwords.entry(userId, password)] })
      await sessions.signOutUser(userId)
    },

    jwks: () => keys.jwks(),
  }

  return {
    sessions,
    rotateKeys: (olderThanMs) => keys.rotate(olderThanMs),
    async authenticate(head) {
      if (head.header('authorization') !== undefined) {
        // A bearer token wins over a cookie, and there is no way back to the cookie where it is not valid.
        const token = bearer(head)
        return token === undefined ? null : identify('bearer', token, tokens.isOwn, lookUpToken)
      }
      return identify('cookie', session.of(head), (cookie) => cookie !== '', lookUpCookie)
    },
  }
}
