import type { UsageTotals } from '@turnpike/core'
import { hourOf, invalid } from '@turnpike/core/internal'
import { requireScope } from '@turnpike/http'
import * as v from 'valibot'
import { USAGE_HOURS, USAGE_PERIOD_HOURS, USAGE_SERIES } from '../conventions.js'
import { operation } from '../operation.js'
import { dateOf, Time } from '../time.js'
import { UsageBy, UsageReport } from './usage-schemas.js'
import { none, usageView } from './usage-view.js'
import type { UsageOperations } from './usage.js'

const HOUR_MS = 3_600_000

/** The time of `2026-01-31-09`. */
const timeOf = (hour: string): string => `${hour.slice(0, 10)}T${hour.slice(11)}:00:00.000Z`

/** The sums of hours side by side, 0 where there is none. */
function series(hours: readonly string[], of: ReadonlyMap<string, UsageTotals>) {
  const views = hours.map((hour) => usageView(of.get(hour) ?? none))
  return {
    requests: views.map(({ requests }) => requests),
    total_tokens: views.map(({ total_tokens }) => total_tokens),
    cost_usd: views.map(({ cost_usd }) => cost_usd),
  }
}

const unpricedView = (totals: UsageTotals) => ({ ...usageView(totals), unpriced: totals.unpriced })

/** GET /api/usage */
export const usageOf = (usage: UsageOperations) =>
  operation({
    id: 'usage.report',
    summary:
      'What the caller has used in whole hours from `from` to `to`: in all, by hour, and by model, key, session, conversation, task or project.',
    access: 'user',
    query: v.object({
      by: v.optional(UsageBy),
      /** Default a week before `to`. */
      from: v.optional(Time),
      /** Default now. */
      to: v.optional(Time),
    }),
    output: UsageReport,
    async run(caller, { query: { by = 'model', ...period } }) {
      // The rows have names of what a token may not read otherwise.
      if (by !== 'model') requireScope(caller!.who, by === 'key' ? undefined : `${by}s`, 'read')
      const to = period.to === undefined ? new Date(usage.now()) : dateOf(period.to)
      const lastHour = Math.floor(to.getTime() / HOUR_MS)
      const from =
        period.from === undefined ? new Date((lastHour - USAGE_PERIOD_HOURS + 1) * HOUR_MS) : dateOf(period.from)
      const hours = lastHour - Math.floor(from.getTime() / HOUR_MS) + 1
      if (hours < 1) throw invalid('from must be a time that is not after `to`')
      if (hours > USAGE_HOURS) throw invalid(`A period has at most ${USAGE_HOURS} hours`)
      const report = await usage.report(caller!.user.id, by, from, to)
      const used = [...report.hours.keys()]
      return {
        by,
        from: timeOf(hourOf(from.toISOString())),
        to: new Date((lastHour + 1) * HOUR_MS).toISOString(),
        total: unpricedView(report.total),
        hours: { time: used.map(timeOf), ...series(used, report.hours) },
        rows: report.rows.map(({ id, name, project_id, total, hours }, i) => ({
          id,
          name,
          ...(project_id !== undefined && { project_id }),
          ...unpricedView(total),
          ...(i < USAGE_SERIES && { hours: series(used, hours) }),
        })),
        omitted: report.omitted,
      }
    },
  })
