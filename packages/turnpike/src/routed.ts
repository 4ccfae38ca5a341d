/** The router of a configuration and its overlay. @module */
import type { KV, PriceSource, Provider, RateLimiter, Router } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import type { ConfiguredProvider, GatewayRoute } from '@turnpike/gateway'
import type { Sealing } from '@turnpike/platform'
import { sealing } from '@turnpike/platform'
import type { Deployment, Transport } from '@turnpike/providers'
import { createRouter } from '@turnpike/providers'
import { fileOf, sourceOf } from './config/check.js'
import type { ProviderSettings } from './config/providers.js'
import type { Config } from './config/schema.js'
import { groupRoutes } from './overlay/groups.js'
import type { Administered } from './overlay/operations.js'
import { orInvalid } from './overlay/operations.js'
import { pricesOver } from './overlay/price-source.js'
import { priceRoutes } from './overlay/prices.js'
import { providerTypeRoutes } from './overlay/provider-types.js'
import { configuredView, providerRoutes, storedView } from './overlay/providers.js'
import type { ReadOverlay, ReadProvider } from './overlay/read.js'
import { nobody, readEntries, trial } from './overlay/read.js'
import type { Overlay } from './overlay/store.js'
import type { ProviderMaker } from './providers.js'
import { createProviders, hasAudio, isSimulated, needProvider, providerMaker } from './providers.js'

/** What a router is made of, besides the configuration. */
export interface RoutedParts {
  kv: KV
  rateLimiter: RateLimiter
  transport: Transport
  /** Those of the configuration. */
  prices: PriceSource
  /** The same, as they are then, for providers that outlive this configuration. */
  currentPrices: PriceSource
  changeOverlay: Administered['change']
}

export interface Routed {
  router: Router
  /** The same, which also probes the providers of the overlay one by one. */
  withProbes: Router
  read: ReadOverlay
  sealing: Sealing
  made: ProviderMaker['made']
  /** Whether only simulations answer. */
  simulated: boolean
  /** Whether a provider of Gemini has audio. */
  audio: boolean
  /** For `GET /admin/providers`. */
  configured(): ConfiguredProvider[]
  /** Those by which administrators change the overlay. */
  routes: GatewayRoute[]
}

/** A provider that the router is given. */
interface Used {
  settings: Provider | ProviderSettings
  deployment: Provider | Deployment
}

/**
 * The stored providers that go with those of the configuration. One that does not, such as by an alias that stands for another model there, is left
 * out, with the reason as its fault: an entry must not stop a start.
 */
function agreeing(own: Used[], stored: ReadProvider[]): Used[] {
  const used: Used[] = []
  for (const one of stored) {
    const { settings, deployment } = one
    if (!settings || !deployment) continue
    try {
      createRouter({ ...trial, providers: [...own, ...used, { deployment }].map((each) => each.deployment) })
      used.push({ settings, deployment })
    } catch (error) {
      delete one.deployment
      one.fault = (error as Error).message.replace(/^createRouter: (providers\[\d+\]: )?/, '')
    }
  }
  return used
}

/**
 * Makes the router. Providers whose settings are as before stay, with their health; what of the overlay cannot be used is left out.
 * @param before what is replaced
 */
export async function openRouter(
  config: Config,
  overlay: Overlay,
  { kv, rateLimiter, transport, prices, currentPrices, changeOverlay }: RoutedParts,
  before?: { routed: Routed },
): Promise<Routed> {
  const { routing } = config
  const maker = providerMaker(transport, currentPrices, before?.routed.made)
  const source = sourceOf(config)
  // Simulations answer only where nobody has configured a provider.
  const hasStored = overlay.entries.some(({ kind }) => kind === 'providers')
  const configured = config.providers.filter((one) => !(hasStored && source === 'environment' && isSimulated(one)))
  const ofConfig = await createProviders(configured, maker, fileOf(config))
  if (!hasStored) needProvider(ofConfig, fileOf(config))
  const sealed = sealing(kv, config.platform.sessionSecret ?? [], 'overlay')
  const read = await readEntries(overlay, { sealing: sealed, maker, groups: routing.groups ?? {} })
  const own = configured.flatMap((settings, i) => {
    const deployment = ofConfig[i]
    return deployment ? { settings, deployment } : []
  })
  const entries = [...own, ...agreeing(own, read.providers)]
  const simulated = entries.length > 0 && entries.every(({ settings }) => isSimulated(settings))
  const audio = entries.some(({ settings }) => hasAudio(settings))
  const router = createRouter({
    providers: entries.length > 0 ? entries.map(({ deployment }) => deployment) : [nobody],
    prices: pricesOver(read.prices, prices),
    rateLimiter,
    ...routing,
    groups: {
      ...routing.groups,
      ...Object.fromEntries(read.groups.flatMap(({ entry: { name }, group }) => (group ? [[name, group]] : []))),
    },
    ...(before && { replaces: before.routed.router }),
  })
  const alone = (deployment: Provider | Deployment) =>
    createRouter({ providers: [deployment], prices, replaces: router })
  const probe = async (one: Router) => {
    const { id } = one.state().providers[0]!
    return { id, probe: (await one.probe(id))! }
  }
  const probeSettings = async (settings: ProviderSettings) => {
    const { make } = providerMaker(transport, currentPrices)
    return probe(await orInvalid(async () => alone((await make({ ...settings, disabled: false }))!)))
  }
  const administered = (): Administered => ({
    config,
    source,
    read,
    sealing: sealed,
    change: changeOverlay,
    probe: probeSettings,
  })
  return {
    router,
    withProbes: {
      ...router,
      async probe(id) {
        const stored = read.providers.find(({ entry }) => entry.name === id)
        if (!stored) return router.probe(id)
        if (!stored.settings) throw invalid(`The provider cannot be used: ${stored.fault}`)
        return (await (stored.deployment ? probe(alone(stored.deployment)) : probeSettings(stored.settings))).probe
      },
    },
    read,
    sealing: sealed,
    made: maker.made,
    simulated,
    audio,
    configured: () => [...configured.map((one) => configuredView(one, source)), ...read.providers.map(storedView)],
    routes: [
      ...providerTypeRoutes,
      ...providerRoutes(administered),
      ...groupRoutes(administered),
      ...priceRoutes(administered),
    ],
  }
}
