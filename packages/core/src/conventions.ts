/** Values that spec.md leaves open. Above each is the sentence of spec.md that it completes; each is the default of an option. */

/** "Allowed values of the `type` and `code` fields of the gateway error body: not shown." */
export const errorCodes = {
  invalid_request_error: [
    'invalid_json',
    'invalid_body',
    'model_not_found',
    'unsupported_parameter',
    'request_too_large',
  ],
  authentication_error: ['invalid_api_key'],
  permission_error: ['forbidden', 'budget_exceeded', 'insufficient_credits'],
  not_found_error: ['not_found'],
  method_not_allowed: ['method_not_allowed'],
  rate_limit_error: ['rate_limit_exceeded'],
  server_error: ['internal_error', 'ledger_unavailable', 'overloaded'],
  upstream_error: ['upstream_error', 'upstream_timeout', 'upstream_truncated', 'upstream_unavailable'],
} as const

/** The `type` of a gateway error; the closed list is {@link errorCodes}. */
export type ErrorType = keyof typeof errorCodes
/** The `code` of a gateway error; the closed list is {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[ErrorType][number]

/** "Default rate_limit value … not shown": requests per minute of a key made without one. */
export const DEFAULT_RATE_LIMIT = 60

/** "gw-<key>": the part after the prefix is not specified; it is 32 random bytes in base64url. */
export const KEY_BYTES = 32
