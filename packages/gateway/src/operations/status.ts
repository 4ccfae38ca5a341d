import type { KV, Router, UsageLedger } from '@turnpike/core'
import { withStatus } from '@turnpike/http'
import * as v from 'valibot'
import { DESCRIPTION, NAME, VERSION } from '../conventions.js'
import { operation } from '../operation.js'
import type { GatewayRoute } from '../operation.js'

/** The answer of GET /health. */
export const HealthResponse = v.object({
  status: v.picklist(['ok', 'draining', 'unavailable']),
  version: v.string(),
  /** True if answers come from simulated upstreams. */
  simulated: v.boolean(),
})

/** GET /health: 200 while the process accepts requests, 503 while it drains or cannot store usage. */
export const health = (options: { kv: KV; ledger: UsageLedger; simulated: boolean; draining: () => boolean }) =>
  operation({
    id: 'health',
    summary: 'Tells whether the gateway can take requests.',
    access: 'open',
    output: HealthResponse,
    statuses: [503],
    async run() {
      const { kv, ledger, simulated, draining } = options
      const stores = async (): Promise<boolean> => {
        try {
          await ledger.ready()
          return (await kv.health()).ok
        } catch {
          return false
        }
      }
      const status = draining() ? 'draining' : (await stores()) ? 'ok' : 'unavailable'
      return withStatus(status === 'ok' ? 200 : 503, { status, version: VERSION, simulated })
    },
  })

/** The health of a provider. */
export const ProviderHealth = v.object({
  id: v.string(),
  status: v.picklist(['healthy', 'unhealthy']),
  failures: v.number(),
  last_failure: v.nullable(v.string()),
  next_try: v.nullable(v.string()),
})

export const ProvidersHealth = v.object({
  /** `ok` if all are healthy, `unavailable` if none is. */
  status: v.picklist(['ok', 'degraded', 'unavailable']),
  providers: v.array(ProviderHealth),
})

/** GET /health/providers: the health of each provider as seen in real traffic, and in probes that administrators ask for. */
export const providersHealth = (router: Router) =>
  operation({
    id: 'health.providers',
    summary: 'Tells how the providers have been doing.',
    access: 'monitor',
    output: ProvidersHealth,
    run() {
      const providers = router.health()
      const healthy = providers.filter(({ status }) => status === 'healthy').length
      return { status: healthy === providers.length ? 'ok' : healthy > 0 ? 'degraded' : 'unavailable', providers }
    },
  })

/** The answer of GET /. */
export const GatewayInfo = v.object({
  name: v.string(),
  version: v.string(),
  description: v.string(),
  /** Operation ids and `METHOD path`. */
  endpoints: v.record(v.string(), v.string()),
})

/** GET /: name, version, description and all endpoints. */
export const info = (routes: () => readonly GatewayRoute[]) =>
  operation({
    id: 'info',
    summary: 'Names the gateway and its endpoints.',
    access: 'open',
    output: GatewayInfo,
    run: () => ({
      name: NAME,
      version: VERSION,
      description: DESCRIPTION,
      endpoints: Object.fromEntries(
        routes()
          .filter(({ listed }) => listed !== false)
          .map(({ method, path, operation }) => [operation.id, `${method} ${path.replace('+}', '}')}`]),
      ),
    }),
  })
