/** What the routes below `/admin` answer, as far as the dashboard reads it (docs/admin.md). */

export interface Quantiles {
  p50: number | null
  p95: number | null
  p99: number | null
}

export interface Metrics {
  requests: number
  errors: Record<string, number>
  refused: number
  error_rate: number
  latency_ms: Quantiles
  first_token_ms: Quantiles
  prompt_tokens: number
  completion_tokens: number
  cost_usd: number
  unpriced: number
}

export interface MetricsAnswer {
  from: string
  hours: number
  total: Metrics
  providers: (Metrics & { id: string })[]
  series: (Metrics & { time: string; by_provider: Record<string, number> })[]
}
