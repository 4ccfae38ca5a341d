/** Metrics for Prometheus, through prom-client. @module */
import type { Fields, UsageTotals } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import { boundOf, histogramOf } from '@turnpike/core/internal'
import { bytes, route } from '@turnpike/http'
import type { Metric, MetricValue } from 'prom-client'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { GatewayParts } from './admin-routes.js'
import { operation } from './operation.js'
import type { GatewayRoute } from './operation.js'

/** Options of {@link prometheus}. */
export interface PrometheusOptions {
  /** Path of the endpoint; default `/metrics`. */
  path?: string
  /** The registry, such as one that a host has already; default a new one. */
  registry?: Registry
  /** Whether prom-client's default metrics of the process are included; default false. */
  processMetrics?: boolean
}

/** The usage of a provider. */
interface Used {
  id: string
  totals: UsageTotals
  fields: Readonly<Fields>
}

type Sample = Pick<MetricValue<string>, 'labels' | 'value'> & { metricName?: string }

/** Every second bound of the ledger's histograms, from 8 ms to 9 minutes, in steps of 41 %. */
const BOUNDS = Array.from({ length: 33 }, (_, i) => 12 + 2 * i)

const seconds = (bucket: number): string => String(Number((boundOf(bucket) / 1000).toPrecision(4)))

/** What a provider's counter has of a name, by the rest of the name. */
const byRest = ({ id, fields }: Used, prefix: string, label: string): Sample[] =>
  Object.entries(fields)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => ({ labels: { provider: id, [label]: name.slice(prefix.length) }, value }))

/** The samples of a histogram in milliseconds as one in seconds. */
function histogram(name: string, { id: provider, fields }: Used, prefix: string, sum: string): Sample[] {
  const counts = [...histogramOf(fields, prefix)]
  const upTo = (bound: number): number =>
    counts.reduce((all, [bucket, count]) => (bucket <= bound ? all + count : all), 0)
  const count = upTo(Infinity)
  const bucket = (le: string, value: number): Sample => ({
    metricName: `${name}_bucket`,
    labels: { provider, le },
    value,
  })
  return [
    ...BOUNDS.map((bound) => bucket(seconds(bound), upTo(bound))),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels: { provider }, value: (fields[sum] ?? 0) / 1000 },
    { metricName: `${name}_count`, labels: { provider }, value: count },
  ]
}

/**
 * GET /metrics in Prometheus' text format, for administrators and what monitors the gateway. Sums are read from the ledger at each scrape, so they cover all processes
 * and survive restarts: every process returns the same, and one of them is to be scraped.
 * @example createGateway({ router, kv, routes: [conventionRoutes, prometheus()] })
 */
export const prometheus =
  ({ path = '/metrics', registry = new Registry(), processMetrics = false }: PrometheusOptions = {}) =>
  ({ ledger, router, running }: GatewayParts): GatewayRoute[] => {
    /** One read for all metrics of a scrape. */
    let reading: Promise<Used[]> | undefined
    const read = (): Promise<Used[]> => (reading ??= ledger.providers().finally(() => (reading = undefined)))

    const register = (name: string, type: string, help: string, samples: () => Sample[] | Promise<Sample[]>): void =>
      registry.registerMetric({
        name,
        async get() {
          return { name, help, type, values: await samples(), aggregator: 'first' }
        },
        // The sums of the ledger cannot be reset.
        reset: () => undefined,
      } as unknown as Metric)
    const ofProviders = (name: string, type: string, help: string, samples: (used: Used) => Sample[]): void =>
      register(name, type, help, async () => (await read()).flatMap(samples))

    ofProviders('turnpike_requests_total', 'counter', 'Requests with a usage record, by outcome.', (used) =>
      byRest(used, 'outcome_', 'outcome'),
    )
    ofProviders(
      'turnpike_failed_calls_total',
      'counter',
      'Calls of a provider that failed and cost nothing, by kind; "refused" is the fault of callers.',
      (used) => byRest(used, 'failed_', 'kind'),
    )
    ofProviders('turnpike_tokens_total', 'counter', 'Tokens of prompts and of completions.', ({ id, totals }) => [
      { labels: { provider: id, type: 'prompt' }, value: totals.prompt_tokens },
      { labels: { provider: id, type: 'completion' }, value: totals.completion_tokens },
    ])
    ofProviders('turnpike_cost_usd_total', 'counter', 'Cost in US dollars, where the price is known.', (used) => [
      { labels: { provider: used.id }, value: toUsd(used.totals.cost_nano_usd) },
    ])
    ofProviders('turnpike_unpriced_requests_total', 'counter', 'Requests whose price is not known.', (used) => [
      { labels: { provider: used.id }, value: used.totals.unpriced },
    ])
    const duration = 'turnpike_request_duration_seconds'
    ofProviders(duration, 'histogram', 'From the parsed request to its end, of those that are complete.', (used) =>
      histogram(duration, used, 'ms_', 'ms'),
    )
    const firstToken = 'turnpike_first_token_seconds'
    ofProviders(
      firstToken,
      'histogram',
      'From the parsed request to the first event, of streams that are complete.',
      (used) => histogram(firstToken, used, 'first_', 'first'),
    )
    register('turnpike_requests_in_flight', 'gauge', 'Requests to providers that run in this process.', () => [
      { labels: {}, value: running() },
    ])
    register('turnpike_provider_healthy', 'gauge', '1 where this process asks the provider before others.', () => {
      const healthy = new Map<string, boolean>()
      // One of several instances is enough.
      for (const { id, status } of router.health()) healthy.set(id, healthy.get(id) || status === 'healthy')
      return [...healthy].map(([provider, is]) => ({ labels: { provider }, value: is ? 1 : 0 }))
    })
    if (processMetrics) collectDefaultMetrics({ register: registry })

    return [
      route(
        'GET',
        path,
        operation({
          id: 'metrics',
          summary: 'Returns the metrics in the Prometheus text format.',
          access: 'monitor',
          contentTypes: ['text/plain'],
          run: async () => bytes(await registry.metrics(), registry.contentType),
        }),
        { convention: true },
      ),
    ]
  }
