import type { Column } from '@turnpike/ui'
import {
  Copy,
  count,
  Dialog,
  duration,
  Empty,
  Filter,
  matches,
  NONE,
  Page,
  Panel,
  route,
  Segmented,
  setQuery,
  Status,
  Table,
  time,
  words,
} from '@turnpike/ui'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { RequestEvent } from './answers.js'
import { connection, followRequests, missed, requests } from './live.js'
import { costOf, modelOf, RequestDetail } from './request-detail.js'
import { isFailed } from './failures.js'

/** Rows that are shown at once: with more, the browser is busy with rows that nobody reads. */
const SHOWN = 40

const shows = [
  ['all', 'All'],
  ['failed', 'Failed'],
] as const

const ResultOf = (event: RequestEvent) =>
  isFailed(event) ? (
    <Status tone={event.outcome === 'client_abort' ? 'warn' : 'bad'}>
      {event.status} {words(event.error_code ?? event.outcome ?? '')}
    </Status>
  ) : (
    <Status tone={event.failed_calls === undefined ? 'good' : 'warn'}>{event.status}</Status>
  )

const columns: Column<RequestEvent>[] = [
  {
    name: 'Time',
    cell: (event) => (
      <button type="button" class="link nowrap row-link" onClick={() => setQuery({ id: event.request_id })}>
        {time(event.time)}
      </button>
    ),
  },
  { name: 'Result', cell: ResultOf },
  { name: 'Model', cell: modelOf },
  { name: 'Duration', number: true, cell: (event) => duration(event.duration_ms) },
  { name: 'First token', number: true, cell: (event) => duration(event.first_token_ms) },
  {
    name: 'Tokens',
    number: true,
    cell: ({ prompt_tokens: a, completion_tokens: b }) => (a === undefined ? NONE : count(a + (b ?? 0))),
  },
  { name: 'Cost', number: true, cell: costOf },
  { name: 'Route', cell: ({ route }) => route },
]

export function Requests() {
  useEffect(followRequests, [])
  const { query } = route.value
  const [paused, setPaused] = useState<readonly RequestEvent[]>()
  const [from, setFrom] = useState(0)
  const show = query.get('show') === 'failed' ? 'failed' : 'all'
  const filter = (query.get('filter') ?? '').trim()
  const id = query.get('id')
  const all = paused ?? requests.value
  const matching = all.filter(
    (event) =>
      (show === 'all' || isFailed(event)) &&
      (filter === '' ||
        matches(filter, [
          event.request_id,
          event.model,
          event.requested_model,
          event.provider,
          event.user_id,
          event.key_id,
          event.error_code,
          event.route,
          String(event.status),
        ])),
  )
  const start = Math.min(from, Math.max(0, matching.length - 1))
  // Kept while it is open, also when a thousand others have ended since.
  const open = useRef<RequestEvent | undefined>(undefined)
  if (open.current?.request_id !== id) open.current = all.find(({ request_id }) => request_id === id)
  return (
    <Page
      title="Requests"
      actions={
        <>
          {connection.value === 'live' ? (
            <Status tone={paused ? 'off' : 'good'}>{paused ? 'paused' : 'live'}</Status>
          ) : (
            <Status tone={connection.value === 'lost' ? 'bad' : 'warn'}>
              {connection.value === 'lost' ? 'connection lost, trying again' : 'connecting'}
            </Status>
          )}
          <button
            type="button"
            aria-pressed={paused !== undefined}
            onClick={() => {
              setFrom(0)
              setPaused(paused ? undefined : requests.value)
            }}
          >
            {paused ? 'Go on' : 'Pause'}
          </button>
        </>
      }
    >
      <div class="spread">
        <Segmented label="Shown" options={shows} value={show} onChange={(show) => setQuery({ show })} />
        <Filter
          hint="X-Request-ID, model, error…"
          value={query.get('filter') ?? ''}
          onChange={(filter) => {
            setFrom(0)
            setQuery({ filter })
          }}
        />
      </div>
      <Panel
        title={`${count(matching.length)} of the last ${count(all.length)}`}
        actions={
          matching.length > SHOWN && (
            <>
              <span class="small muted">
                {start + 1} to {Math.min(start + SHOWN, matching.length)}
              </span>
              <button type="button" disabled={start === 0} onClick={() => setFrom(Math.max(0, start - SHOWN))}>
                Newer
              </button>
              <button
                type="button"
                disabled={start + SHOWN >= matching.length}
                onClick={() => {
                  // What is read must not move.
                  setPaused(paused ?? requests.value)
                  setFrom(start + SHOWN)
                }}
              >
                Older
              </button>
            </>
          )
        }
      >
        {matching.length === 0 ? (
          <Empty title={all.length === 0 ? 'No request yet' : 'No request matches'}>
            <p>
              {all.length === 0
                ? 'Requests appear here as they end.'
                : 'The page keeps the last 1,000 requests; older ones are in the server’s log.'}
            </p>
          </Empty>
        ) : (
          <Table
            caption="Requests, newest first"
            columns={columns}
            rows={matching.slice(start, start + SHOWN)}
            rowKey={({ request_id }) => request_id}
          />
        )}
      </Panel>
      {missed.value > 0 && <p class="small muted">{count(missed.value)} requests ended too fast to be shown.</p>}
      {id !== null && (
        <Dialog
          title={`Request ${id}`}
          actions={<Copy text={id} label="Copy id" class="quiet" />}
          onClose={() => setQuery({ id: undefined })}
        >
          {open.current ? (
            <RequestDetail event={open.current} />
          ) : (
            <p>This request is not among the last ones. The server’s log has it under its id.</p>
          )}
        </Dialog>
      )}
    </Page>
  )
}
