import type { Column } from '@turnpike/ui'
import {
  Code,
  Copy,
  count,
  Dialog,
  duration,
  Empty,
  Facts,
  Filter,
  linkTo,
  Loaded,
  NONE,
  Notice,
  Page,
  Panel,
  route,
  Segmented,
  setQuery,
  Status,
  Table,
  time,
  usd,
  useData,
  words,
} from '@turnpike/ui'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { BalancerAnswer, RequestEvent } from './answers.js'
import { Candidates } from './choices.js'
import { curlOf } from './curl.js'
import { read } from './data.js'
import { connection, followRequests, missed, requests } from './live.js'
import { isFailed, whyFailed } from './why.js'

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

/** The model that answered, else the one that was asked for. */
const modelOf = ({ provider, model, requested_model }: RequestEvent): string =>
  model === undefined ? (requested_model ?? NONE) : `${provider}/${model}`

const costOf = ({ cost_usd, unpriced }: RequestEvent): string =>
  cost_usd === undefined ? NONE : unpriced ? 'unknown' : usd(cost_usd)

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

/** Everything that is known of one request, and why it went as it went. */
function Detail({ event }: { event: RequestEvent }) {
  const choice = useData(
    async (signal) =>
      (await read<BalancerAnswer>('balancer', signal)).choices.find(
        ({ request_id }) => request_id === event.request_id,
      ) ?? null,
    [event.request_id],
  )
  return (
    <>
      {isFailed(event) && (
        <Notice tone={event.outcome === 'client_abort' ? 'warn' : 'bad'}>
          <p>
            <strong>
              {event.status} {words(event.error_code ?? event.outcome ?? '')}
            </strong>
          </p>
          <p>{whyFailed(event)}</p>
        </Notice>
      )}
      {event.failed_calls !== undefined && (
        <Notice tone="warn">
          <p>Calls of providers that failed{isFailed(event) ? '' : ' before another answered'}:</p>
          {event.failed_calls.split(', ').map((call) => (
            <p class="mono small break">{call}</p>
          ))}
        </Notice>
      )}
      <Facts
        facts={[
          ['Request', `${event.method} ${event.route}`],
          ['Time', time(event.time)],
          ['Model asked for', event.requested_model],
          ['Answered by', event.model !== undefined && modelOf(event)],
          ['Streamed', event.stream && 'yes'],
          ['Outcome', event.outcome && words(event.outcome)],
          ['Duration', duration(event.duration_ms)],
          ['First token', event.first_token_ms !== undefined && duration(event.first_token_ms)],
          ['Calls of providers', event.attempts],
          [
            'Tokens',
            event.prompt_tokens !== undefined &&
              `${count(event.prompt_tokens)} in, ${count(event.completion_tokens ?? 0)} out`,
          ],
          ['Cost', event.cost_usd !== undefined && costOf(event)],
          [
            'User',
            event.user_id !== undefined && (
              <a href={linkTo('/usage', { by: 'user', id: event.user_id })}>{event.user_id}</a>
            ),
          ],
          [
            'Key',
            event.key_id !== undefined && (
              <a href={linkTo('/usage', { by: 'key', id: event.key_id })}>{event.key_id}</a>
            ),
          ],
          ['X-Request-ID', <span class="mono">{event.request_id}</span>],
        ]}
      />
      <Loaded data={choice}>
        {(found) =>
          found ? (
            <section class="stack">
              <h3>Why {found.served?.provider ?? 'no provider'} answered</h3>
              <Candidates choice={found} served={found.served} />
            </section>
          ) : (
            event.model !== undefined && (
              <p class="small muted">
                No other provider could serve it, or it is not among the last 100 choices that are kept.
              </p>
            )
          )
        }
      </Loaded>
      {event.task === 'chat' && (
        <p>
          <a href={linkTo('/routing', { model: event.requested_model })}>
            Simulate the routing of {event.requested_model}
          </a>
        </p>
      )}
      <Code text={curlOf(event)} label="The request as a curl command" />
      <p class="small muted">The gateway keeps no prompts; put your own in.</p>
    </>
  )
}

export function Requests() {
  useEffect(followRequests, [])
  const { query } = route.value
  const [paused, setPaused] = useState<readonly RequestEvent[]>()
  const [from, setFrom] = useState(0)
  const show = query.get('show') === 'failed' ? 'failed' : 'all'
  const filter = (query.get('filter') ?? '').trim().toLowerCase()
  const id = query.get('id')
  const all = paused ?? requests.value
  const matching = all.filter(
    (event) =>
      (show === 'all' || isFailed(event)) &&
      (filter === '' ||
        [
          event.request_id,
          event.model,
          event.requested_model,
          event.provider,
          event.user_id,
          event.key_id,
          event.error_code,
          event.route,
          String(event.status),
        ].some((text) => text?.toLowerCase().includes(filter))),
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
            <Detail event={open.current} />
          ) : (
            <p>This request is not among the last ones. The server’s log has it under its id.</p>
          )}
        </Dialog>
      )}
    </Page>
  )
}
