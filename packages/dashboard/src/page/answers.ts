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
