import * as v from 'valibot'

/** Whether a month has the day of a time; a `Date` makes 2 March of 30 February. */
function hasDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day
}

/** A time as a body has it. The pattern alone lets days pass that there are not, and offsets that a `Date` does not take, such as `+14`. */
export const NewTime = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.check((text) => !Number.isNaN(Date.parse(text)) && hasDay(text), 'expected a time such as 2030-01-31T08:00:00Z'),
)
