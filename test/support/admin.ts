import { fixedPrices, priceTable } from '@turnpike/core'
import { conventionRoutes, requestEvents, tokenAdmin } from '@turnpike/gateway'
import { createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import * as v from 'valibot'
import { expect } from 'vitest'
import type { TestOptions } from './gateway.js'
import { answer, testGateway } from './gateway.js'

export const ADMIN_TOKEN = 'admin-token-0123456789'

/** A gateway with all routes for administrators, of whom one has a token. */
export async function adminGateway(options: TestOptions = {}) {
  const at = await testGateway({
    authenticateAdmin: tokenAdmin(ADMIN_TOKEN),
    events: requestEvents(),
    routes: [conventionRoutes],
    ...options,
  })
  const init = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }
  /** Asks as the administrator. */
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    at.send('GET', path, undefined, { headers: { ...init.headers, ...headers } })
  return {
    ...at,
    ask,
    /** Sends a command as the administrator. */
    command: (method: string, path: string, body?: object): Promise<Response> => at.send(method, path, body, init),
    /** The JSON of an answer, which has the schema's fields and no others. */
    async read<T>(path: string, schema: v.GenericSchema<unknown, T>): Promise<T> {
      const response = await ask(path)
      const body: unknown = await response.json()
      expect([response.status, v.parse(schema, body)]).toEqual([200, body])
      return body as T
    },
  }
}

/** Two providers, of which the cheaper one is busy. */
export function twoProviders() {
  const busy = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x' } }
  const upstream = fakeGoogle({ override: () => answer(busy, 429, { 'retry-after': '30' }) })
  return createRouter({
    providers: [
      openai({
        apiKey: 'sk-secret',
        baseURL: 'https://internal.example/v1',
        models: ['gpt-4o', 'gpt-4.1', 'tts-1', 'whisper-1'],
        transport: fakeOpenAI().transport,
      }),
      google({ apiKey: 'AIza-secret', transport: upstream.transport, endpoints: googleEndpoints() }),
    ],
    prices: fixedPrices(
      priceTable(
        {
          'openai/gpt-4o': { input: 2.5, output: 10, cache_read: 1.25 },
          'openai/tts-1': { characters: 15 },
          'google/gemini-2.5-pro': { input: 1, output: 2, input_audio: 3, tiers: [{ above: 200_000, input: 2.5 }] },
        },
        { source: 'own.json', since: '2026-01-01' },
      ),
    ),
    groups: { fast: ['openai/gpt-4o', 'google/gemini-2.5-pro'] },
    now: () => Date.UTC(2026, 0, 2),
  })
}
