import { createUser, listAudit } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { describe, expect, it } from 'vitest'
import { adminGateway } from '../../../../../test/support/admin.js'
import { errorOf, OWNER } from '../../../../../test/support/gateway.js'
import { KeyList } from './keys.js'

async function setUp() {
  const at = await adminGateway()
  const user = (id: string, fields: object) => createUser(at.kv, { id, ...fields })
  await user('ada', { name: 'Ada', email: 'ada@example.com' })
  await user('bob', { email: 'bob@example.com' })
  const make = async (userId: string, fields: object = {}) => {
    at.clock.now += 1_000
    return await at.gateway.keys.create(userId, { name: `of ${userId}`, ...fields })
  }
  return { ...at, make }
}

describe('GET /admin/keys', () => {
  it('lists the keys of all users, newest first, with what is stored of them', async () => {
    const { read, make, gateway, chat, clock, keyId } = await setUp()
    const limits = { models: ['openai/gpt-4o'], budget: { usd: 10, per: 'month' } }
    const first = await make('ada', { rateLimit: 5, expiresAt: new Date('2030-01-01'), ...limits })
    const second = await make('bob')
    const third = (await gateway.keys.rotate(second.id))!
    await gateway.keys.revoke(first.id)
    await (await chat()).text()
    const { data } = await read('/admin/keys', KeyList)
    const bobs = { name: 'of bob', user_id: 'bob', user: 'bob@example.com', rate_limit: 60, revoked: false }
    const time = '2026-01-02T00:00:02.000Z'
    const never = { last_used_at: null }
    // Keys of the same millisecond come in any order.
    expect(data.toSorted((a, b) => Number(a.id === second.id) - Number(b.id === second.id)).at(-1)).toEqual({
      ...bobs,
      id: second.id,
      rotated_at: time,
      expires_at: '2026-01-03T00:00:02.000Z',
      key_end: second.key.slice(-4),
      created_at: time,
      ...never,
    })
    expect(data.find(({ id }) => id === third.id)).toEqual({
      ...bobs,
      id: third.id,
      key_end: third.key.slice(-4),
      created_at: time,
      ...never,
    })
    expect(data.slice(2)).toEqual([
      {
        id: first.id,
        name: 'of ada',
        user_id: 'ada',
        user: 'Ada',
        rate_limit: 5,
        revoked: true,
        expires_at: '2030-01-01T00:00:00.000Z',
        ...limits,
        budget_used_usd: 0,
        key_end: first.key.slice(-4),
        created_at: '2026-01-02T00:00:01.000Z',
        ...never,
      },
      expect.objectContaining({
        id: keyId,
        user_id: OWNER,
        user: null,
        last_used_at: new Date(clock.now).toISOString(),
      }),
    ])
  })

  it('never tells the value of a key, nor its hash', async () => {
    const { ask, make } = await setUp()
    const { key } = await make('ada')
    const text = await (await ask('/admin/keys')).text()
    expect(text).toContain('of ada')
    for (const secret of [key, key.slice(3, 20), await sha256(key), 'gw-']) expect(text).not.toContain(secret)
  })

  it('comes in pages', async () => {
    const { read, make, ask } = await setUp()
    for (const user of ['ada', 'bob', 'ada', 'bob']) await make(user)
    const users: string[] = []
    for (let query = '?limit=2'; ;) {
      const { data, next } = await read(`/admin/keys${query}`, KeyList)
      users.push(...data.map(({ user_id }) => user_id))
      if (next === undefined) break
      expect(data).toHaveLength(2)
      query = `?limit=2&after=${next}`
    }
    expect(users).toEqual(['bob', 'ada', 'bob', 'ada', OWNER])
    expect((await ask('/admin/keys?limit=0')).status).toBe(400)
  })
})

describe('DELETE /admin/keys/{id}', () => {
  it('revokes the key of a user, and tells in the audit log who did', async () => {
    const { command, chat, make, kv, read, clock } = await setUp()
    const { id, key } = await make('ada')
    const status = async () => {
      const response = await chat({}, { headers: { authorization: `Bearer ${key}` } })
      await response.text()
      return response.status
    }
    expect(await status()).toBe(200)
    clock.now += 1_000
    const response = await command('DELETE', `/admin/keys/${id}`)
    expect([response.status, await response.text(), await status()]).toEqual([204, '', 401])
    expect((await read('/admin/keys?limit=1', KeyList)).data).toMatchObject([{ id, revoked: true }])
    // Again, it changes nothing.
    expect((await command('DELETE', `/admin/keys/${id}`)).status).toBe(204)
    const timestamp = '2026-01-02T00:00:02.000Z'
    expect((await listAudit(kv)).items).toMatchObject([
      { actor: 'admin-token', action: 'key.revoke', target: id, timestamp },
    ])
  })

  it.each(['018f0000-0000-7000-8000-000000000001', 'none', '%00', 'x'.repeat(3_000)])('is 404 for %s', async (id) => {
    const { command } = await setUp()
    const response = await command('DELETE', `/admin/keys/${id}`)
    expect([response.status, await errorOf(response)]).toMatchObject([404, { code: 'not_found' }])
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH'])('is 405 by %s', async (method) => {
    const { command, keyId } = await setUp()
    expect((await command(method, `/admin/keys/${keyId}`)).status).toBe(405)
  })

  it('is for administrators only', async () => {
    const { send, keyId, chat } = await setUp()
    const remove = async (init?: RequestInit) => (await send('DELETE', `/admin/keys/${keyId}`, undefined, init)).status
    expect(await remove()).toBe(403)
    for (const authorization of ['', 'Bearer wrong']) expect(await remove({ headers: { authorization } })).toBe(401)
    expect((await chat()).status).toBe(200)
  })
})
