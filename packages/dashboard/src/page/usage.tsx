import {
  Copy,
  Empty,
  Filter,
  goTo,
  Loaded,
  matches,
  Page,
  Panel,
  plural,
  route,
  Segmented,
  setQuery,
  shortId,
  Table,
  usd,
  useData,
} from '@turnpike/ui'
import type { UsagePeriod } from '@turnpike/ui/usage'
import {
  ExportButtons,
  hoursIn,
  UsageChart,
  usageColumns,
  UsageFigures,
  UsagePeriodChoice,
  usagePeriodOf,
  usageTimes,
} from '@turnpike/ui/usage'
import { useMemo } from 'preact/hooks'
import type { UsageRow } from './answers.js'
import { UsageOfOne } from './usage-of-one.js'
import type { HourlyKind } from './usage-read.js'
import { readHours, reportOf, SERIES, untilQuery } from './usage-read.js'
import { useRows } from './rows.js'

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
const isHourly = (by: Kind): by is HourlyKind => by !== 'session' && by !== 'project'

const nameOf = (by: Kind): string => kinds.find(([kind]) => kind === by)![1]

interface RowsProps {
  by: Kind
  rows: readonly UsageRow[]
  /** Whether more are being read, or were not read. */
  cut: boolean
  reading: boolean
  earlier?: ReadonlyMap<string, number> | undefined
  times: ReturnType<typeof usageTimes> | null
}

/** Everybody or everything that used something, the dearest first. */
function Rows({ by, rows: all, cut, reading, earlier, times }: RowsProps) {
  const filter = route.value.query.get('filter') ?? ''
  const rows = all.filter(({ id, name, user_id }) => matches(filter, [id, name, user_id]))
  const cost = rows.reduce((sum, one) => sum + one.cost_usd, 0)
  const columns = usageColumns<UsageRow>({
    name: nameOf(by),
    cell: (one) => (
      <>
        {isHourly(by) ? (
          <button type="button" class="link" onClick={() => setQuery({ id: one.id })}>
            {one.name ?? one.id}
          </button>
        ) : (
          (one.name ?? one.id)
        )}
        {one.name !== null && one.name !== one.id && (
          <p class="small muted">
            <span class="together">
              <span class="mono">{shortId(one.id)}</span>
              <Copy text={one.id} class="link" />
            </span>
          </p>
        )}
      </>
    ),
    cost,
    earlier,
  })
  return (
    <Panel
      title={`${cut ? 'At least ' : ''}${usd(cost)} in ${plural(rows.length, 'row')}`}
      actions={
        <>
          <Filter value={filter} onChange={(filter) => setQuery({ filter })} />
          <ExportButtons
            exported={
              reading ? undefined : { by, times, earlier, rows: rows.map((one) => ({ ...one, owner: one.user_id })) }
            }
            isCut={cut}
          />
        </>
      }
    >
      {all.length === 0 && !cut ? (
        <Empty title="No usage in this period">
          <p>
            {isHourly(by)
              ? 'Choose a longer period, or send a first request.'
              : `Requests count for a ${by} by their header ${by === 'session' ? 'X-Session-ID' : 'X-Project-ID'}.`}
          </p>
        </Empty>
      ) : (
        <Table caption={`Usage by ${by}`} columns={columns} rows={rows} rowKey={(one) => one.id} sorted={1} />
      )}
      {cut && (
        <p class="loading small" role="status">
          {reading ? 'Reading more…' : `Only the first ${all.length.toLocaleString('en')} were read.`}
        </p>
      )}
    </Panel>
  )
}

/** Usage of a period: figures at once, and the chart when the rows are read. */
function InPeriod({ by, period }: { by: HourlyKind; period: UsagePeriod }) {
  const times = useMemo(() => usageTimes(period, Date.now()), [by, period])
  const total = useData(
    (signal) => Promise.all([readHours(by, undefined, times, signal), readHours(by, undefined, times.before, signal)]),
    [by, times],
  )
  const rows = useRows<UsageRow>(`usage?by=${by}&hours=${hoursIn(times)}`)
  const before = useRows<UsageRow>(`usage?by=${by}&${untilQuery(times.before)}`)
  const earlier = useMemo(
    () => (before.reading ? undefined : new Map(before.value?.rows.map(({ id, cost_usd }) => [id, cost_usd]))),
    [before.value, before.reading],
  )
  const top = (rows.reading ? [] : (rows.value?.rows ?? []))
    .toSorted((a, b) => b.cost_usd - a.cost_usd || b.tokens - a.tokens)
    .slice(0, SERIES)
  const series = useData(
    (signal) => Promise.all(top.map(async (row) => ({ row, hours: await readHours(by, row.id, times, signal) }))),
    [by, times, top.map(({ id }) => id).join('\n')],
  )
  return (
    <>
      <Loaded data={total}>
        {([now, then]) => (
          <>
            <UsageFigures period={period} total={now.total} before={then.total} />
            {!rows.reading && (
              <Loaded data={series}>
                {(parts) => (
                  <UsageChart
                    report={reportOf(times, now, then, parts)}
                    title={`by ${by}`}
                    rest={by === 'key' ? 'Others and without a key' : 'Others'}
                  />
                )}
              </Loaded>
            )}
          </>
        )}
      </Loaded>
      <Loaded data={rows}>
        {({ rows: all, cut }) => (
          <Rows by={by} rows={all} cut={cut} reading={rows.reading} earlier={earlier} times={times} />
        )}
      </Loaded>
    </>
  )
}

/** Usage of all time. */
function InAll({ by }: { by: Kind }) {
  const data = useRows<UsageRow>(`usage?by=${by}`)
  return (
    <>
      <Loaded data={data}>
        {({ rows, cut }) => <Rows by={by} rows={rows} cut={cut} reading={data.reading} times={null} />}
      </Loaded>
      <p class="small muted">Usage by {by} is kept over all time, not by hour.</p>
    </>
  )
}

export function Usage() {
  const { query } = route.value
  const by = kinds.find(([kind]) => kind === query.get('by'))?.[0] ?? 'user'
  const period = usagePeriodOf(query.get('hours'))
  const id = query.get('id')
  return (
    <Page title="Usage" actions={isHourly(by) && <UsagePeriodChoice value={period} />}>
      <div class="row">
        <Segmented
          label="By"
          options={kinds}
          value={by}
          onChange={(by) => goTo('/admin/usage', { by, hours: period }, true)}
        />
      </div>
      {isHourly(by) ? <InPeriod by={by} period={period} /> : <InAll by={by} />}
      {id !== null && isHourly(by) && <UsageOfOne by={by} id={id} period={period} />}
    </Page>
  )
}
