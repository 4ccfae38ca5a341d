import { gatewayKeys, memoryRateLimiter, usageLedger } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import { requestEvents, requestHistory } from '@turnpike/gateway'
import type { Exchange, Servable, Shells } from '@turnpike/http'
import { asksFor, shells } from '@turnpike/http'
import { isPlatformPath } from '@turnpike/platform'
import { checkConfig } from './config/check.js'
import type { Config, ConfigInput } from './config/schema.js'
import type { Tree } from './config/tree.js'
import { openFiles } from './files.js'
import { firstStart } from './first-start.js'
import { finishLeftovers } from './leftovers.js'
import { reseal, tellFaults } from './overlay/read.js'
import { changeOverlay, lastChange, readOverlay } from './overlay/store.js'
import { openStore } from './storage.js'
import type { Composed, Host, Parts } from './compose.js'
import { compose } from './compose.js'

const DAY_MS = 86_400_000
/** How old the key that signs access tokens gets before the next one takes its place, in milliseconds. */
const KEY_AGE_MS = 30 * DAY_MS
/** How often a process looks whether another one has changed the overlay, in milliseconds: all follow within five seconds. */
const FOLLOW_MS = 2_000

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
  'server.bodyIdleMs',
  'server.bodyBytesPerS',
  'server.answerIdleMs',
]
/** The longest time of a timer, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1

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
 * http.createServer(app.node).listen(8787)
 */
export async function turnpike(configuration: ConfigInput, host: Host = {}): Promise<Turnpike> {
  const config = checkConfig(configuration)
  const { bodyIdleMs, bodyBytesPerS, answerIdleMs } = config.server
  const pace = {
    ...(bodyIdleMs !== undefined && { bodyIdleMs }),
    ...(bodyBytesPerS !== undefined && { bodyBytesPerS }),
    ...(answerIdleMs !== undefined && { answerIdleMs }),
  }
  const { events = requestEvents(), onRequest } = host
  const { onError = (error: unknown, context: object) => console.error((error as Error)?.name, context) } = host
  const { kv, rateLimiter = memoryRateLimiter(), close: closeStore } = await openStore(config.store)
  for (const warning of (await kv.health()).warnings ?? []) console.error(warning)
  if (config.platform.signUp === 'open' && !config.platform.signUpBudget && config.balancePolicy !== 'enforce')
    console.error(
      'Everybody who signs up uses models without a limit: set SIGN_UP_BUDGET_USD or BALANCE_POLICY=enforce',
    )
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
    currentAdmin: () => current.config.admin,
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
  const firstKey = await firstStart({ kv, ...current }, config)
  const leftovers = await finishLeftovers(
    {
      kv,
      blobs,
      ledger,
      operations: () => current.platform.operations,
      usageDays: () => current.config.usageDays,
    },
    onError,
  )
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
      ...pace,
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
