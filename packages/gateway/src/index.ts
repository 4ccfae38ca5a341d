/** The AI gateway: a handler for /v1, /admin, /health and /. @module */
export type { GatewayParts } from './admin-routes.js'
export { conventionRoutes } from './admin-routes.js'
export type { Administrator, AuthenticateAdmin, Caller, SignedIn, UserCaller } from './caller.js'
export { actorOf, tokenAdmin } from './caller.js'
export {
  ABANDONED_MS,
  AUDIO_LIMIT,
  BETWEEN_EVENTS_MS,
  DESCRIPTION,
  DRAIN_MS,
  EMBEDDING,
  FIRST_EVENT_MS,
  GUARD_MS,
  IMAGE_MODELS,
  LOOK_BACK,
  MAX_IN_FLIGHT,
  NAME,
  SPEECH_MODELS,
  TRANSCRIPTION_MODELS,
  VERSION,
  VOICES,
  WHOLE_ANSWER_MS,
} from './conventions.js'
export * from './gateway.js'
export { mapTexts } from './guards/guarded-text.js'
export type {
  Answered,
  Asked,
  AskedBy,
  Guard,
  GuardedSpeech,
  GuardedTasks,
  GuardOptions,
  GuardVerdict,
} from './guards/guards.js'
export { refuse } from './guards/guards.js'
export type { OnRequest } from './records/on-request.js'
export { BalancerResponse, SimulatedChoice } from './operations/admin/balancer.js'
export { KeyList } from './operations/admin/keys.js'
export { MetricsResponse, ProviderMetrics } from './operations/admin/metrics.js'
export { PricingResponse } from './operations/admin/pricing.js'
export type { Access, GatewayRoute } from './operation.js'
export { operation } from './operation.js'
export type { ConfiguredProvider } from './operations/admin/providers.js'
export { ConfiguredProviders, ProviderProbe, probeView } from './operations/admin/providers.js'
export { UsageSeries, UsageTable } from './operations/admin/usage.js'
export { AuditLog, UsersSummary } from './operations/admin/users.js'
export { FailedRequests } from './operations/admin/failed-requests.js'
export { RequestEvent, requestEvents } from './records/request-events.js'
export type { RequestEvents } from './records/request-events.js'
export type { RequestHistory } from './records/request-history.js'
export { requestHistory } from './records/request-history.js'
