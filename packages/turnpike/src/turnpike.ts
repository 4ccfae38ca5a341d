import { usageLedger } from '@turnpike/core'
import { dashboardFiles, dashboardHeaders } from '@turnpike/dashboard'
import { docsFiles, docsHeaders } from '@turnpike/dashboard/docs'
import { consoleFiles, consoleHeaders } from '@turnpike/example-console'
import type { AuthenticateAdmin, Gateway, GatewayParts, RequestEvents } from '@turnpike/gateway'
import { conventionRoutes, createGateway, requestEvents, tokenAdmin } from '@turnpike/gateway'
import { gatewayDocument, openapi } from '@turnpike/gateway/openapi'
import { prometheus } from '@turnpike/gateway/prometheus'
import type { Servable, Shells } from '@turnpike/http'
import { assetRoutes, shells } from '@turnpike/http'
import type { Platform, PlatformOptions } from '@turnpike/platform'
import {
  createPlatform,
  gatewayResponder,
  isPlatformPath,
  limitGuesses,
  passwordAuth,
  scryptHasher,
} from '@turnpike/platform'
import { openapi as platformOpenapi, platformDocument } from '@turnpike/platform/openapi'
import { createRouter, fetchTransport } from '@turnpike/providers'
import { checkConfig } from './config/check.js'
import type { Config, ConfigInput } from './config/schema.js'
import { openFiles } from './files.js'
import { firstStart } from './first-start.js'
import { finishLeftovers } from './leftovers.js'
import { openPrices } from './prices.js'
import { createProviders, geminiAudio } from './providers.js'
import { openStore } from './storage.js'

const DAY_MS = 86_400_000
/** How old the key that signs access tokens gets before the next one takes its place, in milliseconds. */
const KEY_AGE_MS = 30 * DAY_MS

/** What a host adds to a configuration. */
export interface Host {
  /** Called for each error that ends as a 5xx, or of work in the background; default: it is printed to standard error, by its name. */
  onError?: (error: unknown, context: object) => void
  /** Called for each finished request; default none. */
  onRequest?: NonNullable<PlatformOptions['onRequest']>
  /** Where finished requests are told of; default `requestEvents()`. */
  events?: RequestEvents
}

/** The gateway, the platform and their pages as one handler, in the form that each kind of host takes. */
export interface Turnpike extends Servable, Shells {
  gateway: Gateway
  platform: Platform
  /** Whether all providers are simulated. */
  simulated: boolean
  /** The first gateway key, if this start made it without being given one. */
  firstKey: string | undefined
  /** Lets running requests end, at most 30 seconds, and closes the store. */
  close(): Promise<void>
}

/** Administrators by a token, if there is one, or by their sessions. */
function administrators(
  token: string | undefined,
  platform: () => Platform,
  limits: Parameters<typeof limitGuesses>[1],
): AuthenticateAdmin {
  const bySession: AuthenticateAdmin = (exchange) => platform().authenticateAdmin(exchange)
  if (token === undefined) return bySession
  const byToken = tokenAdmin(token)
  return limitGuesses(async (exchange) => (await byToken(exchange)) ?? bySession(exchange), limits)
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

/**
 * Composes the gateway, the platform and their pages, and makes the first administrator and gateway key, which are printed once.
 * @param configuration as in a file (docs/configuration.md), or as {@link loadConfig} returns it
 * @throws ConfigError with all that is wrong; Error where the store cannot be opened
 * @example
 * const app = await turnpike({ providers: [{ type: 'openai', apiKey }], store: 'redis://localhost' })
 * createServer(app.node).listen(8787)
 */
export async function turnpike(configuration: ConfigInput, host: Host = {}): Promise<Turnpike> {
  const config = checkConfig(configuration)
  const { server, routing, keyLimits, balancePolicy, cors, transport = fetchTransport() } = config
  const { baseUrl, trustedHops } = server
  const { events = requestEvents(), onRequest } = host
  const { onError = (error: unknown, context: object) => console.error((error as Error)?.name, context) } = host
  const bodyMemory = server.bodyMemoryMB * 1_000_000
  // Without the URL of a mirror, which may contain credentials.
  const [pricesName] = config.prices.split(':', 1)
  const prices = await openPrices(config.prices, (error) => onError(error, { prices: pricesName }))
  const { providers, simulated, audio } = createProviders(config.providers, transport, prices)
  const { kv, rateLimiter, close: closeStore } = await openStore(config.store)
  for (const warning of (await kv.health()).warnings ?? []) console.error(warning)
  const { blobs, close: closeFiles } = await openFiles(config)
  const router = createRouter({ providers, prices, ...routing })
  const { maxLoopDelayMs = 0, earlyPingMs = 0, onRequest: ownOnRequest, ...gatewayOptions } = config.gateway
  const { sessionSecret, passwordCost, identity: ownIdentity, ...platformOptions } = config.platform
  const shared = {
    kv,
    trustedHops,
    bodyMemory,
    balancePolicy,
    onError,
    ...(rateLimiter && { rateLimiter }),
    ...(keyLimits && { keyLimits }),
    ...(cors && { cors }),
  }
  const gateway = createGateway({
    ...shared,
    router,
    // Metadata only, and the last chance to keep it.
    ledger: usageLedger(kv, { onLost: (records) => console.error(JSON.stringify({ lost_usage_records: records })) }),
    simulated,
    authenticateAdmin: administrators(config.admin.token, () => platform, { kv, ...(rateLimiter && { rateLimiter }) }),
    ...(audio && geminiAudio),
    ...gatewayOptions,
    maxLoopDelayMs: maxLoopDelayMs || Infinity,
    earlyPingMs: earlyPingMs || Infinity,
    onRequest: [onRequest, ownOnRequest].filter((one) => one !== undefined),
    events,
    routes: [conventionRoutes, prometheus(), openapi(), pages, docs(() => platform)],
  })
  const passwords = passwordAuth({
    kv,
    hasher: scryptHasher({ ln: passwordCost }),
    ...(rateLimiter && { rateLimiter }),
    ...(sessionSecret && { secret: sessionSecret }),
    ...(baseUrl !== undefined && { baseUrl }),
  })
  const platform = createPlatform({
    ...shared,
    identity: ownIdentity ?? passwords,
    gateway,
    ...(baseUrl !== undefined && { baseUrl }),
    files: { blobs, ...filesOf(config) },
    responder: gatewayResponder(gateway, { models: () => router.agentModels() }),
    ...platformOptions,
    ...(onRequest && { onRequest }),
    routes: [platformOpenapi()],
  })
  const servable: Servable = {
    handle: (exchange) => (isPlatformPath(exchange.path) ? platform : gateway).handle(exchange),
    refuse: (error) => gateway.refuse(error),
  }
  const firstKey = await firstStart({ kv, gateway, platform }, config.admin)
  const leftovers = await finishLeftovers(
    { kv, blobs, ledger: gateway.ledger, operations: platform.operations },
    onError,
  )
  const rotate = (): Promise<unknown> =>
    passwords.rotateKeys(KEY_AGE_MS).catch((error: unknown) => onError(error, { rotation: 'signing keys' }))
  const rotation = setInterval(() => void rotate(), DAY_MS).unref()

  return {
    ...servable,
    ...shells(servable.handle, { trustedHops }),
    gateway,
    platform,
    simulated,
    firstKey,
    async close() {
      await gateway.drain()
      clearInterval(rotation)
      await leftovers.end()
      await closeFiles()
      await closeStore()
    },
  }
}
