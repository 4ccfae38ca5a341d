/** Provider adapters, transports and the router of Turnpike, and the building blocks of further families. @module */
export * from './adapter.js'
export * from './anthropic/index.js'
export * from './models/catalogue.js'
export type { ChunkBuilder } from './answers/chunk-builder.js'
export {
  checkArguments,
  chunkBuilder,
  finishOf,
  newCompletionId,
  newToolCallId,
  secondsNow,
} from './answers/chunk-builder.js'
export * from './refusals/failures.js'
export { CATALOGUE_DATE } from './family.js'
export type { ApiKey } from './family.js'
export * from './google/index.js'
export { invalid, unsupported } from '@turnpike/core/internal'
export * from './openai/index.js'
export * from './provider.js'
export { takeNotes } from './requests/request-fields.js'
export type { NoteDown } from './requests/request-fields.js'
export * from './upstream/retry-after.js'
export type { Deployment } from './router/deployments.js'
export type { Group, GroupMember } from './router/groups.js'
export * from './router/router.js'
export { Secrets } from './refusals/secrets.js'
export { fetchTransport } from './upstream/transport.js'
export type { Transport, TransportRequest, TransportResponse } from './upstream/transport.js'
export { callJson, send, wholeText } from './upstream/upstream.js'
export type { Upstream, UpstreamLimits } from './upstream/upstream.js'
