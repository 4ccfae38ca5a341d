import { time, usd } from '../format.js'
import type { KeySettings } from '../key-limits.js'
import { Status } from './layout.js'
import { BudgetBar } from './limits.js'

/** A gateway key, as far as it limits what can be done with it. */
export interface KeyLimits extends Pick<KeySettings, 'expires_at' | 'rotated_at' | 'budget' | 'models'> {
  revoked: boolean
  /** True where the owner may have no keys at present; absent = false. */
  suspended?: true | undefined
  /** What was spent of the budget in its period. */
  budget_used_usd?: number | undefined
}

/** Why a key is refused; undefined where it can be used. */
export function refusalOf({ revoked, suspended, expires_at: end }: KeyLimits): string | undefined {
  if (revoked) return 'revoked'
  if (end !== undefined && Date.parse(end) <= Date.now()) return 'expired'
  return suspended && 'suspended'
}

/** Whether a key can be used, and what limits it. */
export const KeyState = ({ budget, budget_used_usd: used = 0, ...key }: KeyLimits) => (
  <>
    <Status tone={refusalOf(key) ? 'off' : 'good'}>{refusalOf(key) ?? 'active'}</Status>
    {key.expires_at !== undefined && (
      <p class="small muted">
        until {time(key.expires_at)}
        {key.rotated_at !== undefined && ', rotated'}
      </p>
    )}
    {budget && (
      <div class="small muted">
        {usd(used)} of {usd(budget.usd)} {budget.per ? `a ${budget.per}` : 'in all'}
        <BudgetBar budget={budget} used={used} />
      </div>
    )}
    {key.models && <p class="small muted break">{key.models.join(', ')}</p>}
  </>
)
