import * as v from 'valibot'

const periods = ['day', 'month'] as const

/** The maximum cost of requests of a user or a key, as answers have it. */
export const Budget = v.object({
  usd: v.number(),
  /** The period in UTC; absent = it is never reset. */
  per: v.optional(v.picklist(periods)),
})

/** A budget as it is asked for, of at most 1,000,000 US dollars. */
export const NewBudget = v.strictObject({
  usd: v.pipe(v.number(), v.minValue(0), v.maxValue(1_000_000)),
  per: v.nullish(v.picklist(periods)),
})
