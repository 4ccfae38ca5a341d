import type { OptionNames } from '@turnpike/core/internal'
import type { PlatformOptions } from './platform.js'

/** The options of `createPlatform`, and whether each must be set. */
export const optionNames: OptionNames<PlatformOptions> = {
  kv: true,
  identity: true,
  gateway: false,
  userRateLimit: false,
  apiRateLimits: false,
  rateLimiter: false,
  files: false,
  balancePolicy: false,
  planLimits: false,
  keyLimits: false,
  selfRole: false,
  teams: false,
  taskPolicy: false,
  responder: false,
  baseUrl: false,
  trustedOrigins: false,
  cors: false,
  bodyLimit: false,
  bodyMemory: false,
  onError: false,
  onRequest: false,
  routes: false,
  now: false,
  trustedHops: false,
  bodyIdleMs: false,
  bodyBytesPerS: false,
  answerIdleMs: false,
}
