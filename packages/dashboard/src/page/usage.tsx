import type { Column } from '@turnpike/ui'
import {
  Bar,
  count,
  csv,
  dayAndTime,
  Dialog,
  Empty,
  Filter,
  goTo,
  Loaded,
  matches,
  numberColumn,
  Page,
  Panel,
  plural,
  route,
  Segmented,
  setQuery,
  Spark,
  Table,
  usd,
  useData,
} from '@turnpike/ui'
import type { UsageHours, UsageRow } from './answers.js'
import { read } from './api.js'
import { useRows } from './rows.js'
import type { Hours } from './period.js'
import { hoursOf, PeriodChoice } from './period.js'

const kinds = [
  ['user', 'User'],
  ['key', 'Key'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['session', 'Session'],
  ['project', 'Project'],
] as const
type Kind = (typeof kinds)[number][0]

/** Whether usage is kept by hour; that of the others is kept in all. */
const isByHour = (by: Kind): boolean => by !== 'session' && by !== 'project'

/** The totals as CSV, for a spreadsheet. */
function download(by: Kind, rows: readonly UsageRow[], isCut: boolean): void {
  const text = csv([
    ['id', 'name', 'owner_id', 'requests', 'without_price', 'prompt_tokens', 'completion_tokens', 'cost_usd'],
    ...rows.map((one) => [
      one.id,
      one.name,
      one.user_id,
      one.requests,
      one.unpriced,
      one.prompt_tokens,
      one.completion_tokens,
      one.cost_usd,
    ]),
  ])
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = Object.assign(document.createElement('a'), {
    href: url,
    download: `usage-by-${by}${isCut ? '-incomplete' : ''}.csv`,
  })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** One row hour by hour. */
function UsageByHour({ by, id, hours }: { by: Kind; id: string; hours: Hours }) {
  const data = useData(
    (signal) => read<UsageHours>(`usage/hours?by=${by}&id=${encodeURIComponent(id)}&hours=${hours}`, signal),
    [by, id, hours],
  )
  return (
    <Dialog title={data.value?.name ?? id} onClose={() => setQuery({ id: undefined })}>
      <PeriodChoice value={hours} />
      <Loaded data={data}>
        {({ total, series }) => (
          <>
            <p>
              <strong>{usd(total.cost_usd)}</strong> for {count(total.requests)} requests and {count(total.tokens)}{' '}
              tokens
              {total.unpriced > 0 && `; ${count(total.unpriced)} requests have no known price`}.
            </p>
            <Spark values={series.map(({ cost_usd }) => cost_usd)} tone="amber" />
            {total.requests > 0 && (
              <Table
                caption="By hour"
                columns={[
                  { name: 'Hour', cell: (one) => dayAndTime(one.time) },
                  { name: 'Requests', number: true, cell: (one) => count(one.requests) },
                  { name: 'Tokens', number: true, cell: (one) => count(one.tokens) },
                  { name: 'Cost', number: true, cell: (one) => usd(one.cost_usd) },
                ]}
                rows={series.filter(({ requests }) => requests > 0).toReversed()}
                rowKey={(one) => one.time}
              />
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

export function Usage() {
  const { query } = route.value
  const by = kinds.find(([kind]) => kind === query.get('by'))?.[0] ?? 'user'
  const hours = hoursOf('168')
  const filter = query.get('filter') ?? ''
  const id = query.get('id')
  const period = isByHour(by) ? hours : ''
  const data = useRows<UsageRow>(`usage?by=${by}${period && `&hours=${period}`}`)
  const rows = (data.value?.rows ?? []).filter(({ id, name, user_id }) => matches(filter, [id, name, user_id]))
  const cost = rows.reduce((sum, one) => sum + one.cost_usd, 0)
  const columns: Column<UsageRow>[] = [
    {
      name: kinds.find(([kind]) => kind === by)![1],
      cell: (one) => (
        <>
          {isByHour(by) ? (
            <button type="button" class="link" onClick={() => setQuery({ id: one.id })}>
              {one.name ?? one.id}
            </button>
          ) : (
            (one.name ?? one.id)
          )}
          {one.name !== null && one.name !== one.id && <p class="small muted mono">{one.id}</p>}
        </>
      ),
      sort: (one) => one.name ?? one.id,
    },
    {
      name: 'Cost',
      number: true,
      cell: (one) => (
        <>
          {usd(one.cost_usd)}
          {one.unpriced > 0 && <p class="small muted">and {count(one.unpriced)} without a price</p>}
          <Bar share={cost > 0 ? one.cost_usd / cost : 0} />
        </>
      ),
      sort: (one) => one.cost_usd,
    },
    numberColumn('Requests', (one) => one.requests, count),
    numberColumn('Tokens in', (one) => one.prompt_tokens, count),
    numberColumn('Tokens out', (one) => one.completion_tokens, count),
  ]
  return (
    <Page title="Usage" actions={isByHour(by) && <PeriodChoice value={hours} />}>
      <div class="spread">
        <Segmented label="By" options={kinds} value={by} onChange={(by) => goTo('/admin/usage', { by, hours }, true)} />
        <div class="row">
          <Filter value={filter} onChange={(filter) => setQuery({ filter })} />
          <button
            type="button"
            disabled={rows.length === 0 || data.reading}
            onClick={() => download(by, rows, data.value!.cut)}
          >
            CSV
          </button>
        </div>
      </div>
      <Loaded data={data}>
        {({ rows: all, cut }) => (
          <Panel title={`${cut ? 'At least ' : ''}${usd(cost)} in ${plural(rows.length, 'row')}`}>
            {all.length === 0 ? (
              <Empty title="No usage in this period">
                <p>
                  {isByHour(by)
                    ? 'Choose a longer period, or send a first request.'
                    : `Requests count for a ${by} by their header ${by === 'session' ? 'X-Session-ID' : 'X-Project-ID'}.`}
                </p>
              </Empty>
            ) : (
              <Table caption={`Usage by ${by}`} columns={columns} rows={rows} rowKey={(one) => one.id} sorted={1} />
            )}
            {cut && (
              <p class="loading small" role="status">
                {data.reading ? 'Reading more…' : `Only the first ${count(all.length)} were read.`}
              </p>
            )}
          </Panel>
        )}
      </Loaded>
      {!isByHour(by) && <p class="small muted">Usage by {by} is kept over all time, not by hour.</p>}
      {id !== null && isByHour(by) && <UsageByHour by={by} id={id} hours={hours} />}
    </Page>
  )
}
