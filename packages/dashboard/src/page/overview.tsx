import type { Column } from '@turnpike/ui'
import {
  Chart,
  Code,
  count,
  dayAndTime,
  duration,
  Empty,
  Figure,
  linkTo,
  Loaded,
  modelToTry,
  Notice,
  numberColumn,
  Page,
  Panel,
  percent,
  route,
  Segmented,
  setQuery,
  Spark,
  Table,
  usd,
  useData,
} from '@turnpike/ui'
import { useMemo } from 'preact/hooks'
import type { Metrics, MetricsAnswer, PricingAnswer } from './answers.js'
import { firstCurl } from './curl.js'
import { read } from './api.js'
import { hoursOf, PeriodChoice } from './period.js'
import { kindName } from './failures.js'

const failed = ({ requests, error_rate }: Metrics): number => Math.round(requests * error_rate)

/** What the chart can show. */
const views = {
  requests: { name: 'Calls', of: (one: Metrics) => one.requests, format: count },
  errors: { name: 'Errors', of: failed, format: count },
  latency: { name: 'Latency, p95', of: (one: Metrics) => one.latency_ms.p95, format: duration },
  cost: { name: 'Cost', of: (one: Metrics) => one.cost_usd, format: usd },
}
type View = keyof typeof views
const viewNames = Object.entries(views).map(([key, { name }]) => [key as View, name] as const)

function FirstRun() {
  const pricing = useData((signal) => read<PricingAnswer>('pricing', signal), [])
  return (
    <section class="panel">
      <Empty title="No request yet">
        <p>Send one with a gateway key. The first start of the server printed one; Keys lists all.</p>
      </Empty>
      <div class="body">
        <Loaded data={pricing}>
          {({ models }) => <Code text={firstCurl(modelToTry(models.map(({ id }) => id)))} label="A first request" />}
        </Loaded>
      </div>
    </section>
  )
}

type Provider = MetricsAnswer['providers'][number]
const providerColumns: Column<Provider>[] = [
  { name: 'Provider', cell: ({ id }) => <a href={linkTo('/admin/providers')}>{id}</a>, sort: ({ id }) => id },
  numberColumn('Calls', (one) => one.requests, count),
  numberColumn('Errors', (one) => one.error_rate, percent),
  numberColumn('p50', (one) => one.latency_ms.p50, duration),
  numberColumn('p95', (one) => one.latency_ms.p95, duration),
  numberColumn('First token', (one) => one.first_token_ms.p50, duration),
  numberColumn('Cost', (one) => one.cost_usd, usd),
]

/** What went wrong, most frequent first. */
const kindsOf = ({ errors }: Metrics): [string, number][] => Object.entries(errors).toSorted(([, a], [, b]) => b - a)

function Figures({ total, series }: MetricsAnswer) {
  const of = (value: (one: Metrics) => number | null) => series.map((one) => value(one) ?? 0)
  const [worst] = kindsOf(total)
  return (
    <dl class="figures">
      <Figure
        name="Calls of providers"
        value={count(total.requests)}
        detail={total.refused > 0 && `${count(total.refused)} refused by providers`}
      >
        <Spark values={of((one) => one.requests)} />
      </Figure>
      <Figure
        name="Errors of providers"
        value={percent(total.error_rate)}
        detail={worst ? `mostly ${kindName(worst[0])}` : 'no errors'}
      >
        <Spark values={of(failed)} tone="danger" />
      </Figure>
      <Figure
        name="Latency, p95"
        value={duration(total.latency_ms.p95)}
        detail={`p50 ${duration(total.latency_ms.p50)}`}
      >
        <Spark values={of((one) => one.latency_ms.p95)} />
      </Figure>
      <Figure
        name="Tokens"
        value={count(total.prompt_tokens + total.completion_tokens)}
        detail={`${count(total.prompt_tokens)} in, ${count(total.completion_tokens)} out`}
      >
        <Spark values={of((one) => one.prompt_tokens + one.completion_tokens)} />
      </Figure>
      <Figure
        name="Cost"
        value={usd(total.cost_usd)}
        detail={total.unpriced > 0 ? `${count(total.unpriced)} requests without a price` : 'every request has a price'}
      >
        <Spark values={of((one) => one.cost_usd)} tone="amber" />
      </Figure>
    </dl>
  )
}

function HourlyChart({ series }: MetricsAnswer) {
  const given = route.value.query.get('show') ?? ''
  const view = Object.hasOwn(views, given) ? (given as View) : 'requests'
  const { name, of, format } = views[view]
  const times = useMemo(() => series.map(({ time }) => Date.parse(time)), [series])
  const lines = useMemo(
    () => [
      {
        name,
        colour: view === 'cost' ? '--amber' : view === 'errors' ? '--danger' : '--accent',
        values: series.map(of),
      },
    ],
    [series, view],
  )
  const columns: Column<MetricsAnswer['series'][number]>[] = [
    { name: 'Hour', cell: (one) => dayAndTime(one.time) },
    { name, number: true, cell: (one) => format(of(one) ?? 0) },
  ]
  return (
    <Panel
      title={`${name} by hour`}
      actions={<Segmented label="Shown" options={viewNames} value={view} onChange={(show) => setQuery({ show })} />}
    >
      <div class="body">
        <Chart label={`${name} by hour`} times={times} series={lines} format={format} />
      </div>
      <details class="twin">
        <summary>As a table</summary>
        <Table caption={`${name} by hour`} columns={columns} rows={series.toReversed()} rowKey={(one) => one.time} />
      </details>
    </Panel>
  )
}

export function Overview() {
  const hours = hoursOf('24')
  const data = useData((signal) => read<MetricsAnswer>(`metrics?hours=${hours}`, signal), [hours], 10_000)
  return (
    <Page title="Overview" actions={<PeriodChoice value={hours} />}>
      <Loaded data={data}>
        {(answer) => (
          <>
            {answer.warnings.map((warning) => (
              <Notice key={warning} tone="warn">
                <p>{warning}</p>
              </Notice>
            ))}
            {answer.total.requests === 0 && <FirstRun />}
            <Figures {...answer} />
            <HourlyChart {...answer} />
            <Panel title="Providers">
              <Table caption="Providers" columns={providerColumns} rows={answer.providers} rowKey={({ id }) => id} />
            </Panel>
            <Panel title="Upstream errors">
              {kindsOf(answer.total).length === 0 ? (
                <Empty title="No upstream failed in this period">
                  <p>
                    A request that the gateway refuses itself, such as one with a wrong key, calls no provider: it is
                    among the <a href={linkTo('/admin/requests', { show: 'failed' })}>failed requests</a>.
                  </p>
                </Empty>
              ) : (
                <Table
                  caption="Errors by kind"
                  columns={[
                    { name: 'Kind', cell: ([kind]) => kindName(kind) },
                    { name: 'Calls', number: true, cell: ([, calls]) => count(calls) },
                  ]}
                  rows={kindsOf(answer.total)}
                  rowKey={([kind]) => kind}
                />
              )}
            </Panel>
          </>
        )}
      </Loaded>
    </Page>
  )
}
