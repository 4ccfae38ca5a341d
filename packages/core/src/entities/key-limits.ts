import { KEY_LIMITS } from '../conventions.js'

/**
 * By the role of a user: how many gateway keys that are not revoked the user may have, and how many requests a minute each may be made for
 * and all together may send. Keys of other users come from an operator, who sets their limits.
 */
export type KeyLimits = Record<'developer' | 'admin', { keys: number; rateLimit: number }>

/** Limits of which some are given. */
export type GivenKeyLimits = { [R in keyof KeyLimits]?: Partial<KeyLimits[R]> }

/** All limits; default {@link KEY_LIMITS}. */
export const keyLimitsOf = (given: GivenKeyLimits = {}): KeyLimits => ({
  developer: { ...KEY_LIMITS.developer, ...given.developer },
  admin: { ...KEY_LIMITS.admin, ...given.admin },
})
