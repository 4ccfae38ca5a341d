import type { Identified } from '@turnpike/core'
import { ID_LENGTH, unauthenticated } from '@turnpike/core/internal'
import type { JSONWebKeySet, JWTPayload, JWTVerifyResult } from 'jose'
import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, errors, jwtVerify } from 'jose'
import { CLOCK_S } from '../conventions.js'
import type { Identity } from './identity.js'
import { bearer } from './identity.js'

/** Options of {@link jwksIdentity}: where the tokens are from, and what they say. */
export interface JwksIdentityOptions {
  /** The `iss` of the tokens. */
  issuer: string
  /** The `aud` of the tokens. */
  audience: string | string[]
  /** Where the identity provider publishes its keys; default `<issuer>/.well-known/jwks.json`. Read again for unknown keys, at most every 30 s. */
  jwksUrl?: string
  /** The keys themselves, in place of `jwksUrl`. */
  jwks?: JSONWebKeySet
  /** Default RS256, PS256, ES256 and EdDSA. Never an algorithm with a shared secret. */
  algorithms?: string[]
  /** Seconds that the clocks may differ; default 30. */
  clockTolerance?: number
  /**
   * The `provider` of the users that it makes; default `jwks`. Give each of several identity providers its own: a token is only good for users of
   * its provider.
   */
  provider?: string
  /**
   * Whom a token belongs to, with the `provider` of the user in the profile; default the user with the id `sub`, and the profile of the claims
   * `email`, `given_name`, `family_name` and `preferred_username`. Where the claim `email_verified` is not true, an e-mail of the profile is left out. Null = 401.
   */
  user?: (claims: JWTPayload) => Pick<Identified, 'userId' | 'profile'> | null
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/** The types of access tokens (RFC 9068, section 2.1), in lower case; a logout token, such as those of OpenID Connect, has another. */
const accessTokens = new Set(['jwt', 'at+jwt', 'application/at+jwt'])

const text = (claim: unknown): string => (typeof claim === 'string' ? claim : '')

/** Some identity providers say it by a text; where one does not say it, its e-mails are believed. */
const isVerified = ({ email_verified = true }: JWTPayload): boolean => String(email_verified) === 'true'

const userBy =
  (provider: string): NonNullable<JwksIdentityOptions['user']> =>
  ({ sub, ...claims }) =>
    typeof sub === 'string' && sub !== '' && sub.length <= ID_LENGTH
      ? {
          userId: sub,
          profile: {
            email: text(claims['email']) || null,
            first_name: text(claims['given_name']),
            last_name: text(claims['family_name']),
            username: text(claims['preferred_username']),
            provider,
          },
        }
      : null

/**
 * Identifies users by the access tokens of an identity provider of your own, such as Supabase, Auth0, Clerk or Keycloak.
 * @throws TypeError for algorithms that are not asymmetric
 * @example const identity = jwksIdentity({ issuer: 'https://id.example', audience: 'ai', jwksUrl: 'https://id.example/keys' })
 */
export function jwksIdentity(options: JwksIdentityOptions): Identity {
  const { issuer, audience, jwks, clockTolerance = 30, now = Date.now } = options
  const { provider = 'jwks', user = userBy(provider) } = options
  const { algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] } = options
  if (algorithms.some((name) => !/^(RS|PS|ES|Ed)/.test(name)))
    throw new TypeError('jwksIdentity takes asymmetric algorithms only')
  const url = options.jwksUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`
  const keys = jwks ? createLocalJWKSet(jwks) : createRemoteJWKSet(new URL(url))

  return {
    async authenticate(head, waited = 0): Promise<Identified | null> {
      const token = bearer(head)
      if (token === undefined) return null
      try {
        if (decodeJwt(token).iss !== issuer) return null
      } catch {
        return null
      }
      let verified: JWTVerifyResult
      try {
        verified = await jwtVerify(token, keys, {
          algorithms,
          issuer,
          audience,
          clockTolerance,
          requiredClaims: ['sub', 'exp', 'iat'],
          currentDate: new Date(now() - waited),
        })
      } catch (error) {
        // Keys that cannot be had are a failure of ours, and no reason to sign the user out.
        const unreachable = error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)
        if (!unreachable && error.code !== errors.JOSEError.code) throw unauthenticated()
        throw error
      }
      const { payload: claims, protectedHeader } = verified
      if (!accessTokens.has(protectedHeader.typ?.toLowerCase() ?? 'jwt')) throw unauthenticated()
      if (claims.iat! > now() / 1_000 + CLOCK_S) throw unauthenticated()
      const found = user(claims)
      if (!found) throw unauthenticated()
      const { userId, profile } = found
      return {
        userId,
        ...(profile && { profile: isVerified(claims) ? profile : { ...profile, email: null } }),
        via: 'bearer',
        issuedAt: claims.iat! * 1_000,
      }
    },
  }
}
