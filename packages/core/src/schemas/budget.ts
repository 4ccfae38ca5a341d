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

/** A budget that code gives, which is stored as it is. */
export const GivenBudget = v.strictObject({ usd, per: v.optional(v.picklist(periods)) })
