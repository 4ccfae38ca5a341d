/** Periods of usage, in the hours and days of the reader's clock. @module */

const HOUR_MS = 3_600_000
const DAY_HOURS = 24

/** The periods that usage is shown for, by their hours. */
export const usagePeriods = [
  ['24', '24 hours'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const
export type UsagePeriod = (typeof usagePeriods)[number][0]

/** The period of a page's address; default a week. */
export const usagePeriodOf = (given: string | null): UsagePeriod =>
  usagePeriods.find(([hours]) => hours === given)?.[0] ?? '168'

/** Times in milliseconds: of the first hour and in the last one, and the same of the period before. */
export interface UsageTimes {
  from: number
  to: number
  before: { from: number; to: number }
}

const hourStart = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS

/** The start of a day of the reader's clock, `days` before that of a time. */
function dayStart(time: number, days: number): number {
  const date = new Date(time)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days).getTime()
}

/**
 * The times of a period that ends now. Of several days, it begins with the first of them, so that all but today are whole; the period before is as
 * many days earlier, so that it has the same days of the week and ends at the same time of day.
 */
export function usageTimes(period: UsagePeriod, now: number): UsageTimes {
  const hours = Number(period)
  const earlier = hours * HOUR_MS
  const from =
    hours === DAY_HOURS ? hourStart(now) - (hours - 1) * HOUR_MS : hourStart(dayStart(now, hours / DAY_HOURS - 1))
  return { from, to: now, before: { from: from - earlier, to: now - earlier } }
}

/** How many hours there are from that of `from` to that of `to`. */
export const hoursIn = ({ from, to }: { from: number; to: number }): number =>
  Math.floor(to / HOUR_MS) - Math.floor(from / HOUR_MS) + 1

export type Step = 'hour' | 'day'

/** The starts of the hours or days of a period, in milliseconds. */
export function stepsOf({ from, to }: { from: number; to: number }, step: Step): number[] {
  const starts: number[] = []
  if (step === 'hour') for (let at = hourStart(from); at <= to; at += HOUR_MS) starts.push(at)
  // The first hour of a clock with half hours begins before its day. Days of a clock that is set forward or back have 23 or 25 hours.
  else for (let at = dayStart(from + HOUR_MS - 1, 0); at <= to; at = dayStart(at, -1)) starts.push(at)
  return starts
}

/** Sums up values of times, which are in order, by the steps that they are in. */
export function sumBySteps(starts: readonly number[], times: readonly number[], values: readonly number[]): number[] {
  const sums = starts.map(() => 0)
  let step = 0
  for (const [i, time] of times.entries()) {
    while (step + 1 < starts.length && time >= starts[step + 1]!) step++
    sums[step]! += values[i]!
  }
  return sums
}

/** When a budget begins anew, in milliseconds: budgets count by UTC. */
export function budgetRenewal(per: 'day' | 'month', now: number): number {
  const date = new Date(now)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  return per === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1)
}

/** The time zone of the browser: `Europe/Berlin, UTC+1`. */
export function timeZone(now = new Date()): string {
  const offset = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' })
    .formatToParts(now)
    .find(({ type }) => type === 'timeZoneName')!
    .value.replace('GMT', 'UTC')
  const { timeZone: name } = Intl.DateTimeFormat().resolvedOptions()
  return offset.startsWith(name) ? offset : `${name}, ${offset}`
}
