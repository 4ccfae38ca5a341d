import * as v from 'valibot'

/** The period of a budget in UTC; absent = it is never reset. */
const per = v.optional(v.picklist(['day', 'month']))

/** The maximum cost of requests of a user or a key, as answers have it. */
export const Budget = v.object({ usd: v.number(), per })

/** A budget as it is asked for, of at most 1,000,000 US dollars. */
export const NewBudget = v.strictObject({ usd: v.pipe(v.number(), v.minValue(0), v.maxValue(1_000_000)), per })
