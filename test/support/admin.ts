import { conventionRoutes, requestEvents, tokenAdmin } from '@turnpike/gateway'
import * as v from 'valibot'
import { expect } from 'vitest'
import type { TestOptions } from './gateway.js'
import { testGateway } from './gateway.js'

export const ADMIN_TOKEN = 'admin-token-0123456789'

/** A gateway with all routes for administrators, of whom one has a token. */
export async function adminGateway(options: TestOptions = {}) {
  const at = await testGateway({
    authenticateAdmin: tokenAdmin(ADMIN_TOKEN),
    events: requestEvents(),
    routes: [conventionRoutes],
    ...options,
  })
  /** Asks as the administrator. */
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    at.send('GET', path, undefined, { headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers } })
  return {
    ...at,
    ask,
    /** The JSON of an answer, which has the schema's fields and no others. */
    async read<T>(path: string, schema: v.GenericSchema<unknown, T>): Promise<T> {
      const response = await ask(path)
      const body: unknown = await response.json()
      expect([response.status, v.parse(schema, body)]).toEqual([200, body])
      return body as T
    },
  }
}
