import type { Fields, KV, Router, UsageLedger } from '@turnpike/core'
import { toUsd } from '@turnpike/core'
import { histogramOf, quantile, sumOf, totalsOf } from '@turnpike/core/internal'
import * as v from 'valibot'
import { METRICS_HOURS } from '../../conventions.js'
import { operation } from '../../operation.js'
import type { EndedHour } from '../../records/request-history.js'
import { endedHours } from '../../records/request-history.js'
import { byHour, Hours, startOf } from './hours.js'

/** Quantiles in milliseconds, accurate within a tenth; null where there are no calls. */
const Quantiles = v.object({ p50: v.nullable(v.number()), p95: v.nullable(v.number()), p99: v.nullable(v.number()) })

/** Metrics of one provider, or of all. */
const Metrics = v.object({
  /** Calls: those with a usage record and those that failed. */
  requests: v.number(),
  /** Errors by kind: failed calls and streams that broke off, but none that a client or a shutdown ended. */
  errors: v.record(v.string(), v.number()),
  /** Calls that the provider rejected because of the request; they are no errors of the provider. */
  refused: v.number(),
  /** Errors divided by requests, 0 to 1. */
  error_rate: v.number(),
  /** From the parsed request to its end, of complete requests. */
  latency_ms: Quantiles,
  /** From the parsed request to the first event, of complete streams. */
  first_token_ms: Quantiles,
  prompt_tokens: v.number(),
  completion_tokens: v.number(),
  /** US dollars, of requests whose price is known. */
  cost_usd: v.number(),
  /** Requests whose price is not known. */
  unpriced: v.number(),
})

/** Requests that ended, whether or not a provider was called. */
const Ended = v.object({
  requests: v.number(),
  /** Those with a status from 400 to 499. */
  refused: v.number(),
  /** Those with another error, also in the middle of a stream. */
  failed: v.number(),
  /** Those whose client went before the end. */
  left: v.number(),
  /** All that did not succeed, by the code of the error or the outcome. */
  codes: v.record(v.string(), v.number()),
})

/** What a provider has served. */
export const ProviderMetrics = v.object({ id: v.string(), ...Metrics.entries })

/** What all providers have served. */
export const MetricsResponse = v.object({
  /** Start of the first hour. */
  from: v.string(),
  /** Number of hours; the last is the current one. */
  hours: v.number(),
  total: Metrics,
  /** Absent where none were counted. */
  ended: v.optional(Ended),
  /** In the order of their configuration, then those that are no longer configured. */
  providers: v.array(ProviderMetrics),
  /** One entry per hour, oldest first. */
  series: v.array(
    v.object({
      /** Start of the hour. */
      time: v.string(),
      ...Metrics.entries,
      /** The hour's requests by provider. */
      by_provider: v.record(v.string(), v.number()),
      ended: v.optional(Ended),
    }),
  ),
  /** What the store warns of, such as more entries than it is made for, as its process sees it; mostly none. */
  warnings: v.array(v.string()),
})
export type MetricsResponse = v.InferOutput<typeof MetricsResponse>

/** Outcomes that count as errors of the provider. */
const badOutcomes = ['upstream_error', 'truncated', 'idle_timeout']

const quantiles = (fields: Fields, prefix: string): v.InferOutput<typeof Quantiles> => {
  const histogram = histogramOf(fields, prefix)
  const at = (q: number): number | null => {
    const ms = quantile(histogram, q)
    return ms === null ? null : Math.round(ms)
  }
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** Metrics from the ledger's counters (core's ledger/totals.ts). */
function metricsOf(fields: Fields): v.InferOutput<typeof Metrics> {
  const errors: Record<string, number> = {}
  let failed = 0
  let wrong = 0
  for (const [name, count] of Object.entries(fields)) {
    const [, of, kind = ''] = /^(failed|outcome)_(.+)$/.exec(name) ?? []
    if (of === 'failed') failed += count
    if (of === 'failed' ? kind === 'refused' : !badOutcomes.includes(kind)) continue
    errors[kind] = (errors[kind] ?? 0) + count
    wrong += count
  }
  const { requests: recorded, unpriced, prompt_tokens, completion_tokens, cost_nano_usd } = totalsOf(fields)
  const requests = recorded + failed
  return {
    requests,
    errors,
    refused: fields['failed_refused'] ?? 0,
    error_rate: requests === 0 ? 0 : wrong / requests,
    latency_ms: quantiles(fields, 'ms_'),
    first_token_ms: quantiles(fields, 'first_'),
    prompt_tokens,
    completion_tokens,
    cost_usd: toUsd(cost_nano_usd),
    unpriced,
  }
}

function endedOf(hours: EndedHour[]): v.InferOutput<typeof Ended> | undefined {
  if (hours.length === 0) return undefined
  const sums = sumOf(hours.map(({ fields }) => fields))
  const codes = Object.entries(sums).flatMap(([name, count]) =>
    name.startsWith('code_') ? [[name.slice(5), count] as const] : [],
  )
  const { requests = 0, refused = 0, failed = 0, left = 0 } = sums
  return { requests, refused, failed, left, codes: Object.fromEntries(codes) }
}

/** GET /admin/metrics: of all processes, including the time before their last start. */
export const adminMetrics = (router: Router, kv: KV, ledger: UsageLedger, now: () => number) =>
  operation({
    id: 'admin.metrics',
    summary: 'Sums up the requests of the last hours, by provider and by hour.',
    access: 'admin',
    query: v.object({ hours: Hours }),
    output: MetricsResponse,
    async run(_, { query: { hours = METRICS_HOURS } }): Promise<MetricsResponse> {
      const from = startOf(hours, now())
      const configured = new Set(router.health().map(({ id }) => id))
      const counted = (await ledger.providers()).map(({ id }) => id)
      const all = await Promise.all(
        [...new Set([...configured, ...counted])].map(async (id) => ({
          id,
          hours: await ledger.hours('provider', id, from),
        })),
      )
      const providers = all.filter(({ id, hours }) => configured.has(id) || hours.length > 0)
      const [{ warnings = [] }, ended] = await Promise.all([kv.health(), endedHours(kv, from)])
      const endedAt = new Map(byHour(from, hours, ended).map(({ time, rows }) => [time, endedOf(rows)]))
      const used = providers.flatMap(({ id, hours }) => hours.map(({ hour, fields }) => ({ id, hour, fields })))
      return {
        from: from.toISOString(),
        hours,
        total: metricsOf(sumOf(used.map(({ fields }) => fields))),
        ended: endedOf(ended),
        providers: providers.map(({ id, hours }) => ({ id, ...metricsOf(sumOf(hours.map(({ fields }) => fields))) })),
        series: byHour(from, hours, used).map(({ time, rows }) => ({
          time,
          ...metricsOf(sumOf(rows.map(({ fields }) => fields))),
          by_provider: Object.fromEntries(rows.map(({ id, fields }) => [id, metricsOf(fields).requests])),
          ended: endedAt.get(time),
        })),
        warnings,
      }
    },
  })
