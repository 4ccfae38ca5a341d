import {
  count,
  Empty,
  ErrorNotice,
  Filter,
  Page,
  Panel,
  Popover,
  plural,
  route,
  saveFile,
  Segmented,
  setQuery,
  Skeleton,
  Status,
  Table,
  useColumns,
} from '@turnpike/ui'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RequestEvent } from './answers.js'
import { FilterChips, FilterMenu, filterOf, fields, finderOf, userOf } from './filters.js'
import { connection, followRequests, missed, requests } from './live.js'
import { useNames } from './names.js'
import type { Older } from './older.js'
import { useOlder } from './older.js'
import { resultOf, results } from './outcomes.js'
import { requestColumns } from './request-columns.js'
import { RequestDrawer } from './request-detail.js'
import { requestsCsv } from './request-export.js'

/** Fewer than these fill no page: older ones are read without being asked for. */
const FEW = 25
/** Milliseconds in which the last requests come once the page is connected. */
const REPLAY_MS = 800

/** The requests of both lists, each once, newest first. What was followed has more than what is stored. */
function joined(live: readonly RequestEvent[], older: readonly RequestEvent[]): readonly RequestEvent[] {
  if (older.length === 0) return live
  const byId = new Map<string, RequestEvent>()
  for (const event of [...live, ...older]) {
    const known = byId.get(event.request_id)
    // A request that failed may have a usage record, which does not tell its status.
    if (!known || (resultOf(known) === 'ok' && resultOf(event) !== 'ok')) byId.set(event.request_id, event)
  }
  return [...byId.values()].toSorted((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
}

const Connection = ({ paused }: { paused: boolean }) => {
  if (connection.value === 'live') return <Status tone={paused ? 'off' : 'good'}>{paused ? 'paused' : 'live'}</Status>
  return connection.value === 'lost' ? (
    <Status tone="bad">connection lost, trying again</Status>
  ) : (
    <Status tone="warn">connecting</Status>
  )
}

/** Below the rows: whether there are older ones, and the button that loads them. */
const LoadOlder = ({ older: { reading, more, load } }: { older: Older }) => (
  <footer class="spread body small muted">
    <span>
      {reading
        ? 'Reading older requests…'
        : more
          ? 'Failed requests are kept for seven days, others with their usage.'
          : 'These are all.'}
    </span>
    {more && (
      <button type="button" aria-disabled={reading} onClick={load}>
        Load older
      </button>
    )}
  </footer>
)

export function Requests() {
  useEffect(followRequests, [])
  const names = useNames()
  const { query } = route.value
  const [paused, setPaused] = useState<readonly RequestEvent[]>()
  const live = paused ?? requests.value
  const older = useOlder(userOf(query, names), query.get('until') ?? '')
  const all = useMemo(() => joined(live, older.rows), [live, older.rows])
  const text = (query.get('filter') ?? '').trim().toLowerCase()
  const result = results.find(([value]) => value === query.get('result'))?.[0] ?? ''
  const asked = fields.map((field) => query.get(field)).join('\n')
  const isFound = useMemo(() => finderOf(names), [names])
  const among = useMemo(() => {
    const isAmong = filterOf(query, Date.now())
    return all.filter((event) => isAmong(event) && (text === '' || isFound(event, text)))
  }, [all, asked, isFound])
  const shown = useMemo(
    () => (result === '' ? among : among.filter((event) => resultOf(event) === result)),
    [among, result],
  )
  const counts = useMemo(() => {
    const counts: Record<string, number> = { '': among.length }
    for (const event of among) counts[resultOf(event)] = (counts[resultOf(event)] ?? 0) + 1
    return counts
  }, [among])

  // After a restart, or by a link to a filter, the last requests may be too few, and none may match.
  const few = shown.length < FEW && older.more && !older.reading && older.error === undefined && !paused
  useEffect(() => {
    if (!few || older.rows.length > 0 || connection.value === 'connecting') return
    const timer = setTimeout(older.load, REPLAY_MS)
    return () => clearTimeout(timer)
  }, [few, connection.value, asked])

  // Nothing is said below the rows, or of there being none, as long as more come by themselves.
  const isFilling = older.rows.length === 0 && (few || older.reading || connection.value === 'connecting')

  const { columns, menu } = useColumns('columns-requests', requestColumns(names))
  const order = useRef<readonly RequestEvent[]>([])
  const id = query.get('id')
  const active = fields.filter((field) => query.has(field) && field !== 'result' && field !== 'filter').length
  return (
    <Page
      title="Requests"
      actions={
        <>
          <Connection paused={paused !== undefined} />
          <button
            type="button"
            aria-pressed={paused !== undefined}
            onClick={() => setPaused(paused ? undefined : requests.value)}
          >
            {paused ? 'Go on' : 'Pause'}
          </button>
        </>
      }
    >
      <div class="stack">
        <div class="spread">
          <Segmented
            label="Result"
            options={results.map(([value, name]) => [value, `${name} ${count(counts[value] ?? 0)}`] as const)}
            value={result}
            onChange={(result) => setQuery({ result })}
          />
          <div class="row">
            <Filter
              hint="Id, model, user, error…"
              value={query.get('filter') ?? ''}
              onChange={(filter) => setQuery({ filter })}
            />
            <Popover name={active > 0 ? `Filters (${active})` : 'Filters'}>
              <FilterMenu rows={all} names={names} />
            </Popover>
            {menu}
            <Popover name="Export">
              <button
                type="button"
                class="quiet"
                onClick={() => saveFile('requests.csv', 'text/csv', requestsCsv(order.current, names))}
              >
                CSV
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() => saveFile('requests.json', 'application/json', JSON.stringify(order.current, null, 2))}
              >
                JSON
              </button>
            </Popover>
          </div>
        </div>
        <FilterChips names={names} />
      </div>
      <Panel title={plural(shown.length, 'request')}>
        {shown.length > 0 ? (
          <Table
            caption="Requests, newest first"
            columns={columns}
            rows={shown}
            rowKey={({ request_id }) => request_id}
            current={id ?? undefined}
            oneLine
            order={order}
          />
        ) : isFilling ? (
          <Skeleton shape="rows" />
        ) : (
          <Empty title={all.length === 0 ? 'No request yet' : 'No request matches'}>
            <p>{all.length === 0 ? 'Requests appear here as they end.' : 'Remove a filter, or load older requests.'}</p>
          </Empty>
        )}
        {!isFilling && <LoadOlder older={older} />}
      </Panel>
      <ErrorNotice error={older.error} again={older.load} />
      {missed.value > 0 && <p class="small muted">{count(missed.value)} requests ended too fast to be shown.</p>}
      {id !== null && <RequestDrawer id={id} among={all} order={order} names={names} />}
    </Page>
  )
}
