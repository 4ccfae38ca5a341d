/** Exchange and reply, routes, shells for Node, fetch and HatTip, bodies, SSE. @module */
export * from './answers/accept.js'
export * from './answers/assets.js'
export type { BodyMemory } from './body/body-memory.js'
export { bodyMemory } from './body/body-memory.js'
export type { Content, Range } from './answers/content.js'
export { requireMatch } from './answers/content.js'
export {
  BODY_BYTES_PER_S,
  BODY_IDLE_MS,
  BODY_LIMIT,
  CLIENT_LEFT,
  ENTRIES_PER_READ,
  HEARTBEAT_MS,
} from './conventions.js'
export { JSON_DEPTH } from '@turnpike/core/internal'
export * from './answers/cookies.js'
export type { CorsOptions } from './cors.js'
export type { Exchange, Handler, Reply, Servable, ShellOptions } from './shells/exchange.js'
export * from './shells/fetch-shell.js'
export * from './handler.js'
export * from './shells/hattip-shell.js'
export { parse } from './input.js'
export * from './answers/lists.js'
export * from './shells/local-exchange.js'
export * from './shells/node-shell.js'
export * from './operation.js'
export * from './same-origin.js'
export * from './shells/shells.js'
export type { RequestLog } from './request-log.js'
export type { EventStream } from './answers/sse.js'
export { EVENT_END, EVENT_START, sseEvent } from './answers/sse.js'
