import * as v from 'valibot'

export const integer = v.pipe(v.number(), v.integer())

/** An integer that is not negative. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
