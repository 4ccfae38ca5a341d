import { csv } from '../format.js'
import { timeZone } from './periods.js'
import type { UsageReport, UsageRow } from './report.js'

/** What is exported: the rows that are shown, and of which period; null = of all time. */
export interface Exported {
  /** What the rows are, such as `model`. */
  by: string
  times: UsageReport['times'] | null
  rows: readonly (UsageRow & { owner?: string | null })[]
  earlier?: UsageReport['earlier'] | undefined
}

const columns = [
  'id',
  'name',
  'owner_id',
  'requests',
  'without_price',
  'prompt_tokens',
  'completion_tokens',
  'cost_usd',
  'cost_usd_before',
] as const

const fieldsOf = ({ earlier }: Exported, one: Exported['rows'][number]) => [
  one.id,
  one.name,
  one.owner ?? null,
  one.requests,
  one.unpriced,
  one.prompt_tokens,
  one.completion_tokens,
  one.cost_usd,
  earlier ? (earlier.get(one.id) ?? 0) : null,
]

/** The rows by RFC 4180, for a spreadsheet. */
export const usageCsv = (exported: Exported): string =>
  csv([[...columns], ...exported.rows.map((one) => fieldsOf(exported, one))])

/** The rows and their period as JSON. */
export function usageJson(exported: Exported): string {
  const { by, times, rows } = exported
  const iso = (time: number): string => new Date(time).toISOString()
  return `${JSON.stringify(
    {
      by,
      from: times && iso(times.from),
      to: times && iso(times.to),
      time_zone: timeZone(),
      rows: rows.map((one) => Object.fromEntries(fieldsOf(exported, one).map((value, i) => [columns[i], value]))),
    },
    null,
    2,
  )}\n`
}

/** The name of a file with them: `usage-by-model-2026-11-28`. */
export function exportName({ by, times }: Exported, isCut: boolean): string {
  // The day of the reader's clock.
  const day = new Date(times?.to ?? Date.now()).toLocaleDateString('sv')
  return `usage-by-${by}-${day}${isCut ? '-incomplete' : ''}`
}
