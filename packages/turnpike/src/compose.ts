import type { BlobStore, GatewayKeys, KV, PriceSource, RateLimiter, Router, UsageLedger } from '@turnpike/core'
import { dashboardFiles, dashboardHeaders } from '@turnpike/dashboard'
import { docsFiles, docsHeaders } from '@turnpike/dashboard/docs'
import { consoleFiles, consoleHeaders } from '@turnpike/example-console'
import type { AuthenticateAdmin, Gateway, GatewayParts, RequestEvents, RequestHistory } from '@turnpike/gateway'
import { conventionRoutes, createGateway, tokenAdmin } from '@turnpike/gateway'
import { gatewayDocument, openapi } from '@turnpike/gateway/openapi'
import { prometheus } from '@turnpike/gateway/prometheus'
import { assetRoutes } from '@turnpike/http'
import type { Platform, PlatformOptions } from '@turnpike/platform'
import {
  createPlatform,
  dataBytesOf,
  fixedTeams,
  gatewayResponder,
  limitGuesses,
  passwordAuth,
  scryptHasher,
} from '@turnpike/platform'
import { openapi as platformOpenapi, platformDocument } from '@turnpike/platform/openapi'
import { fetchTransport } from '@turnpike/providers'
import type { Config } from './config/schema.js'
import { openMail } from './mail.js'
import type { Overlay } from './overlay/store.js'
import { openPrices } from './prices.js'
import { geminiAudio } from './providers.js'
import type { Routed, RoutedParts } from './routed.js'
import { openRouter } from './routed.js'
import { serverRoutes } from './server-route.js'
import { openSignInProviders } from './sign-in.js'

/** What a host adds to a configuration. */
export interface Host {
  /** Called for each error that ends as a 5xx, or of work in the background; default: its name is printed to standard error. */
  onError?: (error: unknown, context: object) => void
  /** Called for each finished request; default none. */
  onRequest?: NonNullable<PlatformOptions['onRequest']>
  /** Where finished requests are told of; default `requestEvents()`. */
  events?: RequestEvents
}

/** What one configuration makes of the parts that stay. */
export interface Composed {
  config: Config
  overlay: Overlay
  routed: Routed
  /** Those of the configuration, without the overlay's. */
  prices: PriceSource & { close?(): void }
  router: Router
  gateway: Gateway
  platform: Platform
  identity: ReturnType<typeof passwordAuth>
  simulated: boolean
}

/** Administrators by the tokens that there are now, or by their sessions. */
function administrators(
  admin: () => Config['admin'],
  platform: () => Platform,
  limits: Parameters<typeof limitGuesses>[1],
): AuthenticateAdmin {
  const bySession: AuthenticateAdmin = (exchange) => platform().authenticateAdmin(exchange)
  const tokens = (): AuthenticateAdmin[] => {
    const { token, metricsToken } = admin()
    return [
      ...(token === undefined ? [] : [tokenAdmin(token)]),
      ...(metricsToken === undefined ? [] : [tokenAdmin(metricsToken, { only: 'monitor' })]),
    ]
  }
  const byEither: AuthenticateAdmin = async (exchange, access) => {
    for (const byToken of tokens()) {
      const found = await byToken(exchange, access)
      if (found) return found
    }
    return bySession(exchange, access)
  }
  const limited = limitGuesses(byEither, limits)
  return (exchange, access) => (tokens().length > 0 ? limited : bySession)(exchange, access)
}

/** How files are served. */
function filesOf({ server: { baseUrl }, files, platform }: Config) {
  const { publicUrl, directUrls, urlSeconds, limitMB, trashDays, check, secrets = platform.sessionSecret } = files
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(publicUrl !== undefined && { publicBase: publicUrl }),
    ...(urlSeconds !== undefined && { urlSeconds }),
    ...(trashDays !== undefined && { trashDays }),
    ...(secrets && { secrets }),
    ...(check && { check }),
    directUrls,
    maxBytes: limitMB * 1_000_000,
  }
}

/** The dashboard and the console. Their files contain no data, so that anybody may read them. */
const pages = () => [
  ...assetRoutes(dashboardFiles, { access: 'open' as const, headers: dashboardHeaders }),
  ...assetRoutes(consoleFiles, { access: 'open' as const, headers: consoleHeaders }),
]

/** The documentation of the API, made from the routes of both. */
const docs =
  (platform: () => Platform) =>
  ({ routes }: GatewayParts) =>
    assetRoutes(
      docsFiles(() => ({ gateway: gatewayDocument(routes()), platform: platformDocument(platform().routes) })),
      { access: 'open' as const, headers: docsHeaders },
    )

/** The parts that outlive a configuration. */
export type Parts = Required<Omit<Host, 'onRequest'>> &
  Pick<Host, 'onRequest'> & {
    kv: KV
    rateLimiter: RateLimiter
    blobs: BlobStore
    keys: GatewayKeys
    ledger: UsageLedger
    history: RequestHistory
    /** Of the current configuration: requests that an earlier one has begun are no longer by its tokens. */
    currentAdmin: () => Config['admin']
  } & Pick<RoutedParts, 'currentPrices' | 'changeOverlay'>

/**
 * Makes the handlers of a configuration and its overlay. Providers whose settings are as before stay, with their health. What of the overlay cannot be
 * used is left out.
 * @param before what is replaced
 */
export async function compose(config: Config, parts: Parts, overlay: Overlay, before?: Composed): Promise<Composed> {
  const { kv, rateLimiter, blobs, keys, ledger, history, events, onError, onRequest } = parts
  const { server, keyLimits, balancePolicy, cors, transport = fetchTransport() } = config
  const { baseUrl, trustedHops } = server
  // Without the URL of a mirror, which may contain credentials.
  const [pricesName] = config.prices.split(':', 1)
  const prices =
    before?.config.prices === config.prices
      ? before.prices
      : await openPrices(config.prices, (error) => onError(error, { prices: pricesName }))
  const routed = await openRouter(config, overlay, { ...parts, transport, prices }, before)
  const { router, simulated } = routed
  const {
    maxLoopDelayMs = 0,
    earlyPingMs = 0,
    openTelemetry,
    onRequest: ownOnRequest,
    routes: ownRoutes = [],
    ...gatewayOptions
  } = config.gateway
  const mail = await openMail(config)
  const signInProviders = await openSignInProviders(config)
  const { sessionSecret, passwordCost, identity: ownIdentity, teams, ...ofPlatform } = config.platform
  const { onRequest: platformOnRequest, routes: platformRoutes = [], ...platformOptions } = ofPlatform
  const reports = openTelemetry ? (await import('@turnpike/gateway/opentelemetry')).opentelemetry() : undefined
  const shared = {
    kv,
    rateLimiter,
    trustedHops,
    ...(server.bodyMemoryMB !== undefined && { bodyMemory: server.bodyMemoryMB * 1_000_000 }),
    balancePolicy,
    onError,
    ...(keyLimits && { keyLimits }),
    ...(cors && { cors }),
  }
  const gateway = createGateway({
    ...shared,
    router: routed.withProbes,
    configured: routed.configured,
    keys,
    ledger,
    dataBytes: dataBytesOf(config.platform.planLimits),
    simulated,
    authenticateAdmin: administrators(parts.currentAdmin, () => platform, { kv, rateLimiter }),
    ...(routed.audio && geminiAudio),
    ...gatewayOptions,
    maxLoopDelayMs: maxLoopDelayMs || Infinity,
    earlyPingMs: earlyPingMs || Infinity,
    onRequest: [onRequest, history.onRequest, ownOnRequest, reports].filter((one) => one !== undefined),
    events,
    routes: [
      conventionRoutes,
      () => routed.routes,
      () => serverRoutes(kv, config),
      prometheus(),
      openapi(),
      pages,
      docs(() => platform),
      ...ownRoutes,
    ],
  })
  const identity = passwordAuth({
    kv,
    rateLimiter,
    hasher: scryptHasher({ ln: passwordCost }),
    ...(sessionSecret && { secret: sessionSecret }),
    ...(baseUrl !== undefined && { baseUrl }),
  })
  const told = [onRequest, platformOnRequest].filter((one) => one !== undefined)
  const platform: Platform = createPlatform({
    ...shared,
    identity: ownIdentity ?? identity,
    gateway,
    ...(baseUrl !== undefined && { baseUrl }),
    files: { blobs, ...filesOf(config) },
    ...(mail && { mail }),
    responder: gatewayResponder(gateway, { models: () => router.agentModels() }),
    ...platformOptions,
    signInProviders,
    ...(teams && { teams: 'team' in teams ? teams : fixedTeams(teams) }),
    ...(told.length > 0 && { onRequest: (log) => told.forEach((tell) => tell(log)) }),
    routes: [platformOpenapi(), ...platformRoutes],
  })
  return { config, overlay, routed, prices, router, gateway, platform, identity, simulated }
}
