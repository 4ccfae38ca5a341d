import * as v from 'valibot'

export const integer = v.pipe(v.number(), v.integer())

/** A limit of requests or tokens a minute. */
export const perMinute = v.pipe(v.number(), v.finite(), v.minValue(0))

/** An integer that is not negative. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
