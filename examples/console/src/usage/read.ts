import type { Schemas } from '@turnpike/client'
import type { UsageReport, UsageRow, UsageTimes } from '@turnpike/ui/usage'
import { turnpike } from '../turnpike.js'

type Answer = Schemas['UsageReport']
export type By = Answer['by']

/** A row, and of tasks and conversations the project that they belong to. */
export type OwnRow = UsageRow & { project_id?: string | null }

/** What the user has used in a period. */
export interface OwnReport extends UsageReport {
  rows: readonly OwnRow[]
  /** How many further rows there are. */
  omitted: number
}

const ask = (by: By, { from, to }: Pick<UsageTimes, 'from' | 'to'>, signal: AbortSignal): Promise<Answer> =>
  turnpike.get('/api/usage', {
    query: { by, from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    signal,
  })

const hoursOf = ({ requests, total_tokens, cost_usd }: NonNullable<Answer['rows'][number]['hours']>) => ({
  requests,
  tokens: total_tokens,
  cost_usd,
})

/** Reads what the user has used in a period, and in the one before. */
export async function readReport(by: By, times: UsageTimes, signal: AbortSignal): Promise<OwnReport> {
  const [now, then] = await Promise.all([ask(by, times, signal), ask(by, times.before, signal)])
  return {
    times,
    total: now.total,
    before: then.total,
    starts: now.hours.time.map((time) => Date.parse(time)),
    hours: hoursOf(now.hours),
    rows: now.rows.map(({ hours, ...row }) => ({ ...row, ...(hours && { hours: hoursOf(hours) }) })),
    earlier: new Map(then.rows.map(({ id, cost_usd }) => [id, cost_usd])),
    omitted: now.omitted,
  }
}

/** What was used in the conversations and for the tasks of projects, by the id of the project, the dearest first. */
export async function readInProjects(times: UsageTimes, signal: AbortSignal) {
  const [tasks, conversations] = await Promise.all([ask('task', times, signal), ask('conversation', times, signal)])
  const projects = new Map<string, { tasks: OwnRow[]; conversations: OwnRow[] }>()
  for (const kind of ['tasks', 'conversations'] as const)
    for (const { hours: _, ...row } of (kind === 'tasks' ? tasks : conversations).rows) {
      if (!row.project_id) continue
      const project = projects.get(row.project_id) ?? { tasks: [], conversations: [] }
      projects.set(row.project_id, project)
      project[kind].push(row)
    }
  return projects
}
