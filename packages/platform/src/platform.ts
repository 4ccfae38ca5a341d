import type { BalancePolicy, Budget, GatewayKeys, GivenKeyLimits, KV, RateLimiter, UsageLedger } from '@turnpike/core'
import { ApiError, gatewayKeys, memoryRateLimiter, usageLedger } from '@turnpike/core'
import { checkOptions } from '@turnpike/core/helpers'
import { consumeMore, keyLimitsOf } from '@turnpike/core/internal'
import type {
  CorsOptions,
  Exchange,
  Handler,
  HandlerOptions,
  Head,
  Servable,
  ShellOptions,
  Shells,
} from '@turnpike/http'
import { createHandler, requireSameOrigin, shells } from '@turnpike/http'
import type { PlanLimits } from './accounts/balances.js'
import { balanceOperations, dataBytesOf } from './accounts/balances.js'
import { erasureOperations } from './accounts/erasure.js'
import type { SelfRole } from './accounts/users.js'
import { userOperations } from './accounts/users.js'
import type { UserGateway } from './browser-gateway.js'
import { browserGateway, isBrowserGateway } from './browser-gateway.js'
import type { Caller } from './caller.js'
import { callerOf, requestCount } from './caller.js'
import { countedReads } from './counted-reads.js'
import {
  API_RATE_LIMITS,
  BALANCE_POLICY,
  PLATFORM_BODY_LIMIT,
  PLATFORM_JSON_FIELDS,
  PLATFORM_JSON_VALUES,
  PLAN_LIMITS,
  REQUEST_BYTES,
  REPLY_DRAIN_MS,
  SELF_ROLE,
  SIGN_UP,
  USER_RATE_LIMIT,
} from './conventions.js'
import { conversationOperations } from './conversations/conversations.js'
import type { Responder } from './conversations/responder.js'
import { inTurns } from './turns.js'
import { tooMany } from './errors.js'
import { fileOperations } from './files/files.js'
import type { FilesOptions } from './files/options.js'
import type { Identity } from './identity/identity.js'
import { withTokens } from './identity/token-identity.js'
import { keyOperations } from './keys/keys.js'
import type { Mailer } from './mail/mailer.js'
import { post } from './mail/post.js'
import { memberOperations } from './members/members.js'
import type { PlatformRoute } from './operation.js'
import { optionNames } from './option-names.js'
import { ownLog } from './own-log.js'
import type { Parts } from './parts.js'
import { projectOperations } from './projects/projects.js'
import type { TeamCatalog } from './projects/teams.js'
import { fixedTeams } from './projects/teams.js'
import { platformRoutes } from './routes.js'
import { sessionOperations } from './sessions/sessions.js'
import { invitationOperations } from './sign-in/invitations.js'
import { linkPage } from './sign-in/link-page.js'
import { linkOperations } from './sign-in/links.js'
import { notices } from './sign-in/notices.js'
import type { SignUp } from './sign-in/sign-up.js'
import { signUpPolicy } from './sign-in/sign-up.js'
import { singleSignOnOf } from './single-sign-on/options.js'
import type { SignInProvider } from './single-sign-on/provider.js'
import type { SingleSignOn } from './single-sign-on/single-sign-on.js'
import { singleSignOn } from './single-sign-on/single-sign-on.js'
import { resultOperations } from './tasks/results.js'
import type { TaskPolicy } from './tasks/tasks.js'
import { taskOperations } from './tasks/tasks.js'
import { tokenOperations } from './tokens/tokens.js'
import { spendOperations } from './usage/spend.js'
import { usageOperations } from './usage/usage.js'

/** Options of {@link createPlatform}. */
export interface PlatformOptions extends ShellOptions {
  /** The store of users, keys, sessions and balances: the gateway's. */
  kv: KV
  /** Who sends a request: {@link passwordAuth}, {@link jwksIdentity}, both by {@link chainIdentity}, or one of your own. */
  identity: Identity
  /**
   * The gateway in this process: it refuses revoked keys at once, and serves people who are signed in at `/api/gateway/v1`. Default none: keys and
   * usage are read through `kv`, and these paths are 404.
   */
  gateway?: { keys: GatewayKeys; ledger: UsageLedger } & UserGateway
  /** Requests a minute of each user at `/api/gateway/v1` and for replies in conversations, together; default 60. */
  userRateLimit?: number
  /**
   * Requests a minute at `/api` of each user, and of each address for all that come without a user; default 1,200 and 6,000. An IPv6 address
   * counts as its network of 64 bits.
   */
  apiRateLimits?: Partial<typeof API_RATE_LIMITS>
  /** Counts these requests; default {@link memoryRateLimiter}, which is exact within one process. */
  rateLimiter?: RateLimiter
  /** Files of users; default none: `/api/user-files` is 404. */
  files?: FilesOptions
  /** What credits are for (docs/platform.md); default `report`. Give the gateway the same. */
  balancePolicy?: BalancePolicy
  /** What users may have without extras in their balance; default 1 GB of files, 0.25 GB of data, 10,000 sessions, 100,000 tasks, and any number of projects and agents. */
  planLimits?: Partial<PlanLimits>
  /**
   * The gateway keys of users by their role; default 20 for developers, of 600 requests a minute each, and 1,000 of 1,000,000 for administrators.
   * Give the gateway the same, which keeps to it for all keys of a user together.
   */
  keyLimits?: GivenKeyLimits
  /** The role that everybody may take; default `user`: administrators make developers. */
  selfRole?: SelfRole
  /** Which teams projects can have; default `fixedTeams()`. */
  teams?: TeamCatalog
  /** Decides which changes of tasks are allowed; default all, as sent. */
  taskPolicy?: TaskPolicy
  /** Writes the replies of conversations, such as `gatewayResponder()`; default none: messages are only stored. */
  responder?: Responder
  /**
   * Where browsers reach the platform, such as `https://ai.example`: the scheme that their pages must have come by. Default that which the
   * platform is called by, or its trusted proxies say.
   */
  baseUrl?: string
  /** Sends messages to people, such as links to those who have forgotten their password; default none: administrators hand links on. Needs `baseUrl`. */
  mail?: Mailer
  /** Where links lead: a page that takes `#/link?token=…`; default `/console` of `baseUrl`. */
  linkPage?: string
  /** Who may sign up: nobody (`closed`), whoever is invited (`invited`, the default), or everybody (`open`), which needs `mail`. */
  signUp?: SignUp
  /** Domains of the e-mails of those who sign up without an invitation; default all. */
  signUpDomains?: readonly string[]
  /** The budget of those who make their account without an invitation, in US dollars in all, a day or a month; default none, which is no limit. */
  signUpBudget?: Budget
  /** Other places where people sign in, such as issuers of OpenID Connect; default none. They need `baseUrl`, and an identity such as `passwordAuth`. */
  signInProviders?: readonly SignInProvider[]
  /** Whether people sign in by password; default true. False needs `signInProviders`. */
  passwords?: boolean
  /** Origins besides that of the platform whose pages may send requests with its cookie; default none. */
  trustedOrigins?: readonly string[]
  /** Cross-origin requests that browsers allow, also to sign in without a cookie; default none. */
  cors?: CorsOptions
  /** Largest JSON body in bytes; default 1 MiB. */
  bodyLimit?: number
  /**
   * Bytes that running requests hold: of bodies that did not come with their head, of uploads, and of answers over 64 KiB, or pieces of lists and
   * files, that clients have not taken yet. 503 beyond. Default 512 MB.
   */
  bodyMemory?: number
  /**
   * Called for each error that ends as a 5xx, or keeps a reply from being stored at its end, a message from being sent or a sign-in provider from
   * being believed; default none.
   */
  onError?: (
    error: unknown,
    context: { request_id: string } | { reply_id: string } | { mail: string } | { provider: string },
  ) => void
  /** Called with the log record of each finished request; default none. */
  onRequest?: HandlerOptions<Caller>['onRequest']
  /** Further routes, such as `openapi()` of `@turnpike/platform/openapi`; default none. */
  routes?: ((parts: { routes: () => readonly PlatformRoute[] }) => PlatformRoute[])[]
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/**
 * Whether a path is one that a platform answers for, so that a server can give it all others to a gateway.
 * @example isPlatformPath('/api/projects') // true
 */
export const isPlatformPath = (path: string): boolean => /^\/(api(\/|$)|\.well-known\/)/.test(path)

/** What the routes of a platform do, without HTTP: it checks no caller. */
export type Operations = ReturnType<typeof operationsOf>

const operationsOf = (parts: Parts, files: FilesOptions | undefined, sso: SingleSignOn | undefined) => {
  const balances = balanceOperations(parts)
  const tokens = tokenOperations(parts)
  const userFiles = files && fileOperations(parts, balances, files)
  const users = userOperations(parts, tokens)
  return {
    /** Undefined without the option `files`. */
    files: userFiles,
    users,
    /** Undefined where users are signed in elsewhere. */
    singleSignOn: sso && singleSignOn(parts, users, sso),
    links: linkOperations(parts),
    invitations: invitationOperations(parts),
    erasures: erasureOperations(parts, { tokens, files: userFiles }),
    balances,
    keys: keyOperations(parts),
    tokens,
    sessions: sessionOperations(parts),
    projects: projectOperations(parts, balances),
    members: memberOperations(parts),
    tasks: taskOperations(parts),
    conversations: conversationOperations(parts, userFiles),
    results: resultOperations(parts),
    spend: spendOperations(parts),
    usage: usageOperations(parts),
  }
}

/** A platform: one handler, in the form that each kind of host takes. */
export interface Platform extends Servable, Shells {
  /** The route table behind all of the above. */
  routes: readonly PlatformRoute[]
  operations: Operations
  /**
   * Authenticates an administrator who is signed in, for the gateway's `/admin` data: its option `authenticateAdmin`.
   * @throws ApiError 403 for other users
   */
  authenticateAdmin(exchange: Exchange): Promise<{ admin: string } | null>
  /**
   * For a shutdown: resolves when no reply of a conversation is being written here, and no message sent. Replies that still are after `ms` are ended,
   * and kept as far as they came. Default 30,000 ms.
   */
  drain(ms?: number): Promise<void>
}

/**
 * The platform: `/api` and `/.well-known/jwks.json` as handlers for any runtime.
 * @example
 * const platform = createPlatform({ kv, identity: passwordAuth({ kv }) })
 * await platform.operations.users.create({ email: 'ada@example.org', password: 'correct horse', role: 'admin' })
 * @throws TypeError that names an option which is missing or unknown
 */
export function createPlatform(options: PlatformOptions): Platform {
  checkOptions('createPlatform', options, optionNames)
  const {
    kv,
    identity,
    gateway,
    baseUrl,
    trustedOrigins = [],
    now = Date.now,
    bodyLimit = PLATFORM_BODY_LIMIT,
  } = options
  const friends = [...trustedOrigins, ...(options.cors?.origins ?? [])]
  const { teams = fixedTeams(), taskPolicy, responder } = options
  const { rateLimiter = memoryRateLimiter({ now }), userRateLimit = USER_RATE_LIMIT } = options
  const { sessions } = identity
  const { signInProviders = [], passwords = true } = options
  const sso = singleSignOnOf(signInProviders, sessions, { baseUrl, passwords })
  const planLimits = { ...PLAN_LIMITS, ...options.planLimits }
  const count = requestCount(rateLimiter, { ...API_RATE_LIMITS, ...options.apiRateLimits }, now)
  const mailing = {
    post: post(options.mail, options.onError),
    links: linkPage({ page: options.linkPage, baseUrl }, options.mail !== undefined),
  }
  const parts: Parts = {
    kv,
    keys: gateway?.keys ?? gatewayKeys(kv, { now }),
    ledger: gateway?.ledger ?? usageLedger(kv, { now }),
    sessions,
    rateLimiter,
    ...mailing,
    told: notices({ kv, rateLimiter, now, ...mailing }),
    signUp: signUpPolicy(
      options.signUp ?? SIGN_UP,
      options.signUpDomains,
      options.mail !== undefined || signInProviders.length > 0,
      options.signUpBudget,
    ),
    balancePolicy: options.balancePolicy ?? BALANCE_POLICY,
    planLimits,
    dataBytes: dataBytesOf(planLimits),
    keyLimits: keyLimitsOf(options.keyLimits),
    selfRole: options.selfRole ?? SELF_ROLE,
    passwords,
    teams,
    taskPolicy,
    responder,
    async countRequest({ id }, calls = 1) {
      const limit = [`user ${id}`, userRateLimit] as const
      const { ok, retryAfter } = await (calls === 1
        ? rateLimiter.consume(...limit)
        : consumeMore(rateLimiter, ...limit, calls))
      const more = calls === 1 ? '' : `, and this one counts as ${calls}`
      if (!ok) throw tooMany(`You are limited to ${userRateLimit} requests per minute${more}`, retryAfter)
    },
    inTurn: (id, work) => count.turn(id, work, true),
    checkRead: count.check,
    countRead: (id, characters) => count.more(id, characters / REQUEST_BYTES),
    kvOf: (id) => countedReads(kv, (requests) => count.more(id, requests)),
    logged: ownLog(kv, rateLimiter, now),
    onError: options.onError,
    now,
  }
  const operations = operationsOf(parts, options.files, sso)
  const routes: PlatformRoute[] = [
    ...platformRoutes(operations, {
      ...parts,
      files: options.files,
      bodyLimit,
      // Pages that may read the answer may sign in, though not with a cookie.
      checkSite: (head) => requireSameOrigin(head, { baseUrl, trustedOrigins: friends, unknown: true }),
    }),
    ...(options.routes ?? []).flatMap((more) => more({ routes: () => routes })),
  ]

  const sameOrigin = { baseUrl, trustedOrigins }
  const refused = (head: Head): Promise<void> => count.address(head)
  const known = withTokens(kv, identity, now)
  const callers = { identity: known, ...sameOrigin, now }
  const authenticate = callerOf(kv, callers)
  const api = createHandler({
    ...options,
    bodyLimit,
    jsonFields: PLATFORM_JSON_FIELDS,
    jsonValues: PLATFORM_JSON_VALUES,
    routes: routes.map((one) => inTurns(one, count)),
    authenticate: callerOf(kv, { ...callers, refused, count }),
    callerId: (caller) => caller?.user.id,
    errorBody: ({ message }) => ({ error: message }),
  })
  const browser =
    gateway &&
    browserGateway(gateway, known, {
      ...sameOrigin,
      refused,
      count: parts.countRequest,
      cors: options.cors ?? { origins: [] },
    })
  const handle: Handler = (exchange) => (browser && isBrowserGateway(exchange.path) ? browser : api.handle)(exchange)
  const { refuse } = api

  return {
    handle,
    refuse,
    ...shells(handle, options),
    routes,
    operations,
    async authenticateAdmin(exchange) {
      try {
        const caller = await authenticate(exchange, { access: 'admin' })
        return { admin: caller!.user.id }
      } catch (error) {
        if (ApiError.is(error) && error.status === 401) return null
        throw error
      }
    },
    async drain(ms = REPLY_DRAIN_MS) {
      await Promise.all([operations.conversations.drain(ms), parts.post.drain(ms)])
    },
  }
}
