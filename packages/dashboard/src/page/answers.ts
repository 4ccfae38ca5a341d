import type { GatewaySchemas } from '@turnpike/client'

/** What the routes below `/admin` answer (docs/admin.md), by the types of the gateway's OpenAPI document. */

export type MetricsAnswer = GatewaySchemas['MetricsResponse']

export type ProvidersAnswer = GatewaySchemas['ConfiguredProviders']
export type Probe = GatewaySchemas['ProviderProbe']

export type BalancerAnswer = GatewaySchemas['BalancerResponse']
/** How a request chose among its candidates. */
export type Choice = BalancerAnswer['choices'][number]
/** A candidate for a request; they are in the order of calls. */
export type Candidate = Choice['order'][number]
export type Simulated = GatewaySchemas['SimulatedChoice']

export type PricingAnswer = GatewaySchemas['PricingResponse']
export type PricedModel = PricingAnswer['models'][number]

export type UsageRow = GatewaySchemas['UsageTable']['data'][number]
export type UsageHours = GatewaySchemas['UsageSeries']

export type Key = GatewaySchemas['KeyList']['data'][number]

/** A finished request; what does not apply to it is absent. */
export type RequestEvent = GatewaySchemas['RequestEvent']

/** A configured provider. */
export type Provider = ProvidersAnswer['providers'][number]

/** A setting of a kind of provider. */
export interface ProviderSetting {
  name: string
  description?: string
  required: boolean
  secret: boolean
}

/** A kind of provider (`GET /admin/providers/types`). */
export interface ProviderType {
  type: string
  name: string
  base_url?: string
  local?: true
  settings: ProviderSetting[]
}

/** A group of models (`GET /admin/groups`). */
export interface Group {
  name: string
  source: 'configuration' | 'store'
  /** In order of preference. */
  models: (string | { model: string; weight: number })[]
  contextFallback?: string
  contentFallback?: string
  failoverStatuses?: number[]
  retries?: number
  maxWaitMs?: number
  /** Why it is left out; absent = it is used. */
  fault?: string
}

/** A price in the store (`GET /admin/prices`): US dollars per million of each class of units. */
export interface Price {
  /** `provider/model`, or `*\/model` for every provider. */
  model: string
  price: Record<string, unknown>
  since: string
  fault?: string
}

/** The process that answers (`GET /admin/server`). */
export interface ServerAnswer {
  runtime: string
  platform: string
  pid: number
  started_at: string
  /** Bytes. */
  memory: { resident: number; heap: number }
  store: {
    driver: string
    writers: 'one-process' | 'one-host' | 'many-hosts'
    durability: 'none' | 'process-crash' | 'power-loss' | 'engine-configured' | 'unknown'
    ok: boolean
    reason?: string
    warnings?: string[]
  }
  users: number
  /** Without secrets. */
  configuration: Record<string, unknown>
}

export type AuditEntry = GatewaySchemas['AuditLog']['data'][number]
