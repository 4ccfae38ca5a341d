/** KV engines. Files so far; each is its own subpath too. @module */
export * from './fs.js'
