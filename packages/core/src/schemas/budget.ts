import * as v from 'valibot'
import type { Budget as StoredBudget } from '../ledger/holds.js'

const periods = ['day', 'month'] as const

const usd = v.pipe(v.number(), v.minValue(0), v.maxValue(1_000_000))

/** The maximum cost of requests of a user or a key, as answers have it. */
export const Budget = v.object({
  usd: v.number(),
  /** The period in UTC; absent = it is never reset. */
  per: v.optional(v.picklist(periods)),
})

/** A budget as it is asked for, of at most 1,000,000 US dollars. */
export const NewBudget = v.strictObject({
  usd,
  per: v.nullish(v.picklist(periods)),
})

/** A budget that was asked for, as it is stored. */
export const budgetOf = ({ usd, per }: v.InferOutput<typeof NewBudget>): StoredBudget => ({
  usd,
  ...(per && { per }),
})

const Stored = v.strictObject({ usd, per: v.optional(v.picklist(periods)) })

/** @throws TypeError for a budget that is none: code gives budgets too */
export function checkBudget(budget: unknown): void {
  if (budget !== undefined && !v.is(Stored, budget))
    throw new TypeError("A budget has `usd`, from 0 to 1,000,000 US dollars, and may have `per`, 'day' or 'month'")
}
