import type { BalancePolicy, GatewayKeys, GivenKeyLimits, KV, RateLimiter, Router, UsageLedger } from '@turnpike/core'
import { gatewayKeys, memoryRateLimiter, usageLedger } from '@turnpike/core'
import { checkOptions } from '@turnpike/core/helpers'
import { attribution, keyLimitsOf } from '@turnpike/core/internal'
import type {
  Authenticator,
  CorsOptions,
  HandlerOptions,
  SameOriginOptions,
  Servable,
  ShellOptions,
  Shells,
} from '@turnpike/http'
import { bodyMemory, createHandler, route, shells } from '@turnpike/http'
import type { GatewayParts } from './admin-routes.js'
import { adminRoutes } from './admin-routes.js'
import type { AdmissionOptions } from './limits/admission.js'
import { admission } from './limits/admission.js'
import type { AuthenticateAdmin, Caller, CountCalls } from './caller.js'
import { callCounter, callerOf, giverBack, hasUser, signedInBy } from './caller.js'
import type { EMBEDDING } from './conventions.js'
import {
  ABANDONED_MS,
  BETWEEN_EVENTS_MS,
  DRAIN_MS,
  FIRST_EVENT_MS,
  SIGNED_IN_FIELDS,
  WHOLE_ANSWER_MS,
} from './conventions.js'
import { describeError } from './upstream/describe-error.js'
import type { GuardOptions } from './guards/guards.js'
import { checkGuards } from './guards/guards.js'
import { nothingAt } from './no-route.js'
import type { OnRequest } from './records/on-request.js'
import { tellEach } from './records/on-request.js'
import { chatCompletions } from './operations/chat.js'
import { createEmbeddings } from './operations/embeddings.js'
import type { ConfiguredProvider } from './operations/admin/providers.js'
import type { ImageOptions } from './operations/images.js'
import { createImage } from './operations/images.js'
import { getModel, listModels } from './operations/models.js'
import type { SpeechOptions } from './operations/speech.js'
import { createSpeech } from './operations/speech.js'
import { health, info, providersHealth } from './operations/status.js'
import type { TranscriptionOptions } from './operations/transcription.js'
import { createTranscription } from './operations/transcription.js'
import { usersCreate, usersDelete, usersGet, usersList, usersUsage } from './operations/users.js'
import { optionNames } from './option-names.js'
import type { RequestEvents } from './records/request-events.js'
import { eventOf } from './records/request-events.js'
import { upstreamWatches } from './upstream/upstream-watch.js'
import type { Access, GatewayRoute } from './operation.js'

/** Options of {@link createGateway}. */
export interface GatewayOptions
  extends ShellOptions, AdmissionOptions, GuardOptions, ImageOptions, SpeechOptions, TranscriptionOptions {
  /** Chooses the upstream of a request, such as `createRouter({ providers })`. */
  router: Router
  /** The store of keys, users and usage. */
  kv: KV
  /** Gateway keys; default `gatewayKeys(kv)`. */
  keys?: GatewayKeys
  /** Usage records; default `usageLedger(kv)`. */
  ledger?: UsageLedger
  /** Counts requests and tokens per minute; default {@link memoryRateLimiter}, which is exact within one process. */
  rateLimiter?: RateLimiter
  /**
   * By the role of a user, the requests a minute of all their gateway keys together (`rateLimit`), whatever the keys were made with; default 600
   * for developers and 1,000,000 for administrators. Keys of other users come from an operator: they have their own limit only.
   */
  keyLimits?: GivenKeyLimits
  /**
   * The header that names the end user of a request, before the body's `user`, for keys that tell end users apart, such as
   * `x-openwebui-user-id`; default none.
   */
  endUserHeader?: string
  /** Bytes of data that the owner of a key may have, of which its end users are a part, such as `dataBytesOf` of the platform; default any number. */
  dataBytes?: number
  /** Authenticates administrators by another credential than a gateway key, such as {@link tokenAdmin}; default none. */
  authenticateAdmin?: AuthenticateAdmin
  /**
   * What happens to an upstream call whose client disconnects: `cancel` = it is aborted, `drain` = it may end, so that the usage record
   * has the usage that the upstream reports. A usage record is written either way; under a budget, of a whole answer that was aborted with the
   * most that it may cost. Default `drain` where the caller has a budget or needs credits, else `cancel`.
   */
  onClientAbort?: 'cancel' | 'drain'
  /** Milliseconds for which a stream may go on after its first event and after its client has disconnected; a whole answer has its own time-out. Default 600,000. */
  abandonedMs?: number
  /**
   * Whether each request places a hold of its estimated cost in the ledger before the upstream call, so that a crash does not lose it
   * (`ledger.sweep` then records it). Costs one more commit per request; requests under a budget always do so. Default false.
   */
  holds?: boolean
  /**
   * Whether users need credits (docs/usage.md): `enforce` refuses a request with 403 `insufficient_credits` when its user has none left,
   * by a hold as above, and reads the balance from the store. Default `report`: it does not.
   */
  balancePolicy?: BalancePolicy
  /**
   * Paths of request fields that are sent to upstreams also for callers with limits on models or money, though neither our schemas nor
   * OpenAI's reference have them, such as `['min_p', 'messages.prefix']`; for callers without limits, all fields are sent.
   * A field must not let a caller choose a model or an address, or cost extra. Default none: they are dropped and named in `x-gateway-warnings`.
   */
  extraFields?: string[]
  /** Whether `router` leads to simulated upstreams; `/health` reports it. Default false. */
  simulated?: boolean
  /** Time-out in milliseconds for the first event of an upstream's stream; default 300,000. */
  firstEventMs?: number
  /** Time-out in milliseconds for an upstream's whole answer that is not streamed; default `firstEventMs` if that is given, else 600,000. */
  wholeAnswerMs?: number
  /** Time-out in milliseconds between two events of an upstream's stream; default 120,000. */
  betweenEventsMs?: number
  /**
   * Milliseconds without the first event of an upstream's stream after which the answer begins with a comment (`: ping`, then again after each
   * `heartbeatMs`), so that load balancers do not cut it. What fails later is an event under 200, in place of a status. Default: never.
   */
  earlyPingMs?: number
  /** The embedding model of the platform's documents, and its dimensions where a request gives none; default {@link EMBEDDING}. */
  embedding?: typeof EMBEDDING
  /** Largest JSON body in bytes; default 20 MiB. */
  bodyLimit?: number
  /**
   * Bytes that running requests hold: of bodies that did not come with their head, of uploads, also those in files, and of whole answers over
   * 64 KiB until they are taken. 503 `overloaded` beyond. Default 512 MB.
   */
  bodyMemory?: number
  /** Milliseconds of silence after which a stream carries a comment; default 15,000. */
  heartbeatMs?: number
  /** Cross-origin requests that are allowed; default none. */
  cors?: CorsOptions
  /** Called for each error that ends as a 5xx; default none. */
  onError?: NonNullable<HandlerOptions<Caller>['onError']>
  /** Called for each finished request, such as a log or `opentelemetry()`; default none. */
  onRequest?: OnRequest | OnRequest[]
  /** Keeps and publishes the last requests for `GET /admin/events`, such as `requestEvents()`. Default none. */
  events?: RequestEvents
  /** The providers as the host has configured them, for `GET /admin/providers`: those of the router in its order, and what it leaves out. Default those of the router. */
  configured?: () => ConfiguredProvider[]
  /** More routes, such as {@link conventionRoutes}; default none. */
  routes?: ((parts: GatewayParts) => GatewayRoute[])[]
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/** A gateway: one handler, in the form that each kind of host takes. */
export interface Gateway extends Servable, Shells {
  /** The route table behind all of the above. */
  routes: readonly GatewayRoute[]
  keys: GatewayKeys
  ledger: UsageLedger
  /**
   * The gateway for users who are signed in elsewhere, by the same identity that `createPlatform` takes: the routes that a gateway key gives access
   * to, with the same limits, log and errors. The user whom the identity finds pays for the request; one with a profile is made at the first.
   * There is no key, so that neither a key's models and budget nor requests per minute limit it; the user's budget and credits do, and
   * `maxConcurrentPerKey` applies to each user. A request that a page of another site made a browser send is refused with 403, unless the
   * identity says that no browser sends the credential by itself (`via`).
   * @param options.baseUrl where browsers reach the gateway, and `trustedOrigins` whose pages may besides its own; as those of `createPlatform`
   * @param options.cors cross-origin requests that are allowed, in place of the gateway's; default none
   * @param options.count counts the requests of each user, to limit them; default none
   * @example
   * app.use('/ai', gateway.as({ authenticate: (head) => ({ userId: userIdOf(head.header('cookie')) }) }).node)
   */
  as(
    identity: Authenticator,
    options?: Pick<HandlerOptions<Caller>, 'cors'> & SameOriginOptions & { count?: CountCalls },
  ): Servable & Shells
  /**
   * Begins a shutdown: `/health` answers 503, running requests may end, and those that still run after `ms` are aborted with an error.
   * Resolves when none is running. Default 30,000 ms.
   */
  drain(ms?: number): Promise<void>
}

/**
 * The AI gateway: `/v1`, `/health`, `/` and what administrators read below `/admin`, as handlers for any runtime.
 * @example
 * const gateway = createGateway({ router: createRouter({ providers: [openai({ apiKey })] }), kv: await memoryKV() })
 * Bun.serve({ fetch: gateway.fetch, idleTimeout: 0 })
 * @throws TypeError that names an option which is missing or unknown
 */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions('createGateway', options, optionNames)
  const { router, kv, simulated = false, now = Date.now } = options
  checkGuards(options.guards ?? [])
  const keys = options.keys ?? gatewayKeys(kv, { now })
  const ledger = options.ledger ?? usageLedger(kv, { now })
  const rateLimiter = options.rateLimiter ?? memoryRateLimiter({ now })
  const { firstEventMs = FIRST_EVENT_MS, betweenEventsMs = BETWEEN_EVENTS_MS } = options
  const { wholeAnswerMs = options.firstEventMs ?? WHOLE_ANSWER_MS, earlyPingMs = Infinity } = options
  const watches = upstreamWatches()
  const { abandonedMs = ABANDONED_MS, holds = false, balancePolicy = 'report' } = options
  const upstream = {
    ...options,
    guards: options.guards?.length ? options.guards : undefined,
    ledger,
    attribute: attribution(kv, { now }),
    countCalls: callCounter(rateLimiter, keyLimitsOf(options.keyLimits)),
    giveBack: giverBack(rateLimiter, keyLimitsOf(options.keyLimits), now),
    rateLimiter,
    keys,
    watches,
    firstEventMs,
    wholeAnswerMs,
    betweenEventsMs,
    earlyPingMs,
    abandonedMs,
    holds,
    balancePolicy,
    now,
  }
  const stopping = new AbortController()
  const { events } = options
  const parts: GatewayParts = {
    router,
    kv,
    keys,
    ledger,
    events,
    configured: options.configured,
    routes: () => routes,
    running: watches.running,
    stopping: stopping.signal,
    now,
  }

  const routes: GatewayRoute[] = [
    route('POST', '/v1/chat/completions', chatCompletions(upstream)),
    route('POST', '/v1/embeddings', createEmbeddings(upstream, options.embedding)),
    route('POST', '/v1/images/generations', createImage(upstream)),
    route('POST', '/v1/audio/speech', createSpeech(upstream)),
    route('POST', '/v1/audio/transcriptions', createTranscription(upstream)),
    route('GET', '/v1/models', listModels(router)),
    route('GET', '/v1/models/{model+}', getModel(router)),
    route('GET', '/v1/users', usersList(kv)),
    route('POST', '/v1/users', usersCreate(kv, now)),
    route('GET', '/v1/users/{id}', usersGet(kv)),
    route('DELETE', '/v1/users/{id}', usersDelete(kv, keys, now), { status: 204 }),
    route('GET', '/v1/users/{id}/usage', usersUsage(kv, ledger, upstream.countCalls)),
    route('GET', '/health/providers', providersHealth(router)),
    route('GET', '/health', health({ kv, ledger, simulated, draining: () => stopping.signal.aborted })),
    ...adminRoutes(parts),
    ...(options.routes ?? []).flatMap((more) => more(parts)),
    route(
      'GET',
      '/',
      info(() => routes),
    ),
  ]

  const publish: OnRequest = (log) => {
    const event = eventOf(log, now())
    if (event) events!.publish(event)
  }
  const handling: Omit<HandlerOptions<Caller, Access>, 'authenticate'> = {
    ...options,
    routes,
    onRequest: tellEach([options.onRequest ?? [], events ? publish : []].flat()),
    enter: admission(options),
    memory: bodyMemory(options.bodyMemory),
    callerId: (caller) => (hasUser(caller) ? caller.user.id : undefined),
    toApiError: describeError,
    nothingAt,
    errorBody: ({ type, message, code }) => ({ error: { type, message, code } }),
  }
  const authenticate = callerOf(keys, rateLimiter, {
    keyLimits: keyLimitsOf(options.keyLimits),
    authenticateAdmin: options.authenticateAdmin,
    now,
  })
  const { handle, refuse } = createHandler({ ...handling, authenticate })

  return {
    handle,
    refuse,
    ...shells(handle, options),
    routes,
    keys,
    ledger,
    as(identity, { cors = { origins: [] }, count, ...sameOrigin } = {}) {
      const { handle, refuse } = createHandler({
        ...handling,
        routes: routes.filter(({ operation }) => operation.access === 'key'),
        cors,
        jsonFields: SIGNED_IN_FIELDS,
        authenticate: signedInBy(identity, { kv, now, count, ...sameOrigin }),
      })
      return { handle, refuse, ...shells(handle, options) }
    },
    async drain(ms = DRAIN_MS) {
      stopping.abort()
      await watches.drain(ms)
    },
  }
}
