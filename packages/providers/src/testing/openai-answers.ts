import type { FakeAnswer } from './fake-upstream.js'
import type { Refusal } from './openai-refusals.js'

/** The id of every request. */
export const requestId = { 'x-request-id': 'req_simulated' }

/** How many tokens a text counts as. */
export const tokens = (text: string): number => Math.ceil(text.length / 4)

/** An answer in JSON. */
export const json = (body: object, status = 200): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...requestId },
  body: JSON.stringify(body),
})

/** A refusal as the vendor sends it. */
export const refused = ({ message, param, code, status = 400 }: Refusal): FakeAnswer => {
  // The vendor calls what is too large its own error.
  const type = status === 413 ? 'server_error' : 'invalid_request_error'
  return json({ error: { message, type, param, code } }, status)
}
