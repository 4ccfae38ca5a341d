/** KV engines, each its own subpath too. @module */
export * from './fs.js'
export * from './open-kv.js'
export * from './redis.js'
export type { Driver, StorageLike } from './storage-like.js'
