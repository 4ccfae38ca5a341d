/** KV engines, each its own subpath too. @module */
export * from './blobs.js'
export * from './fs.js'
export * from './open-kv.js'
export * from './postgres.js'
export * from './redis.js'
export * from './sqlite.js'
export type { Driver, StorageLike } from './storage-like.js'
export * from './transfer.js'
