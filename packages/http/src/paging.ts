import { ID_LENGTH, MAX_PAGE_SIZE } from '@turnpike/core/internal'
import * as v from 'valibot'

/** A whole number in a query. */
export const whole = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d+$/, 'expected a whole number'),
    v.transform(Number),
    v.number(),
    v.integer(),
    v.minValue(least),
    v.maxValue(most),
  )

/** Which part of a list: so many entries, default 100, after the `next` of the part before. */
export const Paging = v.object({
  limit: v.optional(whole(1, MAX_PAGE_SIZE)),
  after: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(ID_LENGTH))),
})
