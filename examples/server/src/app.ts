import { randomBytes } from 'node:crypto'
import type { KV } from '@turnpike/core'
import { getUser, StorageError, usageLedger } from '@turnpike/core'
import { dashboardFiles, dashboardHeaders } from '@turnpike/dashboard'
import { docsFiles, docsHeaders } from '@turnpike/dashboard/docs'
import { consoleFiles, consoleHeaders } from '@turnpike/example-console'
import type { AuthenticateAdmin, Gateway, GatewayParts, RequestEvents } from '@turnpike/gateway'
import { conventionRoutes, createGateway, tokenAdmin } from '@turnpike/gateway'
import { gatewayDocument, openapi } from '@turnpike/gateway/openapi'
import { prometheus } from '@turnpike/gateway/prometheus'
import type { Servable } from '@turnpike/http'
import { assetRoutes, shells } from '@turnpike/http'
import type { Platform } from '@turnpike/platform'
import {
  createPlatform,
  gatewayResponder,
  isPlatformPath,
  limitGuesses,
  passwordAuth,
  scryptHasher,
} from '@turnpike/platform'
import { openapi as platformOpenapi, platformDocument } from '@turnpike/platform/openapi'
import type { Transport } from '@turnpike/providers'
import { createRouter } from '@turnpike/providers'
import type { Environment } from './environment.js'
import { openFiles } from './files.js'
import { finishLeftovers } from './leftovers.js'
import { createLog } from './log.js'
import { toPng } from './png.js'
import { openPrices } from './prices.js'
import { createProviders, geminiAudio } from './providers.js'
import { openStorage } from './storage.js'

/** Who makes it, and the keys that the environment gives, for the audit log. */
const START = { by: 'server-start' }
/** The administrator that the first start makes. */
const ADMIN_ID = '00000000-0000-7000-8000-000000000001'

const DAY_MS = 86_400_000
/** How old the key that signs access tokens gets before the next one takes its place, in milliseconds. */
const KEY_AGE_MS = 30 * DAY_MS

const json = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] })

const curl = (url: string, key: string): string =>
  `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${json}'`

/**
 * Makes the administrator and the first key where there are none, and prints a secret as soon as it is stored: if the start fails later, for
 * instance because the port is in use, it cannot be shown again.
 * @returns the key, if it was made without being given
 */
async function bootstrap(
  kv: KV,
  gateway: Gateway,
  platform: Platform,
  environment: Environment,
): Promise<string | undefined> {
  const { ADMIN_EMAIL, ADMIN_PASSWORD, BOOTSTRAP_GATEWAY_KEY: given } = environment
  const { BOOTSTRAP_GATEWAY_RATE_LIMIT: rateLimit } = environment
  const { keys } = gateway
  let isFirst = false
  const found = await getUser(kv, ADMIN_ID, { deleted: true })
  if (!found) {
    const email = ADMIN_EMAIL ?? 'admin@localhost'
    const password = ADMIN_PASSWORD ?? randomBytes(12).toString('base64url')
    const fields = { id: ADMIN_ID, email, password, role: 'admin', name: 'Administrator' } as const
    try {
      await platform.operations.users.create(fields, START)
      isFirst = true
      if (ADMIN_PASSWORD === undefined)
        console.log(`The administrator, whose password is shown this once:\n  ${email}  ${password}\n`)
    } catch (error) {
      // Another process that shares the store may have been faster.
      if (!(await getUser(kv, ADMIN_ID)))
        throw new Error(`The first administrator, ${email}, cannot be made: ${(error as Error).message}`, {
          cause: error,
        })
      if (StorageError.is(error) && ADMIN_PASSWORD === undefined)
        console.error(
          `The administrator, ${email}, was stored, but not in time to be sure of the password: npm run -s users -- password ${email} sets another`,
        )
    }
  } else if (found.deleted_at !== null) {
    if (given !== undefined)
      console.error('BOOTSTRAP_GATEWAY_KEY makes no key: its owner, the first administrator, was deleted')
    return undefined
  }
  if (given === undefined) {
    if (!isFirst) return undefined
    const first = await keys.create(ADMIN_ID, { name: 'first start', rateLimit }, START)
    if (first) console.log(`Your gateway key, shown this once:\n  ${first.key}\n`)
    return first?.key
  }
  const key = await keys.create(ADMIN_ID, { name: 'bootstrap', rateLimit, key: given }, START)
  const holder = key ? undefined : await keys.verify(given)
  if (holder && holder.key.rate_limit !== rateLimit) await keys.update(holder.key.id, { rateLimit: rateLimit }, START)
  return undefined
}

/** Administrators by `ADMIN_TOKEN`, if it is set, or by their sessions. */
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

/** The models of agents, as far as they are set. */
const agentsOf = ({ AGENT_MODEL: agent, AGENT_MODEL_ALTERNATIVE: agentAlternative }: Environment) => ({
  ...(agent !== undefined && { agent }),
  ...(agentAlternative !== undefined && { agentAlternative }),
})

/** The limits of the plan, as far as they are set. */
const planOf = ({
  PLAN_PROJECTS,
  PLAN_AGENTS,
  PLAN_STORAGE_GB,
  PLAN_DATA_GB,
  PLAN_SESSIONS,
  PLAN_TASKS,
}: Environment) => ({
  ...(PLAN_PROJECTS !== undefined && { projects: PLAN_PROJECTS }),
  ...(PLAN_AGENTS !== undefined && { agents: PLAN_AGENTS }),
  ...(PLAN_STORAGE_GB !== undefined && { storageGb: PLAN_STORAGE_GB }),
  ...(PLAN_DATA_GB !== undefined && { dataGb: PLAN_DATA_GB }),
  ...(PLAN_SESSIONS !== undefined && { sessions: PLAN_SESSIONS }),
  ...(PLAN_TASKS !== undefined && { tasks: PLAN_TASKS }),
})

/** How files are served. */
function filesOf(environment: Environment) {
  const { BASE_URL: baseUrl, FILES_PUBLIC_URL: publicBase, FILES_DIRECT_URLS, FILE_LIMIT_MB } = environment
  const { SESSION_SECRET = [], FILE_URL_SECRETS = SESSION_SECRET } = environment
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(publicBase !== undefined && { publicBase }),
    directUrls: FILES_DIRECT_URLS,
    maxBytes: FILE_LIMIT_MB * 1_000_000,
    secrets: FILE_URL_SECRETS,
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

/** The reference server, whatever runtime serves it. @param events where finished requests are told of */
export async function createApp(environment: Environment, transport: Transport, events: RequestEvents) {
  const { BASE_URL, TRUSTED_HOPS: trustedHops, STORAGE } = environment
  const bodyMemory = environment.BODY_MEMORY_MB * 1_000_000
  const log = createLog(environment.LOG)
  // Without the URL of a mirror, which may contain credentials.
  const [pricesName] = environment.PRICES.split(':', 1)
  const prices = await openPrices(environment.PRICES, (error) => log.onError(error, { prices: pricesName }))
  const { providers, simulated } = createProviders(environment, transport, prices)
  const { kv, rateLimiter } = await openStorage(STORAGE)
  for (const warning of (await kv.health()).warnings ?? []) console.error(warning)
  const { blobs, close: closeFiles } = await openFiles(environment)
  const router = createRouter({
    providers,
    prices,
    defaults: agentsOf(environment),
    ...(environment.MODEL_GROUPS && { groups: environment.MODEL_GROUPS }),
    ...(environment.FAILOVER_STATUSES && { failoverStatuses: environment.FAILOVER_STATUSES }),
  })
  const keyLimits = { developer: { keys: environment.DEVELOPER_KEYS, rateLimit: environment.DEVELOPER_KEY_RATE_LIMIT } }
  const cors = environment.CORS_ORIGINS && { cors: { origins: environment.CORS_ORIGINS } }
  const gateway = createGateway({
    router,
    kv,
    ...(rateLimiter && { rateLimiter }),
    toPng,
    ...(environment.GEMINI_AUDIO && geminiAudio),
    // Metadata only, and the last chance to keep it.
    ledger: usageLedger(kv, { onLost: (records) => console.error(JSON.stringify({ lost_usage_records: records })) }),
    simulated,
    trustedHops,
    ...cors,
    keyLimits,
    authenticateAdmin: administrators(environment.ADMIN_TOKEN, () => platform, {
      kv,
      ...(rateLimiter && { rateLimiter }),
    }),
    balancePolicy: environment.BALANCE_POLICY,
    ...(environment.END_USER_HEADER !== undefined && { endUserHeader: environment.END_USER_HEADER }),
    ...(environment.EXTRA_FIELDS && { extraFields: environment.EXTRA_FIELDS }),
    maxInFlight: environment.MAX_IN_FLIGHT,
    bodyMemory,
    maxLoopDelayMs: environment.MAX_LOOP_DELAY_MS || Infinity,
    firstEventMs: environment.FIRST_EVENT_MS,
    betweenEventsMs: environment.BETWEEN_EVENTS_MS,
    wholeAnswerMs: environment.WHOLE_ANSWER_MS,
    earlyPingMs: environment.EARLY_PING_MS || Infinity,
    holds: environment.HOLDS,
    ...(environment.ON_CLIENT_ABORT && { onClientAbort: environment.ON_CLIENT_ABORT }),
    onError: log.onError,
    onRequest: log.onRequest,
    events,
    routes: [conventionRoutes, prometheus(), openapi(), pages, docs(() => platform)],
  })
  const identity = passwordAuth({
    kv,
    hasher: scryptHasher({ ln: environment.PASSWORD_COST }),
    ...(rateLimiter && { rateLimiter }),
    ...(environment.SESSION_SECRET && { secret: environment.SESSION_SECRET }),
    ...(BASE_URL !== undefined && { baseUrl: BASE_URL }),
  })
  const platform = createPlatform({
    kv,
    identity,
    gateway,
    ...(BASE_URL !== undefined && { baseUrl: BASE_URL }),
    balancePolicy: environment.BALANCE_POLICY,
    planLimits: planOf(environment),
    ...(rateLimiter && { rateLimiter }),
    userRateLimit: environment.USER_RATE_LIMIT,
    apiRateLimits: { user: environment.API_RATE_LIMIT, address: environment.API_ADDRESS_RATE_LIMIT },
    selfRole: environment.SELF_ROLE,
    keyLimits,
    files: { blobs, ...filesOf(environment) },
    responder: gatewayResponder(gateway, { models: () => router.agentModels() }),
    trustedHops,
    ...cors,
    bodyMemory,
    onError: log.onError,
    onRequest: log.onRequest,
    routes: [platformOpenapi()],
  })
  const servable: Servable = {
    handle: (exchange) => (isPlatformPath(exchange.path) ? platform : gateway).handle(exchange),
    refuse: (error) => gateway.refuse(error),
  }
  const { node, hattip } = shells(servable.handle, { trustedHops })
  const firstKey = await bootstrap(kv, gateway, platform, environment)
  const leftovers = await finishLeftovers(
    { kv, blobs, ledger: gateway.ledger, operations: platform.operations },
    log.onError,
  )
  const rotate = (): Promise<unknown> =>
    identity.rotateKeys(KEY_AGE_MS).catch((error: unknown) => log.onError(error, { rotation: 'signing keys' }))
  const rotation = setInterval(() => void rotate(), DAY_MS).unref()

  return {
    /** The gateway and the platform on one port. */
    servable,
    node,
    /** What HatTip composes, on every runtime. */
    handler: hattip,
    /** What adapters take for the server's own address. */
    origin: BASE_URL ?? 'http://localhost',
    /** Says where the server listens and, at the first start, how to call it. */
    announce(address: string, say: (text: string) => void): void {
      const url = BASE_URL ?? address
      const lines = [`Turnpike is listening on ${address}`, `Console: ${url}/console`]
      if (simulated)
        lines.push(
          'No provider key is set, so answers come from simulated upstreams.',
          'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY for real ones.',
        )
      if (firstKey !== undefined) lines.push('', 'Try it:', `  ${curl(url, firstKey)}`)
      say(lines.join('\n'))
    },
    /** Lets running requests end, at most 30 seconds, and closes the store. */
    async close(): Promise<void> {
      await gateway.drain()
      clearInterval(rotation)
      await leftovers.end()
      await closeFiles()
      await kv.close()
    },
  }
}
