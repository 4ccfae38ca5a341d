import type { FakeAnswer } from './fake-upstream.js'

const headers = { 'content-type': 'application/json; charset=UTF-8' }

/** How many tokens so many characters count as. */
export const tokensOf = (characters: number): number => Math.ceil(characters / 4)

/** How many tokens a text counts as. */
export const tokens = (text: string): number => tokensOf(text.length)

/** An answer in JSON. */
export const json = (body: object): FakeAnswer => ({ status: 200, headers, body: JSON.stringify(body) })

/** An error as the vendor sends it. */
export const errorAnswer = (code: number, status: string, message: string, details?: object[]): FakeAnswer => ({
  status: code,
  headers,
  body: JSON.stringify({ error: { code, message, status, details } }),
})

/** A refusal of what was asked for. */
export const refused = (message: string): FakeAnswer => errorAnswer(400, 'INVALID_ARGUMENT', message)
