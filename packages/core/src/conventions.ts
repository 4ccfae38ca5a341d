/** Values that are conventions, used by more than one package. */

/** Values of `type` and `code` in the body of an error. */
export const errorCodes = {
  invalid_request_error: [
    'invalid_json',
    'invalid_body',
    'model_not_found',
    'unsupported_parameter',
    'context_length_exceeded',
    'content_filter',
    'request_too_large',
  ],
  authentication_error: ['invalid_api_key'],
  permission_error: ['forbidden', 'budget_exceeded', 'insufficient_credits'],
  not_found_error: ['not_found'],
  method_not_allowed: ['method_not_allowed'],
  rate_limit_error: ['rate_limit_exceeded'],
  server_error: ['internal_error', 'ledger_unavailable', 'overloaded', 'storage_unavailable'],
  upstream_error: ['upstream_error', 'upstream_timeout', 'upstream_truncated', 'upstream_unavailable'],
} as const

/** The `type` of a gateway error; the closed list is {@link errorCodes}. */
export type ErrorType = keyof typeof errorCodes
/** The `code` of a gateway error; the closed list is {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[ErrorType][number]

/** Requests per minute of a key made without one. */
export const DEFAULT_RATE_LIMIT = 60

/** Gateway keys of a user that are not revoked, by the role, and requests a minute of each and of all together. */
export const KEY_LIMITS = { developer: { keys: 20, rateLimit: 600 }, admin: { keys: 1_000, rateLimit: 1_000_000 } }

/** What the value of a gateway key begins with. */
export const KEY_PREFIX = 'gw-'
/** What the tokens of programs begin with. */
export const TOKEN_PREFIX = 'tpt-'

/** After the prefix come 32 random bytes in base64url. */
export const KEY_BYTES = 32

/** Milliseconds for which a rotated key stays valid. */
export const KEY_OVERLAP_MS = 86_400_000

/** Milliseconds for which what was verified stays in memory: a revocation in another process takes effect within 5 s. */
export const VERIFIED_MS = 4_000

/** Entries of a page of a list where no `limit` is given. */
export const PAGE_SIZE = 100

/** Entries of a page of a list at most. */
export const MAX_PAGE_SIZE = 500

/** Bytes of values, as JSON, with which a page of a list is full, however few entries it has. */
export const PAGE_BYTES = 2 * 1024 * 1024

/** Characters of the id of a user at most, because it is a part of storage keys. Longer ids of models are cut. */
export const ID_LENGTH = 200

/** Characters of the id of an end user at most: a `user` of a request. */
export const END_USER_LENGTH = 128

/** End users of a key at most. */
export const MOST_END_USERS = 10_000

/** Upstream calls that one request makes at a time. */
export const CALLS_AT_ONCE = 8

/** Messages of a request at most. Models of a million tokens have room for a hundred tokens in each. */
export const MAX_MESSAGES = 10_000

/** Parts of a message at most. */
export const MAX_PARTS = 10_000

/** Tools of a request at most. OpenAI documents 128, other servers take more. */
export const MAX_TOOLS = 4_096

/** The largest `n` of a chat completion, as OpenAI documents it. */
export const MAX_CHOICES = 128

/** Tool calls of a message at most. */
export const MAX_TOOL_CALLS = 4_096

/** Milliseconds for which a hold that its request did not end is remembered, longer than any request or commit takes. */
export const HOLD_END_MS = 30 * 86_400_000

/** Milliseconds between two loads of live prices. */
export const PRICES_MS = 6 * 60 * 60 * 1000

/** Characters of an error's message, which may repeat what the caller sent. */
export const MESSAGE_LENGTH = 1_000

/** Deepest nesting of arrays and objects in a JSON body, and in the JSON of its strings, such as the arguments of tool calls. */
export const JSON_DEPTH = 128

/**
 * Values of a JSON body or string, counted as its commas and opening brackets. The largest request that OpenAI takes has 300,000
 * tokens to embed, each a number; millions of empty objects would take seconds.
 */
export const JSON_VALUES = 400_000

/** Fields of all objects of a JSON body or string. Names that all differ cost ten times as much as other values. */
export const JSON_FIELDS = 100_000

/** Seconds for Retry-After where the store cannot be used. */
export const STORAGE_RETRY_AFTER_S = 2

/** Entries of a store in memory and on a log, such as a folder, from which its `health()` warns. It is made for up to a million. */
export const MANY_ENTRIES = 250_000
