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
  NONE,
  Notice,
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
  words,
} from '@turnpike/ui'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { MetricsAnswer, PricingAnswer, ProvidersAnswer } from './answers.js'
import { firstCurl } from './curl.js'
import { read } from './api.js'
import { hoursOf, PeriodChoice } from './period.js'
import { kindName } from './failures.js'
import { ProviderHealth } from './provider-health.js'
import { Spenders } from './spenders.js'

type Hour = MetricsAnswer['series'][number]

/** Requests of callers; before they were counted, calls of providers. */
const requestsOf = ({ ended, requests }: Hour): number => ended?.requests ?? requests
const unwellOf = ({ ended }: Hour): number => (ended ? ended.refused + ended.failed : 0)

/** What the chart can show; null = a gap, where nothing was called. */
const views: Record<string, { name: string; of: (one: Hour) => number | null; format: (value: number) => string }> = {
  requests: { name: 'Requests', of: requestsOf, format: count },
  errors: { name: 'Refused and failed', of: unwellOf, format: count },
  latency: { name: 'Latency, p95', of: (one) => one.latency_ms.p95, format: duration },
  cost: { name: 'Cost', of: (one) => one.cost_usd, format: usd },
}
const viewNames = Object.entries(views).map(([key, { name }]) => [key, name] as const)

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

/** What is most frequent first. */
const frequent = (counts: Record<string, number>): [string, number][] =>
  Object.entries(counts).toSorted(([, a], [, b]) => b - a)

/** A share of requests, in words. */
const shareOf = (some: number, all: number): string => (all === 0 ? 'of none' : `${percent(some / all)} of all`)

function Figures({ total, ended, series, hours }: MetricsAnswer) {
  const of = (value: (one: Hour) => number | null) => series.map(value)
  const period = String(hours)
  const list = (result?: string): string => linkTo('/admin/requests', { result, hours: period })
  const all = ended?.requests ?? total.requests
  const { refused = 0, failed = 0, left = 0 } = ended ?? {}
  return (
    <dl class="figures">
      <Figure
        name="Requests"
        value={count(all)}
        href={list()}
        detail={left > 0 ? `${count(left)} left by clients` : `${count(total.requests)} calls of providers`}
      >
        <Spark values={of(requestsOf)} />
      </Figure>
      <Figure name="Refused" value={count(refused)} href={list('refused')} detail={shareOf(refused, all)}>
        <Spark values={of(({ ended }) => ended?.refused ?? 0)} tone="amber" />
      </Figure>
      <Figure name="Failed" value={count(failed)} href={list('failed')} detail={shareOf(failed, all)}>
        <Spark values={of(({ ended }) => ended?.failed ?? 0)} tone="danger" />
      </Figure>
      <Figure
        name="Latency, p95"
        value={duration(total.latency_ms.p95)}
        href={list('ok')}
        detail={total.latency_ms.p50 === null ? 'nothing was called' : `p50 ${duration(total.latency_ms.p50)}`}
      >
        <Spark values={of((one) => one.latency_ms.p95)} />
      </Figure>
      <Figure
        name="Tokens"
        value={count(total.prompt_tokens + total.completion_tokens)}
        href={linkTo('/admin/usage', { by: 'model', hours: period })}
        detail={`${count(total.prompt_tokens)} in, ${count(total.completion_tokens)} out`}
      >
        <Spark values={of((one) => one.prompt_tokens + one.completion_tokens)} />
      </Figure>
      <Figure
        name="Cost"
        value={usd(total.cost_usd)}
        href={linkTo('/admin/usage', { by: 'user', hours: period })}
        detail={total.unpriced > 0 ? `${count(total.unpriced)} without a price` : 'all have a price'}
      >
        <Spark values={of((one) => one.cost_usd)} tone="amber" />
      </Figure>
    </dl>
  )
}

/** A table of what went wrong, the most frequent first. */
const Causes = ({
  title,
  none,
  rows,
  name,
  cell,
}: {
  title: string
  none: string
  rows: [string, number][]
  name: string
  cell: (code: string) => ComponentChildren
}) => (
  <Panel title={title}>
    {rows.length === 0 ? (
      <p class="loading">{none}</p>
    ) : (
      <Table
        caption={title}
        columns={[
          { name: 'Cause', cell: ([code]) => cell(code) },
          { name, number: true, cell: ([, times]) => count(times) },
        ]}
        rows={rows}
        rowKey={([code]) => code}
      />
    )}
  </Panel>
)

function HourlyChart({ series }: MetricsAnswer) {
  const given = route.value.query.get('show') ?? ''
  const view = Object.hasOwn(views, given) ? given : 'requests'
  const { name, of, format } = views[view]!
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
  const textOf = (value: number | null): string => (value === null ? NONE : format(value))
  const columns: Column<Hour>[] = [
    { name: 'Hour', cell: (one) => dayAndTime(one.time) },
    { name, number: true, cell: (one) => textOf(of(one)) },
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
  const data = useData(
    async (signal) => {
      const [metrics, { providers }] = await Promise.all([
        read<MetricsAnswer>(`metrics?hours=${hours}`, signal),
        read<ProvidersAnswer>('providers', signal),
      ])
      return { metrics, providers }
    },
    [hours],
    10_000,
  )
  return (
    <Page title="Overview" actions={<PeriodChoice value={hours} />}>
      <Loaded data={data}>
        {({ metrics, providers }) => (
          <>
            {metrics.warnings.map((warning) => (
              <Notice key={warning} tone="warn">
                <p>{warning}</p>
              </Notice>
            ))}
            {metrics.total.requests === 0 && (metrics.ended?.requests ?? 0) === 0 && <FirstRun />}
            <Figures {...metrics} />
            <HourlyChart {...metrics} />
            <Spenders hours={hours} />
            <ProviderHealth metrics={metrics} providers={providers} />
            <div class="columns">
              <Causes
                title="Refused and failed requests"
                none="None in this period."
                name="Requests"
                rows={frequent(metrics.ended?.codes ?? {})}
                cell={(code) => <a href={linkTo('/admin/requests', { code, hours })}>{words(code)}</a>}
              />
              <Causes
                title="Failed calls of providers"
                none="No call of a provider failed in this period."
                name="Calls"
                rows={frequent(metrics.total.errors)}
                cell={kindName}
              />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}
