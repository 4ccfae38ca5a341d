/**
 * What the packages of Turnpike share and nobody else needs. It may change in any release.
 * @internal
 * @module
 */
export * from './bytes.js'
export { audit } from './entities/audit.js'
export type { LiveSessions } from './entities/sessions.js'
export { liveSessions } from './entities/sessions.js'
export { scrub } from './errors.js'
export * from './extend.js'
export * from './ids.js'
export * from './invalid.js'
export * from './kv/commit.js'
export type { KeyRange } from './kv/kv.js'
export { decodeKey, encodeKey, rangeOf } from './kv/kv.js'
export { isDelete } from './kv/memory-kv.js'
export * from './ledger/histogram.js'
export { lastUsed } from './ledger/last-used.js'
export { areBelieved, totalsOf } from './ledger/totals.js'
export * from './microtask.js'
export * from './pieces.js'
export { completionClasses, measureClasses, promptClasses, unitClasses } from './prices/price.js'
export { undated } from './prices/price-table.js'
export { CustomToolCall } from './schemas/chat.js'
export * from './sha256.js'
export * from './together.js'
export * from './without-nulls.js'
