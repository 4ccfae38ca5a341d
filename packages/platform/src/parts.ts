import type { BalancePolicy, GatewayKeys, KV, UsageLedger } from '@turnpike/core'
import type { SessionIssuer } from './identity/identity.js'
import type { PlanLimits } from './operations/balances.js'

/** What the operations of a platform work on. */
export interface Parts {
  kv: KV
  keys: GatewayKeys
  ledger: UsageLedger
  /** Undefined where users are signed in elsewhere. */
  sessions: SessionIssuer | undefined
  balancePolicy: BalancePolicy
  planLimits: PlanLimits
  now: () => number
}
