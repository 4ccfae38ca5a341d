/** Provider adapters, transports and the router of Turnpike. @module */
export * from './adapter.js'
export * from './anthropic/index.js'
export * from './chunk-builder.js'
export type { UpstreamEvent } from './events.js'
export * from './openai/index.js'
export * from './provider.js'
export * from './router.js'
export * from './transport.js'
