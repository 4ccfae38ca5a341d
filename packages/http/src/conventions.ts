/** What spec.md leaves open and http decides. Each value answers the sentence above it and is an option where it is used. */

/** "Maximum request body size … not shown": bytes of a JSON body. */
export const BODY_LIMIT = 20 * 1024 * 1024

/** Not in the table of statuses: what servers log for a client that left. Nobody is there to read it, and nobody failed. */
export const CLIENT_LEFT = 499

/** Not shown: deepest nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH = 128

/** Not shown: milliseconds for which a request body may stand still, so that who sends nothing holds no place. */
export const BODY_IDLE_MS = 30_000

/** Not shown: silence after which a stream carries a comment, in milliseconds, so that no proxy takes it for dead. */
export const HEARTBEAT_MS = 15_000
