/**
 * Bytes, JSON, texts and promises: what the packages of Turnpike share and knows nothing of a gateway. It may change in any release.
 * @internal
 * @module
 */
export * from './helpers/address.js'
export * from './helpers/append.js'
export * from './helpers/base64.js'
export * from './helpers/begun-with.js'
export * from './helpers/bytes.js'
export * from './helpers/content-disposition.js'
export * from './helpers/extend.js'
export * from './helpers/ids.js'
export * from './helpers/is-object.js'
export * from './helpers/json-excess.js'
export { markdownImage } from './helpers/markdown-image.js'
export * from './helpers/microtask.js'
export * from './helpers/options.js'
export { parseUrl } from './helpers/parse-url.js'
export * from './helpers/pieces.js'
export { repeated } from './helpers/repeated.js'
export * from './helpers/revocable-cache.js'
export { scrub, scrubPath } from './helpers/scrub.js'
export * from './helpers/sha256.js'
export * from './helpers/shares.js'
export * from './helpers/small-pieces.js'
export * from './helpers/to-stream.js'
export * from './helpers/together.js'
export * from './helpers/without-nulls.js'
