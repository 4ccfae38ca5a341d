import type { UsageHours, UsageReport, UsageSums, UsageTimes } from '@turnpike/ui/usage'
import { hoursIn } from '@turnpike/ui/usage'
import type { UsageHours as Answer, UsageRow } from './answers.js'
import { read } from './api.js'

/** What usage is kept of by hour. */
export type HourlyKind = 'user' | 'key' | 'model' | 'provider'

/** Of how many rows the chart has the hours. */
export const SERIES = 8

/** Most hours that the gateway sums up. */
const MOST_HOURS = 720

type Times = Pick<UsageTimes, 'from' | 'to'>

/** The hours of times as fields of a query. */
export const untilQuery = (times: Times): string =>
  `hours=${Math.min(hoursIn(times), MOST_HOURS)}&until=${new Date(times.to).toISOString()}`

/** The usage of one user, key, model or provider, or of all. */
export interface Hours {
  name: string | null
  total: UsageSums
  starts: number[]
  hours: UsageHours
}

/** Reads the usage by hour of one, or without an id of all. */
export async function readHours(
  by: HourlyKind,
  id: string | undefined,
  times: Times,
  signal: AbortSignal,
): Promise<Hours> {
  const of = id === undefined ? '' : `&id=${encodeURIComponent(id)}`
  const { name, total, series } = await read<Answer>(`usage/hours?by=${by}${of}&${untilQuery(times)}`, signal)
  return {
    name,
    total,
    starts: series.map(({ time }) => Date.parse(time)),
    hours: {
      requests: series.map(({ requests }) => requests),
      tokens: series.map(({ tokens }) => tokens),
      cost_usd: series.map(({ cost_usd }) => cost_usd),
    },
  }
}

/** Usage of a period, as its figures and its chart show it. */
export const reportOf = (
  times: UsageTimes,
  now: Hours,
  then: Hours,
  parts: readonly { row: UsageRow; hours: Hours }[],
): UsageReport => ({
  times,
  total: now.total,
  before: then.total,
  starts: now.starts,
  hours: now.hours,
  rows: parts.map(({ row, hours: { hours } }) => ({ ...row, hours })),
  earlier: new Map(),
})
