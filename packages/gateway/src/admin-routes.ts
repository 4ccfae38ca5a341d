import type { GatewayKeys, KV, Router, UsageLedger } from '@turnpike/core'
import { route } from '@turnpike/http'
import { adminBalancer, adminBalancerSimulate } from './operations/admin/balancer.js'
import { adminEvents } from './operations/admin/events.js'
import { adminFailedRequest, adminFailedRequests } from './operations/admin/failed-requests.js'
import { adminKeys, adminKeysRevoke } from './operations/admin/keys.js'
import { adminMetrics } from './operations/admin/metrics.js'
import { adminPricing } from './operations/admin/pricing.js'
import type { ConfiguredProvider } from './operations/admin/providers.js'
import { adminProviders, adminProvidersProbe } from './operations/admin/providers.js'
import { adminUsage, adminUsageHours } from './operations/admin/usage.js'
import { adminAudit, adminUsersSummary } from './operations/admin/users.js'
import type { RequestEvents } from './records/request-events.js'
import type { GatewayRoute } from './operation.js'

/** The parts of a gateway, for additional routes. */
export interface GatewayParts {
  router: Router
  kv: KV
  keys: GatewayKeys
  ledger: UsageLedger
  /** Undefined if the host set none. */
  events: RequestEvents | undefined
  /** The option `configured`. */
  configured: (() => ConfiguredProvider[]) | undefined
  /** All routes of the gateway. */
  routes: () => readonly GatewayRoute[]
  /** Number of running upstream calls of this process. */
  running: () => number
  /** Aborted when a shutdown begins; endless streams must then end. */
  stopping: AbortSignal
  now: () => number
}

/** The `/admin` routes of the specification, which does not show their payloads. */
export const adminRoutes = ({ router, kv, ledger, configured, now }: GatewayParts): GatewayRoute[] => [
  route('GET', '/admin/metrics', adminMetrics(router, kv, ledger, now)),
  route('GET', '/admin/providers', adminProviders(router, configured)),
  route('GET', '/admin/pricing', adminPricing(router)),
  route('GET', '/admin/users/summary', adminUsersSummary(kv, ledger)),
  route('GET', '/admin/balancer', adminBalancer(router)),
]

/**
 * Routes that the specification does not have: the data of a dashboard, the audit log and, if there are `events`, their stream.
 * @example const gateway = createGateway({ router, kv, routes: [conventionRoutes] })
 */
export const conventionRoutes = ({ router, kv, keys, ledger, events, stopping, now }: GatewayParts): GatewayRoute[] => [
  route('POST', '/admin/providers/{id}/probe', adminProvidersProbe(router), { convention: true }),
  route('POST', '/admin/balancer/simulate', adminBalancerSimulate(router), { convention: true }),
  route('GET', '/admin/usage', adminUsage(kv, ledger, now), { convention: true }),
  route('GET', '/admin/usage/hours', adminUsageHours(kv, ledger, now), { convention: true }),
  route('GET', '/admin/keys', adminKeys(kv, keys, ledger), { convention: true }),
  route('DELETE', '/admin/keys/{id}', adminKeysRevoke(keys, now), { status: 204, convention: true }),
  route('GET', '/admin/audit', adminAudit(kv), { convention: true }),
  route('GET', '/admin/failed-requests', adminFailedRequests(kv), { convention: true }),
  route('GET', '/admin/failed-requests/{id}', adminFailedRequest(kv), { convention: true }),
  ...(events ? [route('GET', '/admin/events', adminEvents(events, stopping), { convention: true })] : []),
]
