import type { FakeAnswer } from './fake-upstream.js'
import type { Refusal } from './openai-refusals.js'

/** The id of every request. */
export const requestId = { 'x-request-id': 'req_simulated' }

/** A JSON response. */
export const json = (body: object, status = 200): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...requestId },
  body: JSON.stringify(body),
})

/** An error response in the vendor's format. */
export const refused = ({ message, param, code, status = 400 }: Refusal): FakeAnswer => {
  // The vendor reports requests that are too large as a server error.
  const type = status === 413 ? 'server_error' : 'invalid_request_error'
  return json({ error: { message, type, param, code } }, status)
}
