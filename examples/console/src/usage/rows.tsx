import type { Data } from '@turnpike/ui'
import { count, Empty, linkTo, Panel, plural, shortId, Table, usd } from '@turnpike/ui'
import { ExportButtons, restOf, usageColumns } from '@turnpike/ui/usage'
import type { ComponentChildren } from 'preact'
import { ShortId } from './short-id.js'
import type { By, OwnReport, OwnRow, readInProjects } from './read.js'

/** What the rows are, where the user sees them, and what usage in none of them is called. */
export const kinds = {
  model: { name: 'Model', rest: 'Other models', empty: 'No model was called' },
  key: { name: 'Key', rest: 'Without a key: in this browser', empty: 'No key was used' },
  project: { name: 'Project', rest: 'Without a project', empty: 'No project used anything' },
  session: { name: 'Session', rest: 'Without a session', empty: 'No request named a session' },
} as const satisfies Partial<Record<By, object>>
export type Kind = keyof typeof kinds

/** Most tasks of a project that are listed. */
const TASKS = 5

type InProjects = Awaited<ReturnType<typeof readInProjects>>

const Line = ({ cost, requests, children }: { cost: number; requests: number; children: ComponentChildren }) => (
  <li class="spread small">
    <span class="break">{children}</span>
    <span class="muted number nowrap">
      {usd(cost)} · {plural(requests, 'request')}
    </span>
  </li>
)

/** What the conversation and the tasks of a project used. */
function InProject({ id, of }: { id: string; of: InProjects | undefined }) {
  const { conversations, tasks } = of?.get(id) ?? { conversations: [], tasks: [] }
  if (conversations.length + tasks.length === 0) return null
  return (
    <ul class="within">
      {conversations.map((one) => (
        <Line key={one.id} cost={one.cost_usd} requests={one.requests}>
          <a href={linkTo(`/projects/${id}/conversation`)}>Conversation</a>
        </Line>
      ))}
      {tasks.slice(0, TASKS).map((one) => (
        <Line key={one.id} cost={one.cost_usd} requests={one.requests}>
          Task:{' '}
          {one.name === null ? (
            `deleted, ${shortId(one.id)}`
          ) : (
            <a href={linkTo(`/projects/${id}`, { task: one.id })}>{one.name}</a>
          )}
        </Line>
      ))}
      {tasks.length > TASKS && (
        <Line
          cost={tasks.slice(TASKS).reduce((sum, one) => sum + one.cost_usd, 0)}
          requests={tasks.slice(TASKS).reduce((sum, one) => sum + one.requests, 0)}
        >
          {plural(tasks.length - TASKS, 'further task')}
        </Line>
      )}
    </ul>
  )
}

/** A row's name, which leads to where it is. */
function Name({ by, row: { id, name } }: { by: Kind; row: OwnRow }) {
  if (id === '') return <span class="muted">{name}</span>
  if (by === 'model') return <>{id}</>
  if (name === null)
    return (
      <span class="muted">
        Deleted {by} {shortId(id)}
      </span>
    )
  if (by === 'key') return <a href={linkTo('/keys')}>{name}</a>
  if (by === 'project') return <a href={linkTo(`/projects/${id}`)}>{name}</a>
  return (
    <>
      {name} <ShortId id={id} />
    </>
  )
}

/** The usage of a period by model, key, project or session, the dearest first; last, what is in none of them. */
export function Rows({
  by,
  report,
  inProjects,
}: {
  by: Kind
  report: OwnReport
  inProjects: Data<InProjects | undefined>
}) {
  const { name, rest: restName, empty } = kinds[by]
  const { rows, total, earlier, omitted, times } = report
  const rest = restOf(report)
  const all: OwnRow[] = rest ? [...rows, { id: '', name: omitted > 0 ? 'Others' : restName, ...rest }] : [...rows]
  const earlierRest = restOf({ total: report.before, rows: [] })
  const known = new Map(earlier)
  if (rest && earlierRest)
    known.set('', Math.max(0, earlierRest.cost_usd - [...earlier.values()].reduce((a, b) => a + b, 0)))
  return (
    <Panel
      title={plural(rows.length, name.toLowerCase())}
      actions={<ExportButtons exported={{ by, times, rows: all, earlier: known }} />}
    >
      {all.length === 0 ? (
        <Empty title={empty}>
          <p>Choose a longer period, or send a first request.</p>
        </Empty>
      ) : (
        <Table
          caption={`Usage by ${by}`}
          columns={usageColumns<OwnRow>({
            name,
            cell: (row) => (
              <>
                <Name by={by} row={row} />
                {by === 'project' && row.id !== '' && <InProject id={row.id} of={inProjects.value} />}
              </>
            ),
            cost: total.cost_usd,
            earlier: known,
          })}
          rows={all}
          rowKey={({ id }) => id}
          sorted={1}
        />
      )}
      {omitted > 0 && <p class="loading small">{count(omitted)} more are in "Others".</p>}
    </Panel>
  )
}
