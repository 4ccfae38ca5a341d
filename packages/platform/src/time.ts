import { invalid } from '@turnpike/core/internal'
import * as v from 'valibot'

/** A date, or a date and a time of day; of a query, `+` may have become a blank. */
const ISO_8601 = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+ -])(\d\d)(?::?(\d\d))?)?)?$/i

/** The time that a text names; undefined where it names none. Without a time of day it is midnight, without an offset UTC. */
function read(text: string): Date | undefined {
  const [, date, time = '00:00', sign, hours, minutes = '00'] = ISO_8601.exec(text) ?? []
  if (date === undefined) return undefined
  const offset = sign === undefined ? 'Z' : `${sign === '-' ? '-' : '+'}${hours}:${minutes}`
  const found = new Date(`${date}T${time}${offset}`)
  // A `Date` makes 2 March of 30 February, and the next day of 24:00.
  const sameDay = new Date(`${date}T00:00Z`).toJSON()?.startsWith(date) && !time.startsWith('24')
  return sameDay && !Number.isNaN(found.getTime()) ? found : undefined
}

/** A time as bodies and queries have it; {@link dateOf} reads it. */
export const Time = v.pipe(
  v.string(),
  v.check((text) => read(text) !== undefined, 'expected a date or time in ISO 8601, such as 2030-01-31T08:00:00Z'),
  v.metadata({ format: 'date-time', description: 'ISO 8601: a date, or a date and time; without an offset in UTC.' }),
)

/** The time that a checked text names. */
export const dateOf = (text: string): Date => read(text)!

/** The limits of a period. @throws ApiError 400 where it ends before it begins */
export function periodOf({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  const period = { from: from === undefined ? from : dateOf(from), to: to === undefined ? to : dateOf(to) }
  if (period.from && period.to && period.from > period.to) throw invalid('from must be a time that is not after `to`')
  return period
}
