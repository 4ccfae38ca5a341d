import type { Column } from '@turnpike/ui'
import { count, duration, linkTo, NONE, numberColumn, Panel, percent, Status, Table, usd } from '@turnpike/ui'
import type { MetricsAnswer, ProvidersAnswer } from './answers.js'

/** A provider with its metrics of the period, and how it is now. */
type Provider = MetricsAnswer['providers'][number] & { now: ProvidersAnswer['providers'] }

/** How a provider is: by the worst of its entries. */
function ProviderState({ now }: Provider) {
  if (now.length === 0) return <Status tone="off">not configured</Status>
  const bad = now.find(({ status, breaker }) => status === 'broken' || breaker === 'open')
  if (bad) return <Status tone="bad">{bad.status === 'broken' ? 'broken' : 'unhealthy'}</Status>
  if (now.some(({ breaker }) => breaker === 'half-open')) return <Status tone="warn">being tried again</Status>
  return now.every(({ status }) => status === 'disabled') ? (
    <Status tone="off">disabled</Status>
  ) : (
    <Status tone="good">healthy</Status>
  )
}

const providerColumns = (hours: string): Column<Provider>[] => [
  {
    name: 'Provider',
    cell: ({ id }) => <a href={linkTo('/admin/requests', { provider: id, hours })}>{id}</a>,
    sort: ({ id }) => id,
  },
  { name: 'Now', cell: (one) => <ProviderState {...one} /> },
  numberColumn('Calls', (one) => one.requests, count),
  numberColumn(
    'Errors',
    (one) => (one.requests === 0 ? null : one.error_rate),
    (rate) => (rate === null ? NONE : percent(rate)),
  ),
  numberColumn('p50', (one) => one.latency_ms.p50, duration),
  numberColumn('p95', (one) => one.latency_ms.p95, duration),
  numberColumn('First token', (one) => one.first_token_ms.p50, duration),
  numberColumn('Cost', (one) => one.cost_usd, usd),
]

/** How the providers are, and were in a period. */
export const ProviderHealth = ({
  metrics,
  providers,
}: {
  metrics: MetricsAnswer
  providers: ProvidersAnswer['providers']
}) => (
  <Panel title="Providers" actions={<a href={linkTo('/admin/providers')}>Health and tests</a>}>
    <Table
      caption="Providers"
      columns={providerColumns(String(metrics.hours))}
      rows={metrics.providers.map((one) => ({ ...one, now: providers.filter(({ id }) => id === one.id) }))}
      rowKey={({ id }) => id}
    />
  </Panel>
)
