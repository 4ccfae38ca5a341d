import { readFileSync } from 'node:fs'
import type { SignedIn, World } from './world.js'
import { PASSWORD } from './world.js'

/** Somebody who has one of everything. */
export interface Owner extends SignedIn {
  keyId: string
  key: string
  sessionId: string
}

/** A request of a route. */
export interface Sent {
  path: string
  body?: object
}

/** Makes a developer, or a user of another role who was one, with a gateway key and a session. */
export async function newOwner(world: World, role: 'user' | 'developer' | 'admin' = 'developer'): Promise<Owner> {
  const as = await world.signedIn('developer', true)
  const key = await world.ask<{ id: string; key: string }>('POST', '/api/keys', { as, body: { name: 'k' } })
  const session = await world.ask<{ id: string }>('POST', '/api/sessions', { as, body: {} })
  if (role !== 'developer') await world.call('setRole', as.id, role)
  return { ...as, keyId: key.body.id, key: key.body.key, sessionId: session.body.id }
}

let made = 0

/** A good request of each route, typed by hand; ids are those of what `owner` has. */
export const requestsOf = ({ id, email, refresh, keyId, sessionId }: Owner): Record<string, Sent> => ({
  'POST /api/auth': { path: '/api/auth', body: { email, password: PASSWORD } },
  'PUT /api/auth': { path: '/api/auth', body: { refresh_token: refresh } },
  'DELETE /api/auth': { path: '/api/auth' },
  'GET /api/auth/session': { path: '/api/auth/session' },
  'GET /.well-known/jwks.json': { path: '/.well-known/jwks.json' },
  'GET /api/account': { path: '/api/account' },
  'DELETE /api/account': { path: '/api/account' },
  'PATCH /api/account/role': { path: '/api/account/role', body: { role: 'developer' } },
  'GET /api/account/balance': { path: '/api/account/balance' },
  'GET /api/account/limits': { path: '/api/account/limits' },
  'POST /api/users': { path: '/api/users', body: { email: `made-${++made}@example.org`, password: PASSWORD } },
  'GET /api/users': { path: '/api/users?limit=1' },
  'GET /api/users/{id}': { path: `/api/users/${id}` },
  'PATCH /api/users/{id}': { path: `/api/users/${id}`, body: { firstName: 'Eve' } },
  'DELETE /api/users/{id}': { path: `/api/users/${id}` },
  'POST /api/users/{id}/restore': { path: `/api/users/${id}/restore` },
  'GET /api/users/{id}/balance': { path: `/api/users/${id}/balance` },
  'PATCH /api/users/{id}/balance': { path: `/api/users/${id}/balance`, body: { creditCoins: 9 } },
  'POST /api/users/{id}/balance': { path: `/api/users/${id}/balance`, body: { creditCoins: 9 } },
  'POST /api/keys': { path: '/api/keys', body: { name: 'k' } },
  'GET /api/keys': { path: '/api/keys' },
  'GET /api/keys/usage': { path: '/api/keys/usage' },
  'DELETE /api/keys/{id}': { path: `/api/keys/${keyId}` },
  'POST /api/sessions': { path: '/api/sessions', body: { label: 'l' } },
  'GET /api/sessions': { path: '/api/sessions' },
  'GET /api/sessions/{id}': { path: `/api/sessions/${sessionId}` },
  'GET /api/openapi.json': { path: '/api/openapi.json' },
})

interface Document {
  paths: Record<string, Record<string, { requestBody?: object }>>
}

/** The routes of an OpenAPI document of docs/openapi, such as `GET /api/keys/{id}`. */
export function documented(name: 'gateway' | 'platform', { withBody = false } = {}): string[] {
  const text = readFileSync(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8')
  return Object.entries((JSON.parse(text) as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => !withBody || requestBody)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
}
