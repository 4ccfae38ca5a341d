import { decodeKey, encodeKey } from '@turnpike/core/internal'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Owner } from '../platform/requests.js'
import { documented, newOwner, requestsOf } from '../platform/requests.js'
import type { World } from '../platform/world.js'
import { chat, startWorld } from '../platform/world.js'
import { runtime } from '../support/runtime.js'
import { runs, sample } from '../support/scope.js'
import { escaped } from './escaped.js'

/** Texts that are something else to a file system, a URL or a driver of unstorage. */
const tricky = [
  '..',
  '.',
  '../../etc/passwd',
  '..\\..\\x',
  '/etc/passwd',
  'C:\\x',
  'kv:1',
  'user/x',
  'a:b',
  'a/b',
  'a?x',
  'a#x',
  'a$',
  'a.$meta',
  '%2e%2e%2f',
  '%00',
  '~61',
  'con',
  '__proto__',
  'constructor',
  '*',
  "' or 1=1 --",
  '\u0000',
  '\r\n',
  'ｅ／．．',
  '\ufeffx',
  'x'.repeat(300),
]
const anyId = fc.oneof(
  fc.constantFrom(...tricky),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }),
)

describe(`ids from anywhere, on ${runtime}`, () => {
  let world: World
  let owner: Owner
  beforeAll(async () => {
    world = await startWorld('watched', { RATE_LIMITER: 'memory' })
    owner = await newOwner(world, 'admin')
  })
  afterAll(() => world.kill())

  const as = (path: string): string => (/^\/(api|\.well-known)\//.test(path) ? owner.access : owner.key)

  /** Sends an id wherever there can be one. */
  async function spread(id: string): Promise<void> {
    const segment = escaped(id)
    const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
      const { status } = await world.ask(method, path, { as: as(path), ...(body && { body }), headers })
      expect([method, path, status < 500]).toEqual([method, path, true])
    }
    const bodies = requestsOf(owner)
    for (const route of [...documented('gateway'), ...documented('platform')].filter((one) => one.includes('{'))) {
      const [method, path] = route.split(' ') as [string, string]
      // A path of dots is another path, for clients already.
      await send(method, path.replace(/\{\w+\}/, segment), bodies[route]?.body)
    }
    for (const path of ['/v1/users', '/api/users', '/api/keys', '/api/sessions', '/api/projects', '/admin/audit'])
      for (const name of ['after', 'email', 'id', 'limit']) await send('GET', `${path}?${name}=${segment}`)
    for (const path of ['tasks', 'results']) await send('GET', `/api/${path}?projectId=${segment}`)
    for (const names of [{ id }, { email: `${id}@example.org` }, { name: id }]) await send('POST', '/v1/users', names)
    await send('POST', '/api/users', { email: `${id}@example.org`, password: 'correct horse', username: id })
    await send('POST', '/api/tasks', { projectId: id, title: id })
    await send('POST', '/api/projects', { name: id, teamType: id })
    await send('POST', '/api/sessions', { label: id, metadata: { [id]: id } })
    await send('POST', '/api/auth', { email: id, password: id })
    await send('PUT', '/api/auth', { refresh_token: id })
    const tags = ['x-session-id', 'x-task-id', 'x-project-id', 'x-conversation-id', 'x-request-id']
    await send(
      'POST',
      '/v1/chat/completions',
      { ...chat, model: 'gpt-4o', user: id },
      Object.fromEntries(tags.map((name) => [name, segment])),
    )
    await send('POST', '/v1/chat/completions', { ...chat, model: id })
    for (const headers of [{ authorization: `Bearer ${segment}` }, { cookie: `__Host-session=${segment}` }] as Record<
      string,
      string
    >[])
      for (const path of ['/v1/models', '/api/account']) await world.ask('GET', path, { headers })
  }

  it('threat 13: path traversal, reach a driver of storage in no key', async () => {
    await fc.assert(fc.asyncProperty(anyId, spread), { numRuns: runs(2, 60) })
    for (const id of sample(tricky, 4)) await spread(id)
    const keys = await world.call<string[]>('driverKeys')
    expect(keys.length).toBeGreaterThan(10)
    // The store counts its items; what is in a key of ours is in their bytes.
    expect(keys.filter((key) => !/^kv:([a-z]+|(fence-)?\d+(-\d+)*)$/.test(key))).toEqual([])
    expect(await world.call('verify')).toEqual([])
  })

  it('threat 14: key collision, name others where they differ in anything', async () => {
    const ids = [
      'ku',
      'kU',
      'KU',
      'ku.',
      'ku:',
      'ku:x',
      'ku.x',
      'ku@x',
      'ku-x',
      'ku_x',
      'kuser',
      'ku..x',
      'ku.x.',
      'k75',
    ]
    for (const id of ids)
      expect(
        (await world.ask('POST', '/v1/users', { as: owner.key, body: { id, name: `name of ${id}` } })).status,
      ).toBe(200)
    for (const id of ids) {
      const { body } = await world.ask('GET', `/v1/users/${encodeURIComponent(id)}`, { as: owner.key })
      expect(body).toMatchObject({ id, name: `name of ${id}` })
    }
    for (const id of [
      'ku?x',
      'ku/x',
      'ku%3A',
      'ku$',
      'ku ',
      ' ku',
      'ku\u0000',
      'kｕ',
      'ku\u0301',
      '~6b75',
      'kus',
      'ku:X',
      'kU:x',
      'ku\n',
    ]) {
      const { status } = await world.ask('GET', `/v1/users/${encodeURIComponent(id)}`, { as: owner.key })
      expect([id, status]).toEqual([id, 404])
    }
    // The same holds for e-mails, where neither case nor the form of composed characters counts, but nothing else.
    const emails = [
      'a@x',
      'a@x-y',
      'a@x.y',
      'a#@x',
      'a/b@x',
      'a=b@x',
      'a..@x',
      '..@x',
      'á@x',
      'a\u0323@x',
      '~61@x',
      '=61@x',
    ]
    const made = new Map<string, string>()
    for (const email of emails) {
      const { status, body } = await world.ask<{ id: string }>('POST', '/v1/users', { as: owner.key, body: { email } })
      expect([email, status]).toEqual([email, 200])
      made.set(email, body.id)
    }
    expect(new Set(made.values()).size).toBe(emails.length)
    for (const email of [...emails.map((email) => email.toUpperCase()), 'a\u0301@x'])
      expect((await world.ask('POST', '/v1/users', { as: owner.key, body: { email } })).status).toBe(400)
  })
})

describe('keys of a store', () => {
  const key = fc.array(fc.oneof(anyId, fc.constant('')), { minLength: 1, maxLength: 4 })
  const length = (segments: string[]): boolean => segments.join('').length < 200

  it('threat 14: key collision, are as different as their segments', () => {
    fc.assert(
      fc.property(key.filter(length), (segments) => {
        const encoded = encodeKey(segments)
        expect(encoded).toMatch(/^[a-z0-9_~/-]+$/)
        expect(decodeKey(encoded)).toEqual(segments)
      }),
      { numRuns: runs(1_000, 50_000) },
    )
  })
})
