import { PREFLIGHT_S } from './conventions.js'
import type { Exchange } from './shells/exchange.js'

/** Cross-origin requests of browsers. */
export interface CorsOptions {
  /** Exact origins, such as `https://app.example`; default none. */
  origins: readonly string[]
}

/** Headers of answers that pages may read, besides the few that browsers let them read anyway. */
const EXPOSED = [
  'x-request-id',
  'retry-after',
  'x-should-retry',
  'x-gateway-warnings',
  'x-gateway-fallback',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'link',
  'etag',
  'x-message-id',
  'x-reply-id',
].join(', ')

/** Headers for a cross-origin call from an allowed page; none otherwise. A preflight gets the methods and headers that it asks for. */
export function corsHeaders(
  exchange: Exchange,
  { origins }: CorsOptions,
  methods: Iterable<string>,
): Record<string, string> {
  if (origins.length === 0) return {}
  const origin = exchange.header('origin')
  if (origin === undefined || !origins.includes(origin)) return { vary: 'origin' }
  const headers: Record<string, string> = { vary: 'origin', 'access-control-allow-origin': origin }
  if (exchange.method !== 'OPTIONS') headers['access-control-expose-headers'] = EXPOSED
  else {
    const wanted = exchange.header('access-control-request-headers')
    headers['access-control-allow-methods'] = [...methods].join(', ')
    if (wanted !== undefined) headers['access-control-allow-headers'] = wanted
    headers['access-control-max-age'] = String(PREFLIGHT_S)
  }
  return headers
}
