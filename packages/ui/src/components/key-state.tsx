import type { ComponentChildren } from 'preact'
import { time, usd } from '../format.js'
import { Status } from './layout.js'

/** A gateway key, as far as it limits what can be done with it. */
export interface KeyLimits {
  revoked: boolean
  /** True where the owner may have no keys at present; absent = false. */
  suspended?: true | undefined
  /** Absent = never. */
  expires_at?: string | undefined
  /** Absent = none. */
  budget?: { usd: number; per?: 'day' | 'month' | undefined } | undefined
  /** Absent = all. */
  models?: string[] | undefined
}

/** Why a key is refused; undefined where it can be used. */
function refusalOf({ revoked, suspended, expires_at: end }: KeyLimits): string | undefined {
  if (revoked) return 'revoked'
  if (end !== undefined && Date.parse(end) <= Date.now()) return 'expired'
  return suspended && 'suspended'
}

/** Whether a key can be used, beside it what can be done with it, and what limits it. */
export const KeyState = ({ children, ...key }: KeyLimits & { children?: ComponentChildren }) => (
  <>
    <span class="together">
      <Status tone={refusalOf(key) ? 'off' : 'good'}>{refusalOf(key) ?? 'active'}</Status>
      {children}
    </span>
    {key.expires_at !== undefined && <p class="small muted">until {time(key.expires_at)}</p>}
    {key.budget && (
      <p class="small muted">
        {usd(key.budget.usd)} {key.budget.per ? `a ${key.budget.per}` : 'in all'}
      </p>
    )}
    {key.models && <p class="small muted break">{key.models.join(', ')}</p>}
  </>
)
