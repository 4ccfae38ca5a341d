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

async function readRows(hours: string, signal: AbortSignal): Promise<Row[]> {
  const [{ providers }, balancer, metrics] = await Promise.all([
    read<ProvidersAnswer>('providers', signal),
    read<BalancerAnswer>('balancer', signal),
    read<MetricsAnswer>(`metrics?hours=${hours}`, signal),
  ])
  return providers.map((state, i) => ({
    key: `${state.id} ${i}`,
    state,
    // A provider with several keys is listed once for each, in the same order.
    limited: balancer.providers[i]?.limited ?? [],
    metrics: metrics.providers.find(({ id }) => id === state.id),
  }))
}

/** The state of a provider's circuit breaker in words. */
function Health({ state: { breaker, failures, last_failure, next_try }, limited }: Row) {
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
function ProbeButton({ id, onDone }: { id: string; onDone: () => void }) {
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
        <span class="visually-hidden"> {id}</span>
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
        <p class="small muted">
          {count(state.models)} models: {state.tasks.join(', ')}
        </p>
      </>
    ),
    sort: ({ state }) => state.id,
  },
  { name: 'Health', cell: Health, sort: ({ state }) => state.failures },
  numberColumn('Calls', ({ metrics }) => metrics?.requests ?? 0, count),
  numberColumn('Errors', ({ metrics }) => metrics?.error_rate ?? 0, percent),
  numberColumn('p50', ({ metrics }) => metrics?.latency_ms.p50, duration),
  numberColumn('p95', ({ metrics }) => metrics?.latency_ms.p95, duration),
  numberColumn('First token', ({ metrics }) => metrics?.first_token_ms.p50, duration),
  { name: 'Probe', cell: ({ state }) => <ProbeButton id={state.id} onDone={again} /> },
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
                <p>Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY and start the server again.</p>
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
