import type { KV, RateLimiter } from '@turnpike/core'
import type { PasswordHasher } from './passwords.js'
import type { Secret } from './secrets.js'
import type { SignInLimits } from './sign-ins.js'

/** Options of `passwordAuth`. */
export interface PasswordAuthOptions {
  kv: KV
  /**
   * What all keys are derived from, at least 32 characters or bytes; default one that is made and kept in the store. Of several, the first is used
   * for what is made, and all for what was made before: so a secret is replaced without signing anybody out.
   */
  secret?: Secret | readonly Secret[]
  /** Counts failed sign-ins; default `memoryRateLimiter`, which counts within one process. */
  rateLimiter?: RateLimiter
  /** Default `scryptHasher`. */
  hasher?: PasswordHasher
  /** Where browsers reach the platform: what their pages have to come from to sign in with a cookie (`createPlatform` takes the same). Over plain HTTP on another host than this machine, the cookie is without TLS and `__Host-`. */
  baseUrl?: string
  /** Origins besides that of the platform whose pages may sign in with a cookie; default none. */
  trustedOrigins?: readonly string[]
  /** `iss` and `aud` of access tokens; default `turnpike`. */
  issuer?: string
  audience?: string
  /** Seconds that an access token is valid; default 900. */
  accessTokenS?: number
  /** Failed sign-ins a minute with one e-mail, on one device that signed in before, and from one address; default 5, 5 and 30. */
  failures?: { perEmail?: number; perDevice?: number; perAddress?: number }
  /** How long sign-ins last, and how many a user has. */
  signIns?: Partial<SignInLimits>
  /** Characters of a password; default 8 to 256. */
  passwordLength?: { min: number; max: number }
  /** Passwords that are hashed at a time, and that wait for it, in this process; default 2 and 32. 429 or 503 beyond. */
  hashing?: { running: number; waiting: number }
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}
