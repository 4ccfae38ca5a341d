import type { ApiError, BalancePolicy, KV, LimitOf, Target, TokensOf, UsageLedger } from '@turnpike/core'
import { tokenLimit } from '@turnpike/core/internal'
import type { Caller, UserCaller } from './caller.js'
import { hasLimits, hasUser } from './caller.js'
import { forbidden } from './errors.js'

/** Whether a caller may use a model. */
export function mayUse(caller: Caller, provider: string, model: string): boolean {
  const models = hasUser(caller) ? caller.key?.models : undefined
  return !models || models.includes(model) || models.includes(`${provider}/${model}`)
}

/** The targets that a caller may use. @throws ApiError 403 where there are none */
export function allowedTargets(caller: UserCaller, targets: Target[]): Target[] {
  if (!caller.key?.models) return targets
  const allowed = targets.filter(({ provider, model }) => mayUse(caller, provider.id, model))
  if (allowed.length === 0) throw forbidden('This key may not be used for this model')
  return allowed
}

/** Whether a caller has a limit on models or money. What is limited must not depend on fields that the gateway does not know (ruling 59). */
export const isLimited = ({ key, user }: UserCaller, balancePolicy: BalancePolicy): boolean =>
  hasLimits(key) || user.budget !== undefined || balancePolicy === 'enforce'

/** The budgets that apply to a request. */
export function budgetsOf({ key, user }: UserCaller): LimitOf[] {
  const budgets: LimitOf[] = []
  if (key?.budget) budgets.push({ of: 'key', id: key.id, budget: key.budget })
  if (user.budget) budgets.push({ of: 'user', id: user.id, budget: user.budget })
  return budgets
}

/** The limit by the user's credits, where they are enforced. */
export const creditsOf = async ({ user }: UserCaller, kv: KV): Promise<TokensOf> => ({
  of: 'user',
  id: user.id,
  tokens: await tokenLimit(kv, user.id),
})

/** 403 for a request that one of its limits does not admit. */
export async function overLimit(limits: LimitOf[], ledger: UsageLedger): Promise<ApiError> {
  const credits = limits.find((limit) => 'tokens' in limit)
  if (credits) {
    const { spent, held } = await ledger.used(credits)
    // Held tokens may have been released meanwhile. Without a budget, it was the credits nevertheless.
    if (limits.length === 1 || spent + held >= credits.tokens)
      return forbidden('The credits are used up, or held by requests that are running', 'insufficient_credits')
  }
  return forbidden('The budget for this is used up, or held by requests that are running', 'budget_exceeded')
}

/** 403 for a request under a budget that asks for something whose price is not known. */
export const unpriced = (what: string): ApiError =>
  forbidden(`The price of ${what} is not known, and there is a budget to keep`)
