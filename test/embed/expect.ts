import { expect } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'

export const jsonType = 'application/json; charset=utf-8'

/** Headers that a response must have; null = must not. */
export function expectHeaders({ headers }: Response, wanted: Record<string, string | null>): void {
  expect(headers.get('x-request-id')).toMatch(uuidv7Pattern)
  for (const [name, value] of Object.entries(wanted)) expect(headers.get(name), name).toBe(value)
}

/** An error in the gateway's own body. */
export async function expectError(
  response: Response,
  status: number,
  type: string,
  code: string,
  message: string,
): Promise<void> {
  expect(response.status).toBe(status)
  expectHeaders(response, { 'content-type': jsonType })
  expect(await response.json()).toEqual({ error: { type, message, code } })
}
