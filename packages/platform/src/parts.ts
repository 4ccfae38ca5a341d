import type { BalancePolicy, GatewayKeys, KeyLimits, KV, RateLimiter, UsageLedger, User } from '@turnpike/core'
import type { PlanLimits } from './accounts/balances.js'
import type { SelfRole } from './accounts/users.js'
import type { Responder } from './conversations/responder.js'
import type { SessionIssuer } from './identity/identity.js'
import type { Post } from './mail/post.js'
import type { Logged } from './own-log.js'
import type { TeamCatalog } from './projects/teams.js'
import type { LinkPage } from './sign-in/link-page.js'
import type { Notices } from './sign-in/notices.js'
import type { SignUpPolicy } from './sign-in/sign-up.js'
import type { TaskPolicy } from './tasks/tasks.js'

/** What the operations of a platform work on. */
export interface Parts {
  kv: KV
  /** The store, for one operation of a user: what is read there counts as further requests of the user, as far as it is much. */
  kvOf: (userId: string) => KV
  keys: GatewayKeys
  ledger: UsageLedger
  /** Undefined where users are signed in elsewhere. */
  sessions: SessionIssuer | undefined
  /** Counts what people ask for. */
  rateLimiter: RateLimiter
  post: Post
  links: LinkPage
  told: Notices
  signUp: SignUpPolicy
  balancePolicy: BalancePolicy
  planLimits: PlanLimits
  /** Bytes of data that a user may have: `dataGb` of the plan. */
  dataBytes: number
  keyLimits: KeyLimits
  selfRole: SelfRole
  /** Whether people sign in by password. */
  passwords: boolean
  teams: TeamCatalog
  taskPolicy: TaskPolicy | undefined
  /** Undefined where messages are stored only. */
  responder: Responder | undefined
  /** Counts a request of a user to a model. @throws ApiError 429 where there are too many in a minute */
  countRequest: (user: User, calls?: number) => Promise<void>
  /** Does work of a user that no other turn is around: sixteen at a time. */
  inTurn: <T>(userId: string, work: () => Promise<T>) => Promise<T>
  /** @throws ApiError 429 for a user who has read too much in a minute */
  checkRead: (userId: string) => void
  /** Counts what was read for a user elsewhere than by {@link kvOf}, as far as it is much. */
  countRead: (userId: string, characters: number) => Promise<void> | void
  /** Makes changes of users to what is theirs. */
  logged: Logged
  /** Told of errors of work that goes on without a request. */
  onError: ((error: unknown, context: { reply_id: string } | { provider: string }) => void) | undefined
  now: () => number
}
