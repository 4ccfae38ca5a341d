/** What spec.md leaves open and the gateway decides. Each value answers the sentence above it and is an option of `createGateway`. */

/** "the gateway information object also reports version 1.0.0" is shown; its name and description are not. */
export const NAME = 'turnpike'
export const VERSION = '1.0.0'
export const DESCRIPTION =
  'An OpenAI-compatible AI gateway in front of OpenAI-style, Claude-style and Gemini-style providers'

/** "time-outs: not shown": milliseconds until an upstream's first event, or its whole answer where it does not stream. */
export const FIRST_EVENT_MS = 300_000

/** "time-outs: not shown": milliseconds between two events of an upstream's stream. */
export const BETWEEN_EVENTS_MS = 120_000

/** "429 is retried after the stated delay": seconds for Retry-After where an upstream's 429 states none. */
export const RETRY_AFTER_S = 1

/** "time-outs: not shown": milliseconds that running requests have to end after a shutdown began. */
export const DRAIN_MS = 30_000
