import type { KV } from '@turnpike/core'
import { createUser, getUser, usageLedger } from '@turnpike/core'
import type { Gateway, RequestEvents } from '@turnpike/gateway'
import { conventionRoutes, createGateway, tokenAdmin } from '@turnpike/gateway'
import { openapi } from '@turnpike/gateway/openapi'
import { prometheus } from '@turnpike/gateway/prometheus'
import type { Transport } from '@turnpike/providers'
import { createRouter } from '@turnpike/providers'
import type { Environment } from './environment.js'
import { createLog } from './log.js'
import { toPng } from './png.js'
import { sweepHolds } from './holds.js'
import { openPrices } from './prices.js'
import { createProviders, geminiAudio } from './providers.js'
import { openStorage } from './storage.js'

/** The administrator that the first start makes. */
const ADMIN_ID = '00000000-0000-7000-8000-000000000001'

const json = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] })

const curl = (url: string, key: string): string =>
  `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${json}'`

/** Makes the administrator and the first key where there are none. @returns the value of a key that was made and is to be shown once */
async function bootstrap(kv: KV, { keys }: Gateway, environment: Environment): Promise<string | undefined> {
  const { ADMIN_EMAIL, BOOTSTRAP_GATEWAY_KEY: given, BOOTSTRAP_GATEWAY_RATE_LIMIT: rateLimit } = environment
  const first = await createUser(kv, { id: ADMIN_ID, email: ADMIN_EMAIL ?? null, role: 'admin', name: 'Administrator' })
  if (!first && !(await getUser(kv, ADMIN_ID))) {
    if (given !== undefined)
      console.error('BOOTSTRAP_GATEWAY_KEY makes no key: its owner, the first administrator, was deleted')
    return undefined
  }
  if (given === undefined)
    return first ? (await keys.create(ADMIN_ID, { name: 'first start', rateLimit }))?.key : undefined
  const made = await keys.create(ADMIN_ID, { name: 'bootstrap', rateLimit, key: given })
  const holder = made ? undefined : await keys.verify(given)
  if (holder && holder.key.rate_limit !== rateLimit) await keys.setRateLimit(holder.key.id, rateLimit)
  return undefined
}

/** The reference server, whatever runtime serves it. @param events where finished requests are told of */
export async function createApp(environment: Environment, transport: Transport, events: RequestEvents) {
  const { BASE_URL, TRUSTED_HOPS: trustedHops, STORAGE } = environment
  const log = createLog(environment.LOG)
  const { providers, simulated } = createProviders(environment, transport)

  const prices = await openPrices(environment.PRICES, (error) => log.onError(error, { prices: environment.PRICES }))
  const { kv, rateLimiter } = await openStorage(STORAGE)
  const gateway = createGateway({
    router: createRouter({ providers, prices }),
    kv,
    ...(rateLimiter && { rateLimiter }),
    toPng,
    ...(environment.GEMINI_AUDIO && geminiAudio),
    // Metadata only, and the last chance to keep it.
    ledger: usageLedger(kv, { onLost: (records) => console.error(JSON.stringify({ lost_usage_records: records })) }),
    simulated,
    trustedHops,
    ...(environment.ADMIN_TOKEN !== undefined && { authenticateAdmin: tokenAdmin(environment.ADMIN_TOKEN) }),
    maxInFlight: environment.MAX_IN_FLIGHT,
    maxLoopDelayMs: environment.MAX_LOOP_DELAY_MS || Infinity,
    holds: environment.HOLDS,
    onClientAbort: environment.ON_CLIENT_ABORT,
    onError: log.onError,
    onRequest: log.onRequest,
    events,
    routes: [conventionRoutes, prometheus(), openapi()],
  })
  const newKey = await bootstrap(kv, gateway, environment)
  const { endSweeps } = await sweepHolds(kv, gateway.ledger, log.onError)

  return {
    gateway,
    /** What HatTip composes, on every runtime. */
    handler: gateway.hattip,
    /** What adapters take for the server's own address. */
    origin: BASE_URL ?? 'http://localhost',
    /** Says where the server listens and, at the first start, how to call it. */
    announce(address: string, say: (text: string) => void): void {
      const url = BASE_URL ?? address
      const lines = [`Turnpike is listening on ${address}`]
      if (simulated)
        lines.push(
          'No provider key is set, so answers come from simulated upstreams.',
          'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY for real ones.',
        )
      if (newKey !== undefined)
        lines.push('', 'Your gateway key, shown this once:', `  ${newKey}`, '', 'Try it:', `  ${curl(url, newKey)}`)
      say(lines.join('\n'))
    },
    /** Lets running requests end, at most 30 seconds, and closes the store. */
    async close(): Promise<void> {
      await gateway.drain()
      await endSweeps()
      await kv.close()
    },
  }
}
