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

export interface ProviderState {
  id: string
  breaker: 'closed' | 'open' | 'half-open'
  failures: number
  last_failure: string | null
  next_try: string | null
}

export interface ProvidersAnswer {
  providers: (ProviderState & { status: 'healthy' | 'unhealthy'; tasks: string[]; models: number })[]
}

/** A candidate for a request, in the order of calls. */
export interface Candidate {
  provider: string
  model: string
  expected_usd: number | null
  excluded: string | null
  behind: string | null
}

/** How a request chose among its candidates. */
export interface Choice {
  time: string
  request_id: string | null
  model: string
  provider: string | null
  by: 'price' | 'order'
  order: Candidate[]
  served: { provider: string; model: string } | null
  attempts: number
}

export interface BalancerAnswer {
  providers: (ProviderState & { limited: { model: string; until: string }[] })[]
  groups: Record<string, string[]>
  choices: Choice[]
}

export type Simulated = Pick<Choice, 'model' | 'provider' | 'by' | 'order'>

export interface Rates {
  input: number | null
  output: number | null
  cache_read: number | null
  cache_write: number | null
  other: Record<string, number>
}

export interface PricedModel extends Rates {
  id: string
  provider: string
  priced: boolean
  tiers: (Rates & { above: number })[]
  source: string | null
  since: string | null
}

export interface PricingAnswer {
  version: string
  source: string
  since: string | null
  models: PricedModel[]
}

export interface Totals {
  requests: number
  unpriced: number
  prompt_tokens: number
  completion_tokens: number
  tokens: number
  cost_usd: number
}

export type UsageRow = Totals & { id: string; name: string | null; user_id: string | null }

export interface UsageAnswer {
  data: UsageRow[]
  next?: string
}

export interface UsageHours {
  name: string | null
  total: Totals
  series: { time: string; requests: number; tokens: number; cost_usd: number }[]
}

export interface Key {
  id: string
  name: string
  user_id: string
  user: string | null
  rate_limit: number
  revoked: boolean
  created_at: string
  last_used_at: string | null
}

export interface KeysAnswer {
  data: Key[]
  next?: string
}

export interface Probe {
  ok: boolean
  duration_ms: number
  failure: string | null
  status: number | null
}

/** A finished request; what does not apply to it is absent. */
export interface RequestEvent {
  request_id: string
  time: string
  method: string
  route: string
  status: number
  duration_ms: number
  key_id?: string
  user_id?: string
  task?: string
  provider?: string
  model?: string
  stream?: boolean
  outcome?: string
  error_type?: string
  error_code?: string
  /** Upstream calls that failed before the answer, such as `openai/gpt-4o: timeout`. */
  failed_calls?: string
  attempts?: number
  prompt_tokens?: number
  completion_tokens?: number
  cost_usd?: number
  first_token_ms?: number
}
