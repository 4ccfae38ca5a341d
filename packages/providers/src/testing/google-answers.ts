import type { FakeAnswer } from './fake-upstream.js'

const headers = { 'content-type': 'application/json; charset=UTF-8' }

/** A JSON response. */
export const json = (body: object): FakeAnswer => ({ status: 200, headers, body: JSON.stringify(body) })

/** An error response in the vendor's format. */
export const errorAnswer = (code: number, status: string, message: string, details?: object[]): FakeAnswer => ({
  status: code,
  headers,
  body: JSON.stringify({ error: { code, message, status, details } }),
})

/** A response that rejects the request. */
export const refused = (message: string): FakeAnswer => errorAnswer(400, 'INVALID_ARGUMENT', message)
