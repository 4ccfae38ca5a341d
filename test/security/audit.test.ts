import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const ADMIN = '00000000-0000-7000-8000-000000000001'
const ADMIN_TOKEN = 'admin-token-of-the-tests'

let server: Server
beforeAll(async () => {
  server = await startServer({ ADMIN_TOKEN, TRUSTED_HOPS: '1' })
})
afterAll(() => server.stop())

interface Entry {
  actor: string
  action: string
  target: string
  detail?: string
}

const send = (
  method: string,
  path: string,
  token: string,
  { ip = '192.0.2.1', body }: { ip?: string; body?: object } = {},
) =>
  fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-forwarded-for': ip },
    ...(body && { body: JSON.stringify(body) }),
  })

/** The audit log, oldest first, as it is after the first start or since the last call. */
let seen = 0
async function logged(): Promise<Entry[]> {
  const response = await send('GET', '/admin/audit?limit=500', server.key)
  const { data } = (await response.json()) as { data: Entry[] }
  const entries = data.toReversed().slice(seen)
  seen = data.length
  return entries
}

const signIn = (email: string, password: string, ip?: string) =>
  send('POST', '/api/auth', '', { body: { email, password }, ...(ip !== undefined && { ip }) })

describe(`threat 56: what an attacker does unseen, on ${runtime}`, () => {
  it('is not the first administrator, nor the first key', async () => {
    expect(await logged()).toMatchObject([
      { actor: 'server-start', action: 'user.create', target: ADMIN },
      { actor: 'server-start', action: 'key.create' },
    ])
  })

  it('is not a failed sign-in of somebody who exists, behind those of nobody', async () => {
    for (let i = 0; i < 12; i++) await signIn(`nobody-${i}@example.org`, 'x', `10.0.${i}.1`)
    expect((await signIn('admin@localhost', 'a wrong one')).status).toBe(401)
    const failed = (await logged()).filter(({ action }) => action === 'sign-in.fail')
    expect(failed.at(-1)).toMatchObject({ target: ADMIN })
  })

  it('is not the deletion of a project, or of its messages', async () => {
    const session = await signIn('admin@localhost', 'the password of the tests')
    const { access_token } = (await session.json()) as { access_token: string }
    const made = await send('POST', '/api/projects', access_token, { body: { name: 'Mine' } })
    const { id } = (await made.json()) as { id: string }
    expect((await send('DELETE', `/api/projects/${id}/conversation`, access_token)).status).toBe(204)
    expect((await send('DELETE', `/api/projects/${id}`, access_token)).status).toBe(204)
    expect((await logged()).slice(-2)).toMatchObject([
      { actor: ADMIN, action: 'conversation.clear', target: id },
      { actor: ADMIN, action: 'project.delete', target: id },
    ])
  })

  it('is not a change of what is theirs, behind many that change nothing', async () => {
    const session = await signIn('admin@localhost', 'the password of the tests')
    const { access_token } = (await session.json()) as { access_token: string }
    const make = async (path: string, body: object) =>
      ((await (await send('POST', path, access_token, { body })).json()) as { id: string }).id
    const key = await make('/api/keys', { name: 'app', endUsers: {} })
    const revoked = await make('/api/keys', { name: 'old' })
    await send('DELETE', `/api/keys/${revoked}`, access_token)
    const project = await make('/api/projects', { name: 'Mine' })
    const status = async (method: string, path: string, body?: object) =>
      (await send(method, path, access_token, { ...(body && { body }) })).status
    for (let i = 0; i < 12; i++) {
      expect(await status('DELETE', `/api/projects/${key}`)).toBe(404)
      expect(await status('PATCH', `/api/keys/${revoked}`, { name: `old ${i}` })).toBe(400)
      expect(await status('PATCH', `/api/keys/${key}/end-users/nobody`, { rateLimit: 5 })).toBe(404)
      expect(await status('DELETE', `/api/keys/${key}/end-users/nobody`)).toBe(404)
    }
    await logged()
    expect(await status('DELETE', `/api/projects/${project}`)).toBe(204)
    for (let i = 0; i < 15; i++) expect(await status('PATCH', `/api/keys/${key}`, { name: `app ${i}` })).toBe(200)
    // And what there is no place for in the minute is told of.
    expect((await logged()).map(({ action, target, detail }) => [action, target, detail])).toEqual([
      ['project.delete', project, undefined],
      ...Array.from({ length: 10 }, () => ['key.update', key, 'name']),
      ['key.update', ADMIN, 'more, which are left out'],
    ])
  })

  it('is not guessing ADMIN_TOKEN, which has an end as well', async () => {
    const guess = (token: string, ip: string) => send('GET', '/admin/providers', token, { ip })
    const statuses = []
    for (let i = 0; i < 40; i++) statuses.push((await guess(`guess-${i}`, '198.51.100.7')).status)
    expect(statuses).toEqual(statuses.map((_, i) => (i < 30 ? 401 : 429)))
    const last = await guess('guess', '198.51.100.7')
    expect([last.status, Number(last.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
    expect(await last.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } })
    expect((await guess(ADMIN_TOKEN, '198.51.100.7')).status).toBe(429)
    expect((await guess(ADMIN_TOKEN, '198.51.100.8')).status).toBe(200)
    expect((await guess(server.key, '198.51.100.7')).status).toBe(200)
    const fail = { actor: 'unknown', action: 'admin-token.fail', target: 'admin-token', detail: '198.51.100.7' }
    expect(await logged()).toContainEqual(expect.objectContaining(fail))
  })
})
