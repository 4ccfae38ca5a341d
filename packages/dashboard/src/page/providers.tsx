import type { Column } from '@turnpike/ui'
import {
  ActionButton,
  count,
  duration,
  Empty,
  Loaded,
  numberColumn,
  Page,
  Panel,
  percent,
  Status,
  Table,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { BalancerAnswer, MetricsAnswer, Probe, ProvidersAnswer } from './answers.js'
import { read, send } from './api.js'
import { hoursOf, PeriodChoice } from './period.js'
import { kindName } from './failures.js'

interface Row {
  key: string
  state: ProvidersAnswer['providers'][number]
  limited: { model: string; until: string }[]
  metrics: MetricsAnswer['providers'][number] | undefined
}

const isUsed = ({ status }: Row['state']): boolean => status !== 'disabled' && status !== 'broken'

async function readRows(hours: string, signal: AbortSignal): Promise<Row[]> {
  const [{ providers }, balancer, metrics] = await Promise.all([
    read<ProvidersAnswer>('providers', signal),
    read<BalancerAnswer>('balancer', signal),
    read<MetricsAnswer>(`metrics?hours=${hours}`, signal),
  ])
  // A provider with several keys is listed once for each, in the same order, and one that is left out here only.
  const used = balancer.providers.values()
  return providers.map((state, i) => ({
    key: `${state.id} ${i}`,
    state,
    limited: isUsed(state) ? (used.next().value?.limited ?? []) : [],
    metrics: metrics.providers.find(({ id }) => id === state.id),
  }))
}

/** Where a provider is configured, in words. */
const sources = {
  file: 'in the file',
  environment: 'by variables',
  program: 'by the program',
  store: 'in the store',
} as const

/** Where a provider comes from, and its part of the load. */
function Configuration({ state }: Row) {
  const { source, weight, requests_per_minute: requests, tokens_per_minute: tokens, key_end } = state
  const parts = [
    weight !== undefined && `weight ${weight}`,
    requests !== undefined && `${count(requests)} requests a minute`,
    tokens !== undefined && `${count(tokens)} tokens a minute`,
    key_end !== undefined && `key …${key_end}`,
  ].filter((part) => part !== false)
  return (
    <>
      {source && sources[source]}
      {parts.map((part) => (
        <p key={part} class="small muted">
          {part}
        </p>
      ))}
    </>
  )
}

/** The state of a provider's circuit breaker in words. */
function Health({ state, limited }: Row) {
  const { status, fault, breaker, failures, last_failure, next_try } = state
  if (!isUsed(state))
    return (
      <>
        <Status tone={status === 'broken' ? 'bad' : 'warn'}>{status}</Status>
        {fault !== undefined && <p class="small muted">{fault}</p>}
      </>
    )
  return (
    <>
      {breaker === 'closed' ? (
        <Status tone={limited.length > 0 ? 'warn' : 'good'}>{limited.length > 0 ? 'rate limited' : 'healthy'}</Status>
      ) : breaker === 'open' ? (
        <Status tone="bad">unhealthy</Status>
      ) : (
        <Status tone="warn">being tried again</Status>
      )}
      {last_failure !== null && failures > 0 && (
        <p class="small muted">
          {count(failures)} × {kindName(last_failure)}
          {next_try !== null && `, next try ${time(next_try)}`}
        </p>
      )}
      {limited.map(({ model, until }) => (
        <p key={model} class="small muted">
          {model} until {time(until)}
        </p>
      ))}
    </>
  )
}

/** Asks a provider for its list of models, which is free of charge. */
function ProbeButton({ id, name, onDone }: { id: string; name: string; onDone: () => void }) {
  const [result, setResult] = useState<Probe>()
  const probe = useAction(async () => {
    setResult(undefined)
    const response = await send(`admin/providers/${encodeURIComponent(id)}/probe`, { method: 'POST' })
    setResult((await response.json()) as Probe)
    onDone()
  })
  return (
    <div class="stack">
      <ActionButton action={probe} onClick={probe.run}>
        {probe.busy ? 'Probing…' : 'Probe now'}
        <span class="visually-hidden"> {name}</span>
      </ActionButton>
      <span class="small" role="status">
        {probe.error !== undefined && <Status tone="bad">{(probe.error as Error).message}</Status>}
        {result &&
          (result.ok ? (
            <Status tone="good">answered in {duration(result.duration_ms)}</Status>
          ) : (
            <Status tone="bad">
              {kindName(result.failure ?? 'failed')} {result.status}
            </Status>
          ))}
      </span>
    </div>
  )
}

const columnsOf = (again: () => void): Column<Row>[] => [
  {
    name: 'Provider',
    cell: ({ state }) => (
      <>
        {state.id}
        {isUsed(state) && (
          <p class="small muted">
            {count(state.models)} models: {state.tasks.join(', ')}
          </p>
        )}
      </>
    ),
    sort: ({ state }) => state.id,
  },
  { name: 'Configured', cell: Configuration, sort: ({ state }) => state.source ?? '' },
  { name: 'Health', cell: Health, sort: ({ state }) => state.failures },
  numberColumn('Calls', ({ metrics }) => metrics?.requests ?? 0, count),
  numberColumn('Errors', ({ metrics }) => metrics?.error_rate ?? 0, percent),
  numberColumn('p50', ({ metrics }) => metrics?.latency_ms.p50, duration),
  numberColumn('p95', ({ metrics }) => metrics?.latency_ms.p95, duration),
  numberColumn('First token', ({ metrics }) => metrics?.first_token_ms.p50, duration),
  {
    name: 'Probe',
    cell: ({ state: { status, entry, id } }) =>
      // Those of the file that are disabled cannot be named.
      status === 'broken' || (status === 'disabled' && entry === undefined) ? null : (
        <ProbeButton id={entry ?? id} name={id} onDone={again} />
      ),
  },
]

export function Providers() {
  const hours = hoursOf('24')
  const data = useData((signal) => readRows(hours, signal), [hours], 5_000)
  return (
    <Page title="Providers" actions={<PeriodChoice value={hours} />}>
      <Loaded data={data}>
        {(rows) => (
          <Panel title="Configured providers">
            {rows.length === 0 ? (
              <Empty title="No provider is configured">
                <p>
                  Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY and start the server again, or add one by{' '}
                  <code>POST /admin/providers</code>.
                </p>
              </Empty>
            ) : (
              <Table
                caption="Configured providers"
                columns={columnsOf(data.again)}
                rows={rows}
                rowKey={({ key }) => key}
              />
            )}
          </Panel>
        )}
      </Loaded>
      <p class="small muted">
        Health is that of this process. Providers that are unhealthy or limited rest while others can take their
        requests. A probe asks for the list of models, which costs nothing.
      </p>
    </Page>
  )
}
