import { createUser, ErrorBody, getUser } from '@turnpike/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { errorOf, OWNER, testGateway } from '../../../../test/support/gateway.js'
import { tokenAdmin } from '../caller.js'
import { GatewayUser, GatewayUserList } from './users.js'

const TOKEN = 'a-token-of-16-characters'

/** A gateway with a plain user (who holds `key`), and ways to call it as others. */
async function setUp() {
  const at = await testGateway({ authenticateAdmin: tokenAdmin(TOKEN) })
  await createUser(at.kv, { id: 'root', role: 'admin' })
  const { key: adminKey } = await at.gateway.keys.create('root', { name: 'admin' })
  const as = (credential: string) => ({ headers: { authorization: `Bearer ${credential}` } })
  return { ...at, admin: as(adminKey), token: as(TOKEN), nobody: as('gw-nobody'), wrong: as('a-token-of-16-letters') }
}

const json = async <T>(response: Response): Promise<T> => {
  expect(response.status).toBe(200)
  expect(response.headers.get('x-request-id')).not.toBeNull()
  return (await response.json()) as T
}

describe('the users of the gateway', () => {
  const routes: [method: string, path: string, body?: object][] = [
    ['GET', '/v1/users'],
    ['POST', '/v1/users', {}],
    ['DELETE', '/v1/users/someone'],
  ]
  it.each(routes)('are for administrators only: %s %s', async (method, path, body) => {
    const { send, nobody, wrong, kv } = await setUp()
    await createUser(kv, { id: 'someone' })
    for (const init of [nobody, wrong, { headers: { authorization: '' } }])
      expect((await send(method, path, body, init)).status).toBe(401)
    const refused = await send(method, path, body)
    expect(refused.status).toBe(403)
    const told: unknown = await refused.json()
    expect(v.parse(ErrorBody, told)).toMatchObject({ error: { type: 'permission_error', code: 'forbidden' } })
  })

  it('threat 46: are not read by a key for the end users of an application, which sees its own records', async () => {
    const { send, gateway } = await setUp()
    const { key } = await gateway.keys.create(OWNER, { name: 'app', endUsers: {} })
    const app = { headers: { authorization: `Bearer ${key}` } }
    const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], user: 'ada' }
    for (const init of [{}, app]) expect((await send('POST', '/v1/chat/completions', chat, init)).status).toBe(200)
    expect((await send('GET', `/v1/users/${OWNER}`)).status).toBe(200)
    expect((await send('GET', `/v1/users/${OWNER}`, undefined, app)).status).toBe(404)
    const usage = async (query: string, init?: RequestInit) =>
      json<{ records: object[]; total_tokens: number }>(
        await send('GET', `/v1/users/${OWNER}/usage${query}`, undefined, init),
      )
    for (const query of ['', '?limit=10']) {
      const [own, all] = [await usage(query, app), await usage(query)]
      expect([own.records.length, all.records.length]).toEqual([1, 2])
      expect(2 * own.total_tokens).toBe(all.total_tokens)
    }
  })

  it.each(['admin', 'token'] as const)('are created, read, listed and deleted with the %s', async (who) => {
    const at = await setUp()
    const made = await json<{ id: string }>(
      await at.send('POST', '/v1/users', { name: 'Ada', email: 'Ada@example.org' }, at[who]),
    )
    expect(v.parse(v.strictObject(GatewayUser.entries), made)).toMatchObject({
      name: 'Ada',
      email: 'Ada@example.org',
      role: 'user',
      created_at: '2026-01-02T00:00:00.000Z',
    })
    expect(await json(await at.send('GET', `/v1/users/${made.id}`, undefined, at[who]))).toEqual(made)
    const list = await json(await at.send('GET', '/v1/users', undefined, at[who]))
    expect(v.parse(v.strictObject(GatewayUserList.entries), list).data).toContainEqual(made)

    const deleted = await at.send('DELETE', `/v1/users/${made.id}`, undefined, at[who])
    expect([deleted.status, await deleted.text(), deleted.headers.get('content-type')]).toEqual([204, '', null])
    expect((await at.send('GET', `/v1/users/${made.id}`, undefined, at[who])).status).toBe(404)
    expect((await at.send('GET', `/v1/users/${made.id}/usage`, undefined, at[who])).status).toBe(404)
    expect((await at.send('DELETE', `/v1/users/${made.id}`, undefined, at[who])).status).toBe(404)
  })

  it('accept given ids and fields', async () => {
    const { send, admin } = await setUp()
    const body = { id: 'team-1:ada@x', name: 'Ada', role: 'developer', budget: { usd: 5, per: 'month' } }
    const made = await json(await send('POST', '/v1/users', body, admin))
    expect(made).toEqual({ ...body, email: null, created_at: '2026-01-02T00:00:00.000Z' })
    expect(await json(await send('GET', `/v1/users/${encodeURIComponent(body.id)}`, undefined, admin))).toEqual(made)
  })

  it('treat null as absent', async () => {
    const { send, admin } = await setUp()
    const body = { id: null, name: null, email: null, role: null, budget: null }
    expect(await json(await send('POST', '/v1/users', body, admin))).toMatchObject({ name: '', role: 'user' })
  })

  it.each<[string, object | string]>([
    ['an id that is taken', { id: OWNER }],
    ['the name of an actor of the audit log that is no user', { id: 'admin-token' }],
    ['an e-mail that is taken', { email: 'TAKEN@example.org' }],
    ['an empty id', { id: '' }],
    ['an id with a slash', { id: 'a/b' }],
    ['an id that paths lose', { id: '.' }],
    ['an id that paths lose as well', { id: '..' }],
    ['an id that is too long', { id: 'x'.repeat(129) }],
    ['a name that is none', { name: 7 }],
    ['no e-mail', { email: 'ada' }],
    ['an e-mail with a control character', { email: 'a\0@example.org' }],
    ['an e-mail with half a character', { email: 'a\ud800@example.org' }],
    ['an unknown role', { role: 'root' }],
    ['a negative budget', { budget: { usd: -1 } }],
    ['a budget per week', { budget: { usd: 1, per: 'week' } }],
    ['a field that there is not', { nmae: 'Ada' }],
    ['a list', []],
    ['no JSON', '{'],
  ])('are refused with %s', async (_, body) => {
    const { send, admin, kv } = await setUp()
    await createUser(kv, { email: 'taken@Example.org' })
    const response = await send('POST', '/v1/users', body, admin)
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error' })
  })

  it('are listed newest first, whole or in pages', async () => {
    const { send, admin, clock } = await setUp()
    const made: string[] = []
    for (let i = 0; i < 5; i++) {
      clock.now += 1_000
      made.unshift((await json<{ id: string }>(await send('POST', '/v1/users', {}, admin))).id)
    }
    type List = { data: { id: string }[]; next?: string }
    const ids = ({ data }: List): string[] => data.map(({ id }) => id).filter((id) => made.includes(id))
    expect(ids(await json(await send('GET', '/v1/users', undefined, admin)))).toEqual(made)

    const paged: string[] = []
    let next: string | undefined
    do {
      const query: string = next === undefined ? '' : `&after=${next}`
      const page: List = await json(await send('GET', `/v1/users?limit=2${query}`, undefined, admin))
      expect(page.data.length).toBeLessThanOrEqual(2)
      paged.push(...ids(page))
      next = page.next
    } while (next !== undefined)
    expect(paged).toEqual(made)
  })

  it('are listed completely where there are many', async () => {
    const { send, admin, kv } = await setUp()
    await Promise.all(Array.from({ length: 1_203 }, () => createUser(kv, {})))
    const { data } = await json<{ data: { id: string }[] }>(await send('GET', '/v1/users', undefined, admin))
    expect(new Set(data.map(({ id }) => id)).size).toBe(1_205)
  })

  it('are found by their whole ids only', async () => {
    const { send, admin, kv } = await setUp()
    const id = 'x'.repeat(200)
    await createUser(kv, { id })
    for (const method of ['GET', 'DELETE'])
      expect((await send(method, `/v1/users/${id}x`, undefined, admin)).status).toBe(404)
    expect(await getUser(kv, id)).not.toBeNull()
  })

  it('lose their keys on deletion', async () => {
    const { send, admin, gateway, keyId, kv } = await setUp()
    expect((await send('GET', '/v1/models')).status).toBe(200)
    expect((await send('DELETE', `/v1/users/${OWNER}`, undefined, admin)).status).toBe(204)
    expect((await send('GET', '/v1/models')).status).toBe(401)
    expect((await kv.get<object>(['gwkey', keyId]))!.value).toMatchObject({ revoked: true })
    expect((await gateway.keys.list(OWNER)).items).toMatchObject([{ id: keyId, revoked: true }])
  })

  it('are in the audit log, with the actor', async () => {
    const { send, admin, token, kv, clock } = await setUp()
    await send('POST', '/v1/users', { id: 'ada' }, admin)
    clock.now += 1
    await send('DELETE', '/v1/users/ada', undefined, token)
    const { items } = await kv.list<object>(['audit'])
    expect(items.map(({ value }) => value)).toMatchObject([
      { actor: 'root', action: 'user.create', target: 'ada' },
      { actor: 'admin-token', action: 'user.delete', target: 'ada' },
    ])
  })
})

describe('a user’s own record', () => {
  it.each(['', '/usage'])('is readable with their key, others are 404: /v1/users/{id}%s', async (rest) => {
    const { send, admin } = await setUp()
    expect((await send('GET', `/v1/users/${OWNER}${rest}`)).status).toBe(200)
    expect((await send('GET', `/v1/users/root${rest}`, undefined, admin)).status).toBe(200)
    const other = await send('GET', `/v1/users/root${rest}`)
    const none = await send('GET', `/v1/users/${'x'.repeat(5_000)}${rest}`)
    expect([other.status, none.status]).toEqual([404, 404])
    expect(await errorOf(other)).toEqual(await errorOf(none))
  })

  it('requires a credential', async () => {
    const { send, nobody, wrong } = await setUp()
    for (const init of [nobody, wrong])
      expect((await send('GET', `/v1/users/${OWNER}/usage`, undefined, init)).status).toBe(401)
  })
})
