import { whole } from '@turnpike/http'
import * as v from 'valibot'
import { MAX_HOURS } from '../../conventions.js'

const HOUR_MS = 3_600_000

/** A number of whole hours until now, the current one included. */
export const Hours = v.optional(whole(1, MAX_HOURS))

/** The start of the first of so many hours until `now`, which is in milliseconds. */
export const startOf = (hours: number, now: number): Date => new Date((Math.floor(now / HOUR_MS) - hours + 1) * HOUR_MS)

/** Converts `2026-01-31-09` to `2026-01-31T09:00:00.000Z`. */
const timeOf = (hour: string): string => `${hour.slice(0, 10)}T${hour.slice(11)}:00:00.000Z`

/** Groups counters by their hour: an entry for each of `hours` from `from` on, oldest first, also for those without. */
export function byHour<T extends { hour: string }>(
  from: Date,
  hours: number,
  counters: T[],
): { time: string; rows: T[] }[] {
  const byTime = new Map<string, T[]>()
  for (let i = 0; i < hours; i++) byTime.set(new Date(from.getTime() + i * HOUR_MS).toISOString(), [])
  for (const counter of counters) byTime.get(timeOf(counter.hour))?.push(counter)
  return [...byTime].map(([time, rows]) => ({ time, rows }))
}
