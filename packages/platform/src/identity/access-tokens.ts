import { uuidv7 } from '@turnpike/core/helpers'
import { decodeJwt, jwtVerify, SignJWT } from 'jose'
import { CLOCK_S } from '../conventions.js'
import type { SigningKeys } from './signing-keys.js'
import { ALGORITHM } from './signing-keys.js'

/** `typ` of an access token (RFC 9068). */
const TYPE = 'at+jwt'

/** The claims of an access token that are used. */
export interface Claims {
  sub: string
  /** The id of the sign-in. */
  sid: string
  /** The counter of the refresh token that it was issued with; absent where it was issued without one. */
  rtc?: number
  /** The generation of tokens of the sign-in; absent = the first. */
  gen?: number
  /** When it expires, in seconds. */
  exp: number
}

/** A token, and when it expires, in seconds. */
export interface AccessToken {
  token: string
  exp: number
}

/** Options of {@link accessTokens}. */
export interface AccessTokenOptions {
  issuer: string
  audience: string
  /** Lifetime in seconds. */
  seconds: number
  now: () => number
}

/** Signs and verifies access tokens: JWTs by ES256. */
export function accessTokens(keys: SigningKeys, { issuer, audience, seconds, now }: AccessTokenOptions) {
  return {
    /** A token that expires after the configured time. */
    async sign({ sub, ...claims }: Omit<Claims, 'exp'> & { role: string }): Promise<AccessToken> {
      const { kid, key } = await keys.active()
      const iat = Math.floor(now() / 1_000)
      const exp = iat + seconds
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(sub)
        .setIssuedAt(iat)
        .setExpirationTime(exp)
        .setJti(uuidv7(now()))
        .sign(key)
      return { token, exp }
    },
    /** Whether a token claims to be one of these: of this issuer. */
    isOwn(token: string): boolean {
      try {
        return decodeJwt(token).iss === issuer
      } catch {
        return false
      }
    },
    /** When a token that was verified expires, in seconds. */
    expiryOf: (token: string): number => decodeJwt(token).exp!,
    /** The claims of a token that was valid so many milliseconds ago; null for any other. */
    async verify(token: string, waited = 0): Promise<Claims | null> {
      try {
        const { payload } = await jwtVerify(
          token,
          async ({ kid }) => {
            const key = kid === undefined ? undefined : await keys.find(kid)
            if (!key) throw new Error('There is no such key')
            return key
          },
          {
            algorithms: [ALGORITHM],
            issuer,
            audience,
            typ: TYPE,
            requiredClaims: ['sub', 'sid', 'iat', 'exp'],
            currentDate: new Date(now() - waited),
          },
        )
        const { sub, sid, rtc, gen, iat, exp } = payload
        if (typeof sub !== 'string' || typeof sid !== 'string') return null
        if (iat! > now() / 1_000 + CLOCK_S) return null
        const counters = { ...(typeof rtc === 'number' && { rtc }), ...(typeof gen === 'number' && { gen }) }
        return { sub, sid, exp: exp!, ...counters }
      } catch (error) {
        // A store that fails is no invalid token.
        if ((error as { turnpike?: unknown }).turnpike !== undefined) throw error
        return null
      }
    },
  }
}
