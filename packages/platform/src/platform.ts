import type { BalancePolicy, GatewayKeys, KV, UsageLedger } from '@turnpike/core'
import { ApiError, gatewayKeys, usageLedger } from '@turnpike/core'
import type { CorsOptions, Exchange, HandlerOptions, Servable, ShellOptions, Shells } from '@turnpike/http'
import { createHandler, route, shells } from '@turnpike/http'
import type { Caller } from './caller.js'
import { callerOf } from './caller.js'
import type { PlanLimits } from './operations/balances.js'
import { BALANCE_POLICY, BODY_LIMIT, PLAN_LIMITS, TASK_BODY_LIMIT } from './conventions.js'
import type { Identity } from './identity/identity.js'
import type { PlatformRoute } from './operation.js'
import { accountGet, accountRemove, accountRole } from './operations/account.js'
import { browserSession, jwks, refresh, signIn, signOut } from './operations/auth.js'
import {
  balanceOperations,
  balancesAdd,
  balancesGet,
  balancesSet,
  ownBalance,
  ownLimits,
} from './operations/balances.js'
import {
  conversationClear,
  conversationGet,
  conversationOperations,
  conversationReply,
  conversationSend,
} from './operations/conversations.js'
import { keyOperations, keysCreate, keysList, keysRevoke, keysUsage } from './operations/keys.js'
import {
  projectOperations,
  projectsCreate,
  projectsGet,
  projectsList,
  projectsRemove,
  projectsUpdate,
} from './operations/projects.js'
import { resultOperations, resultsGet, resultsList } from './operations/results.js'
import { sessionOperations, sessionsCreate, sessionsGet, sessionsList } from './operations/sessions.js'
import { conversationSpend, projectsSpend, spendOperations, tasksSpend } from './operations/spend.js'
import type { TaskPolicy } from './operations/tasks.js'
import {
  taskOperations,
  tasksCreate,
  tasksGet,
  tasksList,
  tasksRevisions,
  tasksStatus,
  tasksUpdate,
} from './operations/tasks.js'
import { projectsTeam, teamsList } from './operations/teams.js'
import {
  userOperations,
  usersCreate,
  usersGet,
  usersList,
  usersRemove,
  usersRestore,
  usersUpdate,
} from './operations/users.js'
import type { Parts } from './parts.js'
import type { Responder } from './responder.js'
import type { TeamCatalog } from './teams.js'
import { fixedTeams } from './teams.js'

/** Options of {@link createPlatform}. */
export interface PlatformOptions extends ShellOptions {
  /** The store of users, keys, sessions and balances: the gateway's. */
  kv: KV
  /** Who sends a request: {@link passwordAuth}, {@link jwksIdentity}, both by {@link chainIdentity}, or one of your own. */
  identity: Identity
  /** The gateway in this process, so that revoked keys are refused by it at once; default keys and usage are read through `kv`. */
  gateway?: { keys: GatewayKeys; ledger: UsageLedger }
  /** What credits are for (docs/platform.md); default `report`. Give the gateway the same. */
  balancePolicy?: BalancePolicy
  /** What users may have without extras in their balance; default 1 GB of files, and any number of projects and agents. */
  planLimits?: Partial<PlanLimits>
  /** Which teams projects can have; default `fixedTeams()`. */
  teams?: TeamCatalog
  /** Decides which changes of tasks are allowed; default all, as sent. */
  taskPolicy?: TaskPolicy
  /** Writes the replies of conversations, such as `gatewayResponder()`; default none: messages are only stored. */
  responder?: Responder
  /** Origins besides that of the platform whose pages may send requests with its cookie; default none. */
  trustedOrigins?: readonly string[]
  /** Cross-origin requests that browsers allow; default none. */
  cors?: CorsOptions
  /** Largest JSON body in bytes; default 1 MiB. */
  bodyLimit?: number
  /** Called for each error that ends as a 5xx; default none. */
  onError?: NonNullable<HandlerOptions<Caller>['onError']>
  /** Called with the log record of each finished request; default none. */
  onRequest?: HandlerOptions<Caller>['onRequest']
  /** Further routes, such as `openapi()` of `@turnpike/platform/openapi`; default none. */
  routes?: ((parts: { routes: () => readonly PlatformRoute[] }) => PlatformRoute[])[]
  /** The clock, in milliseconds; default `Date.now`. */
  now?: () => number
}

/** Whether a path is one that a platform answers for, so that a server can give it all others to a gateway. */
export const isPlatformPath = (path: string): boolean => /^\/(api(\/|$)|\.well-known\/)/.test(path)

/** What the routes of a platform do, without HTTP: it checks no caller. */
export type Operations = ReturnType<typeof operationsOf>

const operationsOf = (parts: Parts) => {
  const balances = balanceOperations(parts)
  return {
    users: userOperations(parts),
    balances,
    keys: keyOperations(parts),
    sessions: sessionOperations(parts),
    projects: projectOperations(parts, balances),
    tasks: taskOperations(parts),
    conversations: conversationOperations(parts),
    results: resultOperations(parts),
    spend: spendOperations(parts),
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
}

/**
 * The platform: `/api` and `/.well-known/jwks.json` as handlers for any runtime.
 * @example
 * const platform = createPlatform({ kv, identity: passwordAuth({ kv }) })
 * await platform.operations.users.create({ email: 'ada@example.org', password: 'correct horse', role: 'admin' })
 */
export function createPlatform(options: PlatformOptions): Platform {
  const { kv, identity, gateway, trustedOrigins = [], now = Date.now, bodyLimit = BODY_LIMIT } = options
  const { teams = fixedTeams(), taskPolicy, responder } = options
  const { sessions } = identity
  const operations = operationsOf({
    kv,
    keys: gateway?.keys ?? gatewayKeys(kv, { now }),
    ledger: gateway?.ledger ?? usageLedger(kv, { now }),
    sessions,
    balancePolicy: options.balancePolicy ?? BALANCE_POLICY,
    planLimits: { ...PLAN_LIMITS, ...options.planLimits },
    teams,
    taskPolicy,
    responder,
    now,
  })
  const { users, balances, keys, projects, tasks, conversations, results, spend } = operations
  const ours = { convention: true }
  const gone = { convention: true, status: 204 }

  const routes: PlatformRoute[] = [
    ...(sessions
      ? [
          route('POST', '/api/auth', signIn(sessions)),
          route('PUT', '/api/auth', refresh(sessions)),
          route('DELETE', '/api/auth', signOut(sessions), gone),
          route('GET', '/api/auth/session', browserSession(sessions)),
          route('GET', '/.well-known/jwks.json', jwks(sessions), ours),
        ]
      : []),
    route('GET', '/api/account', accountGet(), ours),
    route('DELETE', '/api/account', accountRemove(users), gone),
    route('PATCH', '/api/account/role', accountRole(users, sessions), ours),
    route('GET', '/api/account/balance', ownBalance(balances), ours),
    route('GET', '/api/account/limits', ownLimits(balances), ours),
    route('POST', '/api/users', usersCreate(users), ours),
    route('GET', '/api/users', usersList(users), ours),
    route('GET', '/api/users/{id}', usersGet(users), ours),
    route('PATCH', '/api/users/{id}', usersUpdate(users), ours),
    route('DELETE', '/api/users/{id}', usersRemove(users), gone),
    route('POST', '/api/users/{id}/restore', usersRestore(users), ours),
    route('GET', '/api/users/{id}/balance', balancesGet(balances), ours),
    route('PATCH', '/api/users/{id}/balance', balancesSet(balances), ours),
    route('POST', '/api/users/{id}/balance', balancesAdd(balances), ours),
    route('POST', '/api/keys', keysCreate(keys), ours),
    route('GET', '/api/keys', keysList(keys), ours),
    route('GET', '/api/keys/usage', keysUsage(keys), ours),
    route('DELETE', '/api/keys/{id}', keysRevoke(keys), gone),
    route('POST', '/api/sessions', sessionsCreate(operations.sessions), ours),
    route('GET', '/api/sessions', sessionsList(operations.sessions), ours),
    route('GET', '/api/sessions/{id}', sessionsGet(operations.sessions), ours),
    route('GET', '/api/projects', projectsList(projects)),
    route('POST', '/api/projects', projectsCreate(projects)),
    route('GET', '/api/projects/{id}', projectsGet(projects)),
    route('PATCH', '/api/projects/{id}', projectsUpdate(projects)),
    route('DELETE', '/api/projects/{id}', projectsRemove(projects), { status: 204 }),
    route('GET', '/api/projects/{id}/team', projectsTeam(projects), ours),
    route('GET', '/api/projects/{id}/spend', projectsSpend(spend), ours),
    route('GET', '/api/projects/{id}/conversation', conversationGet(conversations), ours),
    route('DELETE', '/api/projects/{id}/conversation', conversationClear(conversations), gone),
    route('POST', '/api/projects/{id}/conversation/messages', conversationSend(conversations), ours),
    route('POST', '/api/projects/{id}/conversation/reply', conversationReply(conversations), ours),
    route('GET', '/api/projects/{id}/conversation/spend', conversationSpend(spend), ours),
    route('GET', '/api/tasks', tasksList(tasks), ours),
    route('POST', '/api/tasks', tasksCreate(tasks)),
    route('GET', '/api/tasks/{id}', tasksGet(tasks)),
    route('PATCH', '/api/tasks/{id}', tasksUpdate(tasks), { bodyLimit: Math.max(bodyLimit, TASK_BODY_LIMIT) }),
    route('GET', '/api/tasks/{id}/revisions', tasksRevisions(tasks)),
    route('GET', '/api/tasks/{id}/status', tasksStatus(tasks)),
    route('GET', '/api/tasks/{id}/spend', tasksSpend(spend), ours),
    route('GET', '/api/results', resultsList(results), ours),
    route('GET', '/api/results/{id}', resultsGet(results), ours),
    route('GET', '/api/teams', teamsList(teams), ours),
    ...(options.routes ?? []).flatMap((more) => more({ routes: () => routes })),
  ]

  const authenticate = callerOf(kv, { identity, trustedOrigins, now })
  const { handle, refuse } = createHandler({
    ...options,
    bodyLimit,
    routes,
    authenticate,
    errorBody: ({ message }) => ({ error: message }),
    headers: { 'cache-control': 'private, no-store', vary: 'Cookie, Authorization' },
  })

  return {
    handle,
    refuse,
    ...shells(handle, options),
    routes,
    operations,
    async authenticateAdmin(exchange) {
      try {
        const caller = await authenticate(exchange, 'admin', () => undefined)
        return { admin: caller!.user.id }
      } catch (error) {
        if (ApiError.is(error) && error.status === 401) return null
        throw error
      }
    },
  }
}
