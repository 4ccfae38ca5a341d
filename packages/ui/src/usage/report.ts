import { count, usd } from '../format.js'
import type { Step, UsageTimes } from './periods.js'
import { stepsOf, sumBySteps } from './periods.js'

/** Sums of usage. */
export interface UsageSums {
  requests: number
  /** Requests whose price is not known. */
  unpriced: number
  prompt_tokens: number
  completion_tokens: number
  cost_usd: number
}

/** Sums per hour, side by side. */
export interface UsageHours {
  requests: readonly number[]
  tokens: readonly number[]
  cost_usd: readonly number[]
}

/** A part of the usage, such as that of a model. */
export interface UsageRow extends UsageSums {
  id: string
  /** Null where it has none. */
  name: string | null
  /** In the hours of the report; absent = not known. */
  hours?: UsageHours
}

/** The usage of a period, by its parts. */
export interface UsageReport {
  times: UsageTimes
  total: UsageSums
  /** Of the period before. */
  before: UsageSums
  /** The starts of the hours, in milliseconds; those without usage may be left out. */
  starts: readonly number[]
  hours: UsageHours
  rows: readonly UsageRow[]
  /** The cost of each part in the period before, by its id. */
  earlier: ReadonlyMap<string, number>
}

/** What is measured: its name, how it is written, and what it is of sums. */
export const measures = {
  cost: { name: 'Cost', format: usd, of: (one: UsageSums) => one.cost_usd, ofHours: (one: UsageHours) => one.cost_usd },
  requests: {
    name: 'Requests',
    format: count,
    of: (one: UsageSums) => one.requests,
    ofHours: (one: UsageHours) => one.requests,
  },
  tokens: {
    name: 'Tokens',
    format: count,
    of: (one: UsageSums) => one.prompt_tokens + one.completion_tokens,
    ofHours: (one: UsageHours) => one.tokens,
  },
} as const
export type Measure = keyof typeof measures

/** A value and what it was before, as `+12 %`, `-3 %`, `as before` or `new`; undefined where there was nothing at all. */
export function change(now: number, before: number): string | undefined {
  if (before === 0) return now === 0 ? undefined : 'new'
  // Not all of it is gone while some is left.
  const percent = Math.max(Math.round((now / before - 1) * 100), now > 0 ? -99 : -100)
  // What is twenty times as much says little in percent.
  if (percent >= 2_000) return `${count(Math.round(now / before))} times`
  return percent === 0 ? 'as before' : `${percent > 0 ? '+' : '−'}${count(Math.abs(percent))} %`
}

/** A part of a chart. */
export interface UsageSeries {
  name: string
  total: number
  values: number[]
}

/** Sums that differ by less have come apart by rounding only. */
const NOTHING = 1e-9

/**
 * The parts of a report for a chart, by hours or days, the greatest first; then what is in none of them.
 * @param rest what that is called
 */
export function seriesOf(
  { times, starts, hours, rows }: UsageReport,
  measure: Measure,
  step: Step,
  rest: string,
): { starts: number[]; series: UsageSeries[] } {
  const steps = stepsOf(times, step)
  const { ofHours } = measures[measure]
  const left = sumBySteps(steps, starts, ofHours(hours))
  const series: UsageSeries[] = []
  for (const { id, name, hours } of rows) {
    if (!hours) continue
    const values = sumBySteps(steps, starts, ofHours(hours))
    for (const [i, value] of values.entries()) left[i]! -= value
    series.push({ name: name ?? id, total: values.reduce((all, one) => all + one, 0), values })
  }
  series.sort((a, b) => b.total - a.total)
  const others = left.map((value) => (value < NOTHING ? 0 : value))
  const total = others.reduce((all, one) => all + one, 0)
  if (total > 0) series.push({ name: rest, total, values: others })
  return { starts: steps, series }
}

const none: UsageSums = { requests: 0, unpriced: 0, prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 }

/** What is in the total and in none of the rows; undefined where that is nothing. */
export function restOf({ total, rows }: Pick<UsageReport, 'total' | 'rows'>): UsageSums | undefined {
  const rest = { ...none }
  for (const name of Object.keys(none) as (keyof UsageSums)[])
    rest[name] = rows.reduce((left, one) => left - one[name], total[name])
  return rest.requests > 0 ? { ...rest, cost_usd: rest.cost_usd < NOTHING ? 0 : rest.cost_usd } : undefined
}
