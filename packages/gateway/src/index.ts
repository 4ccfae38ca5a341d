/** The AI gateway: a handler for /v1, /health and /. @module */
export type { Administrator, AuthenticateAdmin, Caller } from './caller.js'
export { tokenAdmin } from './caller.js'
export * from './conventions.js'
export * from './gateway.js'
