import type { BudgetOf } from '../ledger/holds.js'
import type { UsageLedger } from '../ledger/ledger.js'
import { toUsd } from '../prices/cost.js'
import { firstIdOf } from './end-users.js'
import type { GatewayKey } from './gateway-keys.js'
import type { User } from './users.js'

/** The budget of a key, which is one with those of the keys that it was rotated from and to; undefined = none. */
export const keyBudget = (key: GatewayKey): BudgetOf | undefined =>
  key.budget && { of: 'key', id: firstIdOf(key), budget: key.budget }

/** The budget of a user; undefined = none. */
export const userBudget = ({ id, budget }: User): BudgetOf | undefined => budget && { of: 'user', id, budget }

/** What was spent of budgets in the current day or month (UTC), or in all, in US dollars, as a field of answers; without it where there is no budget. */
export async function budgetUsed(
  ledger: UsageLedger,
  budgets: readonly (BudgetOf | undefined)[],
): Promise<{ budget_used_usd?: number }[]> {
  const uses = await ledger.usedOfMany(budgets.filter((budget) => budget !== undefined))
  return budgets.map((budget) => (budget ? { budget_used_usd: toUsd(uses.shift()!.spent) } : {}))
}
