/** What spec.md leaves open and http decides. Each value answers the sentence above it and is an option where it is used. */

/** "Maximum request body size … not shown": bytes of a JSON body. */
export const BODY_LIMIT = 20 * 1024 * 1024

/** Status in logs of a request whose client disconnected, as nginx logs it. It is never sent, and it is no error of the server. */
export const CLIENT_LEFT = 499

/** Not shown: deepest nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH = 128

/** Not shown: milliseconds without data after which a request body is refused, so that idle clients do not hold a slot. */
export const BODY_IDLE_MS = 30_000

/** Not shown: silence after which a stream carries a comment, in milliseconds, so that proxies do not time it out. */
export const HEARTBEAT_MS = 15_000
