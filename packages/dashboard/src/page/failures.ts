import { words } from '@turnpike/ui'
import type { RequestEvent } from './answers.js'

/** What the codes of errors mean, and what helps. */
const codes: Record<string, string> = {
  invalid_json: 'The body is not JSON. Check what the caller sends.',
  invalid_body: 'A field of the body is missing or wrong; the answer named it. Correct the request.',
  model_not_found: 'No configured provider has this model. Pricing lists the models.',
  unsupported_parameter: 'A provider that has this model does not support a field of the request; the answer named it.',
  context_length_exceeded:
    'The prompt is longer than the model takes, by itself or with the answer that was asked for.',
  content_filter: 'A guard of this server refused the request or its answer; the log has its name.',
  request_too_large: 'The body is larger than the limit.',
  invalid_api_key: 'The key is missing, wrong or revoked. Keys lists the valid ones.',
  forbidden: 'The key or its owner may not do this: the model, the role or the owner does not fit.',
  budget_exceeded: 'The budget of the key or its owner is used up.',
  insufficient_credits: 'The owner of the key has no credits left. An administrator adds some.',
  not_found: 'There is nothing with this id.',
  method_not_allowed: 'The path exists, but not with this method.',
  rate_limit_exceeded:
    'The key made more requests in this minute than it may. Raise its limit, or slow the caller down.',
  internal_error: 'A fault of the gateway or its store. The server’s log has it under this request id.',
  ledger_unavailable: 'Usage could not be recorded, so the request was not accepted. Check the store.',
  overloaded: 'The process had as many requests as it takes. Add a process, or raise MAX_IN_FLIGHT.',
  upstream_error: 'The provider answered with an error. See which calls failed, and the provider’s health.',
  upstream_timeout: 'The provider did not answer in time.',
  upstream_truncated: 'The provider’s answer ended before it was complete.',
  upstream_unavailable: 'No provider could be reached, or all refused for now.',
}

/** The kinds of failed calls, as far as their names do not say it. */
const kinds: Record<string, string> = {
  status: 'error status',
  refused: 'request refused',
  malformed: 'answer not understood',
  credential: 'key of the provider rejected',
  truncated: 'answer cut off',
}

/** A kind of failed calls in words. */
export const kindName = (kind: string): string => kinds[kind] ?? words(kind)

/** How streams end otherwise than complete. */
const outcomes: Record<string, string> = {
  upstream_error: 'The provider sent an error in the middle of the stream; the client got it as an event.',
  truncated: 'The provider closed the stream before its end; the client got an error event, and never [DONE].',
  client_abort: 'The client closed the connection before the answer was complete. What was used until then is charged.',
  idle_timeout: 'The provider sent nothing for too long in the middle of the stream.',
  server_shutdown: 'The server was stopped while the request ran.',
  refused: 'A guard of this server ended the stream; the log has its name. What was used until then is charged.',
}

/** Why a request failed, in a sentence or two. */
export const whyFailed = ({ status, outcome, error_code, error_field }: RequestEvent): string =>
  error_code === 'invalid_body' && error_field !== undefined
    ? `The field ${error_field} of the request is missing or wrong; the answer said what was expected there.`
    : (codes[error_code ?? ''] ?? outcomes[outcome ?? ''] ?? `The answer had the status ${status}.`)
