import { csv } from '@turnpike/ui'
import type { RequestEvent } from './answers.js'
import type { Names } from './names.js'

const columns: [string, (event: RequestEvent, names: Names) => string | number | null | undefined][] = [
  ['time', ({ time }) => time],
  ['request_id', ({ request_id }) => request_id],
  ['method', ({ method }) => method],
  ['route', ({ route }) => route],
  ['status', ({ status }) => status],
  ['outcome', ({ outcome }) => outcome],
  ['error_code', ({ error_code }) => error_code],
  ['failed_calls', ({ failed_calls }) => failed_calls],
  ['requested_model', ({ requested_model }) => requested_model],
  ['provider', ({ provider }) => provider],
  ['model', ({ model }) => model],
  ['user_id', ({ user_id }) => user_id],
  ['user', ({ user_id }, names) => user_id && names.user(user_id)],
  ['key_id', ({ key_id }) => key_id],
  ['key', ({ key_id }, names) => key_id && names.key(key_id)],
  ['project_id', ({ project_id }) => project_id],
  ['duration_ms', ({ duration_ms }) => duration_ms],
  ['first_token_ms', ({ first_token_ms }) => first_token_ms],
  ['calls', ({ attempts }) => attempts],
  ['prompt_tokens', ({ prompt_tokens }) => prompt_tokens],
  ['completion_tokens', ({ completion_tokens }) => completion_tokens],
  // Not the 0 of a price that is not known.
  ['cost_usd', ({ cost_usd, unpriced }) => (unpriced ? null : cost_usd)],
]

/** Requests as CSV, with a head. */
export const requestsCsv = (rows: readonly RequestEvent[], names: Names): string =>
  csv([columns.map(([name]) => name), ...rows.map((row) => columns.map(([, of]) => of(row, names) ?? null))])
