import { describe, expect, it } from 'vitest'
import { matcher } from './match.js'
import { operation, route } from './operation.js'

const bind = (method: string, path: string) =>
  route(
    method,
    path,
    operation<null, string>({ id: `${method} ${path}`, summary: '', access: 'open', run: () => null }),
  )

const match = matcher([
  bind('GET', '/'),
  bind('GET', '/v1/models'),
  bind('POST', '/v1/models'),
  bind('GET', '/v1/models/{model+}'),
  bind('GET', '/v1/users/{id}'),
  bind('DELETE', '/v1/users/{id}'),
  bind('GET', '/v1/users/{id}/usage'),
  bind('GET', '/v1/users/me'),
])

/** Methods and parameters of a path, in short. */
const found = (path: string) => {
  const { methods, params } = match(path)
  return [[...methods.keys()].join(' '), params]
}

describe('matcher', () => {
  it.each<[path: string, methods: string, params: Record<string, string>]>([
    ['/', 'GET', {}],
    ['/v1/models', 'GET POST', {}],
    ['/v1/users/7', 'GET DELETE', { id: '7' }],
    ['/v1/users/a%2Fb', 'GET DELETE', { id: 'a/b' }],
    ['/v1/users/%C3%A9%20%3F', 'GET DELETE', { id: 'é ?' }],
    ['/v1/users/7/usage', 'GET', { id: '7' }],
    ['/v1/users/me', 'GET', {}],
    ['/v1/users/%', 'GET DELETE', { id: '%' }],
    ['/v1/users/%E0%A4', 'GET DELETE', { id: '%E0%A4' }],
    ['/v1/users/__proto__', 'GET DELETE', { id: '__proto__' }],
    ['/v1/models/gpt-4o', 'GET', { model: 'gpt-4o' }],
    ['/v1/models/openai/gpt-4o', 'GET', { model: 'openai/gpt-4o' }],
    ['/v1/models/openai%2Fgpt-4o', 'GET', { model: 'openai/gpt-4o' }],
    ['/v1/models/a/b%2Fc/d', 'GET', { model: 'a/b/c/d' }],
  ])('matches %s', (path, methods, params) => expect(found(path)).toEqual([methods, params]))

  it.each([
    '',
    '/v1',
    '//',
    '/V1/models',
    '/v1/models/',
    '/v1/models//',
    '/v1/models//gpt-4o',
    '/v1/users',
    '/v1/users/',
    '/v1/users/7/',
    '/v1/users//usage',
    '/v1/users/7/usage/',
    '/v1/users/7/other',
    '/v1/responses',
  ])('matches nothing at %j', (path) => expect(found(path)).toEqual(['', {}]))

  it('returns the route of each method', () => {
    expect(match('/v1/users/7').methods.get('DELETE')?.operation.id).toBe('DELETE /v1/users/{id}')
    expect(match('/v1/models').methods.get('POST')?.path).toBe('/v1/models')
  })
})
