import type { ApiError, BalancePolicy, BudgetOf, EndUser, KV, LimitOf, TokensOf, UsageLedger } from '@turnpike/core'
import { endUserBudget, firstIdOf, keyBudget, tokenLimit, userBudget } from '@turnpike/core/internal'
import type { UserCaller } from '../caller.js'
import { hasLimits } from '../caller.js'
import { forbidden } from '../errors.js'
import type { TokenLimit } from './token-limits.js'

/** Whether a caller has a limit on models or money. What is limited must not depend on fields that the gateway does not know. */
export const isLimited = ({ key, user }: UserCaller, balancePolicy: BalancePolicy): boolean =>
  hasLimits(key) || user.budget !== undefined || balancePolicy === 'enforce'

/** The budgets that apply to a request. */
export function budgetsOf({ key, user }: UserCaller, endUser: EndUser | undefined): LimitOf[] {
  const budgets = [key && keyBudget(key), userBudget(user), endUser && endUserBudget(endUser, key!)]
  return budgets.filter((budget) => budget !== undefined)
}

/** The limits of tokens a minute that apply to a request; undefined where there are none. */
export function tokenLimitsOf({ key, user }: UserCaller): TokenLimit[] | undefined {
  if (key?.token_limit === undefined && user.token_limit === undefined) return undefined
  const limits: TokenLimit[] = []
  if (key?.token_limit !== undefined)
    limits.push({ name: `tokens of key ${firstIdOf(key)}`, perMinute: key.token_limit, whose: 'This key is' })
  if (user.token_limit !== undefined)
    limits.push({ name: `tokens of user ${user.id}`, perMinute: user.token_limit, whose: 'You are' })
  return limits
}

/** The limit by the user's credits, where they are enforced. */
export const creditsOf = async ({ user }: UserCaller, kv: KV): Promise<TokensOf> => ({
  of: 'user',
  id: user.id,
  tokens: await tokenLimit(kv, user.id),
})

/** US dollars, rounded up to a millionth. */
const dollars = (nano: number): string => `$${Math.ceil(Math.max(nano, 0) / 1e3) / 1e6}`

/** What a budget has, what is left of it, and what running requests hold, all in nano-US-dollars. */
async function stateOf(limit: BudgetOf, ledger: UsageLedger) {
  const { spent, held } = await ledger.used(limit)
  const all = Math.round(limit.budget.usd * 1e9)
  return { all, held, unspent: all - spent, left: all - spent - held }
}

/**
 * 403 for a request that one of its limits does not admit, with what it is expected to cost. Clients may send it again where only running
 * requests are in its way.
 * @param expected what it is expected to cost, in nano-US-dollars
 */
export async function overLimit(limits: LimitOf[], expected: number, ledger: UsageLedger): Promise<ApiError> {
  const credits = limits.find((limit) => 'tokens' in limit)
  if (credits) {
    const { spent, held } = await ledger.used(credits)
    // Held tokens may have been released meanwhile. Without a budget, it was the credits nevertheless.
    if (limits.length === 1 || spent + held >= credits.tokens) {
      const isTransient = spent < credits.tokens
      const text = 'The credits are used up, or held by requests that are running'
      return forbidden(text, 'insufficient_credits', { isTransient })
    }
  }
  const states = await Promise.all(limits.flatMap((limit) => ('budget' in limit ? [stateOf(limit, ledger)] : [])))
  const [{ all, held, unspent, left }] = states.toSorted((a, b) => a.left - b.left) as [(typeof states)[number]]
  const isTransient = expected <= unspent
  const running = held > 0 ? `, besides ${dollars(held)} that running requests hold` : ''
  const hint = isTransient ? 'try again when they have ended, or with' : 'it costs less with'
  return forbidden(
    `This request is expected to cost ${dollars(expected)}, and ${dollars(left)} of the budget of ${dollars(all)} is left${running}; ${hint} a lower max_tokens`,
    'budget_exceeded',
    { isTransient },
  )
}

/** 403 for a request under a budget that asks for something whose price is not known. */
export const unpriced = (what: string): ApiError =>
  forbidden(`The price of ${what} is not known, and there is a budget to keep`)
