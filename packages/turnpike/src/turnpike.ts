import type { BlobStore, GatewayKeys, KV, PriceSource, RateLimiter, Router, UsageLedger } from '@turnpike/core'
import { gatewayKeys, memoryRateLimiter, usageLedger } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import { dashboardFiles, dashboardHeaders } from '@turnpike/dashboard'
import { docsFiles, docsHeaders } from '@turnpike/dashboard/docs'
import { consoleFiles, consoleHeaders } from '@turnpike/example-console'
import type { AuthenticateAdmin, Gateway, GatewayParts, RequestEvents, RequestHistory } from '@turnpike/gateway'
import { conventionRoutes, createGateway, requestEvents, requestHistory, tokenAdmin } from '@turnpike/gateway'
import { gatewayDocument, openapi } from '@turnpike/gateway/openapi'
import { prometheus } from '@turnpike/gateway/prometheus'
import type { Exchange, Servable, Shells } from '@turnpike/http'
import { asksFor, assetRoutes, shells } from '@turnpike/http'
import type { Platform, PlatformOptions } from '@turnpike/platform'
import {
  createPlatform,
  fixedTeams,
  gatewayResponder,
  isPlatformPath,
  limitGuesses,
  passwordAuth,
  scryptHasher,
} from '@turnpike/platform'
import { openapi as platformOpenapi, platformDocument } from '@turnpike/platform/openapi'
import { fetchTransport } from '@turnpike/providers'
import { checkConfig } from './config/check.js'
import type { Config, ConfigInput } from './config/schema.js'
import type { Tree } from './config/tree.js'
import { openFiles } from './files.js'
import { firstStart } from './first-start.js'
import { finishLeftovers } from './leftovers.js'
import { reseal, tellFaults } from './overlay/read.js'
import type { Overlay } from './overlay/store.js'
import { changeOverlay, lastChange, readOverlay } from './overlay/store.js'
import { openPrices } from './prices.js'
import { geminiAudio } from './providers.js'
import type { Routed, RoutedParts } from './routed.js'
import { openRouter } from './routed.js'
import { serverRoutes } from './server-route.js'
import { openStore } from './storage.js'

const DAY_MS = 86_400_000
/** How old the key that signs access tokens gets before the next one takes its place, in milliseconds. */
const KEY_AGE_MS = 30 * DAY_MS
/** How often a process looks whether another one has changed the overlay, in milliseconds: all follow within five seconds. */
const FOLLOW_MS = 2_000

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
interface Composed {
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

/** The gateway, the platform and their pages as one handler, in the form that each kind of host takes. */
export interface Turnpike extends Servable, Shells {
  /** The parts of the current configuration: {@link reload} replaces them. */
  readonly current: Pick<Composed, 'config' | 'router' | 'gateway' | 'platform' | 'simulated'>
  /** The first gateway key, if this start made it without being given one. */
  firstKey: string | undefined
  /**
   * Takes another configuration for the requests that come from now on; those that run end by the one they began with. The store, the files and what
   * is read at the start alone stay as they are.
   * @returns the settings that have changed and wait for another start
   * @throws ConfigError with all that is wrong, and nothing has changed then
   */
  reload(configuration: ConfigInput): Promise<string[]>
  /** Lets running requests end, at most 30 seconds, and closes the store. */
  close(): Promise<void>
}

/** Settings that are read at the start alone. */
const ofStart = [
  'store',
  'files.store',
  'files.accessKeyId',
  'files.secretAccessKey',
  'files.sessionToken',
  'server.port',
  'server.host',
  'server.workers',
  'server.watch',
  'server.log',
]
/** The longest time of a timer, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1

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

/** The parts that outlive a configuration. */
type Parts = Required<Omit<Host, 'onRequest'>> &
  Pick<Host, 'onRequest'> & {
    kv: KV
    rateLimiter: RateLimiter
    blobs: BlobStore
    keys: GatewayKeys
    ledger: UsageLedger
    history: RequestHistory
  } & Pick<RoutedParts, 'currentPrices' | 'changeOverlay'>

/**
 * Makes the handlers of a configuration and its overlay. Providers whose settings are as before stay, with their health. What of the overlay cannot be
 * used is left out.
 * @param before what is replaced
 */
async function compose(config: Config, parts: Parts, overlay: Overlay, before?: Composed): Promise<Composed> {
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
    ...gatewayOptions
  } = config.gateway
  const { sessionSecret, passwordCost, identity: ownIdentity, teams, ...platformOptions } = config.platform
  const reports = openTelemetry ? (await import('@turnpike/gateway/opentelemetry')).opentelemetry() : undefined
  const shared = {
    kv,
    rateLimiter,
    trustedHops,
    bodyMemory: server.bodyMemoryMB * 1_000_000,
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
    simulated,
    authenticateAdmin: administrators(config.admin.token, () => platform, { kv, rateLimiter }),
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
    ],
  })
  const identity = passwordAuth({
    kv,
    rateLimiter,
    hasher: scryptHasher({ ln: passwordCost }),
    ...(sessionSecret && { secret: sessionSecret }),
    ...(baseUrl !== undefined && { baseUrl }),
  })
  const platform: Platform = createPlatform({
    ...shared,
    identity: ownIdentity ?? identity,
    gateway,
    ...(baseUrl !== undefined && { baseUrl }),
    files: { blobs, ...filesOf(config) },
    responder: gatewayResponder(gateway, { models: () => router.agentModels() }),
    ...platformOptions,
    ...(teams && { teams: 'team' in teams ? teams : fixedTeams(teams) }),
    ...(onRequest && { onRequest }),
    routes: [platformOpenapi()],
  })
  return { config, overlay, routed, prices, router, gateway, platform, identity, simulated }
}

/** Whether a browser opens the address of the server itself: it gets the console, and programs what the gateway says there. */
const opensPage = ({ path, method, header }: Exchange): boolean =>
  path === '/' && method === 'GET' && asksFor(header('accept'), 'text/html', 'application/json')

/** The value of a setting, as a text. */
const textOf = (config: Config, path: string): string | undefined =>
  JSON.stringify(path.split('.').reduce<unknown>((tree, name) => (tree as Tree | undefined)?.[name], config))

/**
 * Composes the gateway, the platform and their pages, and makes the first administrator and gateway key, which are printed once.
 * @param configuration as in a file (docs/configuration.md), such as `loadConfig()` returns it
 * @throws ConfigError with all that is wrong; Error where the store cannot be opened
 * @example
 * const app = await turnpike({ providers: [{ type: 'openai', apiKey }], store: 'redis://localhost' })
 * createServer(app.node).listen(8787)
 */
export async function turnpike(configuration: ConfigInput, host: Host = {}): Promise<Turnpike> {
  const config = checkConfig(configuration)
  const { events = requestEvents(), onRequest } = host
  const { onError = (error: unknown, context: object) => console.error((error as Error)?.name, context) } = host
  const { kv, rateLimiter = memoryRateLimiter(), close: closeStore } = await openStore(config.store)
  for (const warning of (await kv.health()).warnings ?? []) console.error(warning)
  const { blobs, close: closeFiles } = await openFiles(config)
  // Metadata only, and the last chance to keep it.
  const onLost = (records: unknown): void => console.error(JSON.stringify({ lost_usage_records: records }))
  const keys = gatewayKeys(kv)
  const ledger = usageLedger(kv, { onLost })
  const history = requestHistory(kv, { onError: (error) => onError(error, { history: 'failed requests' }) })
  const parts: Parts = {
    kv,
    rateLimiter,
    blobs,
    keys,
    ledger,
    history,
    events,
    onError,
    currentPrices: { table: () => current.prices.table() },
    changeOverlay: (decide) =>
      inTurn(async () => {
        const next = await changeOverlay(kv, decide, async (overlay, changed) => {
          const composed = await compose(current.config, parts, overlay, current)
          const { fault } = composed.routed.read[changed.kind].find(({ entry }) => entry.name === changed.name) ?? {}
          if (fault !== undefined) throw invalid(fault)
          return composed
        })
        if (next) replace(next)
        return current.routed.read
      }),
    ...(onRequest && { onRequest }),
  }

  let current = await compose(config, parts, await readOverlay(kv))
  tellFaults(current.routed.read)
  await reseal(kv, current.routed)
  const firstKey = await firstStart({ kv, ...current }, config.admin)
  const leftovers = await finishLeftovers({ kv, blobs, ledger, operations: () => current.platform.operations }, onError)
  const rotate = (): Promise<unknown> =>
    current.identity.rotateKeys(KEY_AGE_MS).catch((error: unknown) => onError(error, { rotation: 'signing keys' }))
  const rotation = setInterval(() => void rotate(), DAY_MS).unref()
  /** Those of earlier configurations, as long as requests or replies of theirs run. */
  const retired = new Set<Composed>()
  const drain = ({ gateway, platform }: Composed, ms?: number): Promise<unknown> =>
    Promise.all([gateway.drain(ms), platform.drain(ms)])
  const retire = (before: Composed): void => {
    if (before.prices !== current.prices) before.prices.close?.()
    retired.add(before)
    void drain(before, LONGEST_MS).then(() => retired.delete(before))
  }
  const servable: Servable = {
    handle(exchange) {
      if (isPlatformPath(exchange.path)) return current.platform.handle(exchange)
      return current.gateway.handle(opensPage(exchange) ? { ...exchange, path: '/console' } : exchange)
    },
    refuse: (error) => current.gateway.refuse(error),
  }
  let running: Promise<unknown> = Promise.resolve()
  /** Does something once all that was begun before has ended. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = running.then(work)
    running = next.catch(() => undefined)
    return next
  }
  const replace = (next: Composed): void => {
    const before = current
    current = next
    retire(before)
    tellFaults(next.routed.read, before.routed.read)
    reseal(kv, next.routed).catch((error: unknown) => onError(error, { overlay: 'encryption' }))
  }
  /** Takes over what another process has changed. */
  const follow = async (): Promise<void> => {
    if ((await lastChange(kv)) === current.overlay.change) return
    await inTurn(async () => replace(await compose(current.config, parts, await readOverlay(kv), current)))
  }
  let hasFailed = false
  let followed: Promise<void> | undefined
  const following = setInterval(() => {
    followed ??= follow()
      .then(
        () => void (hasFailed = false),
        (error: unknown) => {
          // Once for as long as the store is away.
          if (!hasFailed) onError(error, { overlay: 'changes of other processes' })
          hasFailed = true
        },
      )
      .finally(() => (followed = undefined))
  }, FOLLOW_MS).unref()

  return {
    ...servable,
    ...shells(servable.handle, {
      get trustedHops() {
        return current.config.server.trustedHops
      },
    }),
    get current() {
      return current
    },
    firstKey,
    reload(configuration) {
      return inTurn(async () => {
        const changed = checkConfig(configuration)
        replace(await compose(changed, parts, await readOverlay(kv), current))
        return ofStart.filter((path) => textOf(changed, path) !== textOf(config, path))
      })
    },
    async close() {
      await Promise.all([current, ...retired].map((one) => drain(one)))
      current.prices.close?.()
      clearInterval(rotation)
      clearInterval(following)
      await followed
      await leftovers.end()
      await history.flush()
      await closeFiles()
      await closeStore()
    },
  }
}
